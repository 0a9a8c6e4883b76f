"""Scores 43,200 answers (1,440 sentences x 30 prompts) with all filters and groupings.

Ours against pandas as WinoPron's compute_performance.py goes about it: one data frame with a row
for each answer, and for each of 8 filters x 3 groupings one pass over it that takes the minimum
within the groups, filters, and counts. Within a pass the pandas side uses vectorised operations
only, so the ratio is that of the plans and not of Python loops.

Both sides are given the same Arrow table and the same decisions, and are timed from there to the
216 numbers (24 x n, tp, fp, fn, tn, precision, recall, f1, accuracy). Intervals are switched off,
since upstream has none. CPU time, the sides take turns, median of five. Prints one JSON object.
"""

import itertools
import json
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import pyarrow as pa

from pronominal.decisions import BOTH, NONE, Decision
from pronominal.eval.scores.winopron.score import score_choices
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.outcomes import choices_of
from pronominal.pronouns import CASES, PRONOUN_SETS

PAIRS, PROMPTS, ROUNDS = 60, 30, 5
SETS = [pronouns.name for pronouns in PRONOUN_SETS]

Answers = Sequence[Sequence[Decision]]
Numbers = dict[tuple[str | None, str | None], dict[str, float]]
"""(grouping, filter) -> the nine numbers."""

GROUPINGS: dict[str | None, list[str]] = {
    None: [],
    "pronoun_consistency": ["occupation", "participant", "case", "label"],
    "disambiguation_consistency": ["occupation", "participant", "pronoun_set", "case"],
}
FILTERS: dict[str | None, str] = {
    None: "",
    **dict.fromkeys(CASES, "case"),
    **dict.fromkeys(SETS, "pronoun_set"),
}


def random_input(seed: int = 0) -> tuple[pa.Table, Answers]:
    generator = random.Random(seed)
    rows: list[dict[str, Any]] = [
        {
            "id": f"{pair}-{case}-{label}-{name}",
            "label": label,
            "occupation": f"occupation {pair}",
            "participant": f"participant {pair % 24}",
            "case": case,
            "pronoun_set": name,
            "template_id": f"{pair}-{case}-{label}",
            "pair_id": f"{pair}-{case}",
        }
        for pair, case, label, name in itertools.product(range(PAIRS), CASES, (1, 0), SETS)
    ]
    # templates are easy or hard, so that whole groups are right, wrong or neither
    skill = {row["template_id"]: generator.choice([0.5, 0.9, 0.999, 1.0]) for row in rows}
    answers = [
        [
            Decision(row["label"])
            if generator.random() < skill[row["template_id"]]
            else generator.choice([Decision(1 - row["label"]), NONE, BOTH])
            for _ in range(PROMPTS)
        ]
        for row in rows
    ]
    return pa.Table.from_pylist(rows), answers


def ours(table: pa.Table, answers: Answers) -> Numbers:
    flat = choices_of(list(itertools.chain.from_iterable(answers)))
    scores = score_choices(Sentences.of(table), flat.reshape(len(answers), -1), resamples=0)
    numbers: Numbers = {}
    for grouping, name in itertools.product(GROUPINGS, FILTERS):
        block = scores[grouping] if grouping else scores
        if name is None:
            block = block if grouping else block["overall"]
        else:
            block = block[f"by_{FILTERS[name]}"][name]
        accuracy = block["score" if grouping else "accuracy"]
        kept = ("n", "tp", "fp", "fn", "tn", "precision", "recall", "f1")
        numbers[grouping, name] = {**{key: block[key] for key in kept}, "accuracy": accuracy}
    return numbers


def with_pandas(table: pa.Table, answers: Answers) -> Numbers:
    frame = table.to_pandas().loc[lambda rows: rows.index.repeat(PROMPTS)].reset_index(drop=True)
    frame["choice"] = [decision.choice for given in answers for decision in given]
    frame["tp"] = (frame["choice"] == frame["label"]).astype(int)
    frame["tn"] = (frame["choice"] != 1 - frame["label"]).astype(int)
    return {
        (grouping, name): one_pass(frame, columns, FILTERS[name], name)
        for grouping, columns in GROUPINGS.items()
        for name in FILTERS
    }


def one_pass(
    frame: pd.DataFrame, grouping: list[str], column: str, name: str | None
) -> dict[str, float]:
    found = frame[["tp", "tn"]]
    if grouping:
        found = frame.groupby(grouping)[["tp", "tn"]].transform("min")
    if name is not None:
        found = found[frame[column] == name]
    n, tp, tn = len(found), int(found["tp"].sum()), int(found["tn"].sum())
    fp, fn = n - tn, n - tp
    precision = tp / (tp + fp) if tp + fp else 1.0
    recall = tp / n
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    counts = {"n": n, "tp": tp, "fp": fp, "fn": fn, "tn": tn}
    return {**counts, "precision": precision, "recall": recall, "f1": f1, "accuracy": tp / n}


def main() -> None:
    table, answers = random_input()
    sides: dict[str, Callable[[pa.Table, Answers], Numbers]] = {
        "pandas": with_pandas,
        "pronominal": ours,
    }
    # the first calls pay for imports and caches
    expected, found = (side(table, answers) for side in sides.values())
    assert found == expected
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(ROUNDS):
        for name, side in sides.items():
            started = time.process_time()
            side(table, answers)
            seconds[name].append(time.process_time() - started)
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    report = {
        "benchmark": "winopron_scoring",
        "rows": len(answers) * PROMPTS,
        "ratio": round(medians["pandas"] / medians["pronominal"], 1),
        "seconds": {name: round(value, 5) for name, value in medians.items()},
        "equal": True,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()

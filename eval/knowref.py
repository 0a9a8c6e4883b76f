"""The scores of KnowRef (Emami et al., 2019, sections 4 and 5)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.bootstrap import Bootstrap
from pronominal.eval.outcomes import Outcomes, choices_of, outcome_counts
from pronominal.eval.tables import Table, percent, table, with_interval

Answers = tuple[pa.Table, Sequence[Decision]]
"""A published split and one decision for each of its rows."""


def score(
    rows: pa.Table,
    decisions: Sequence[Decision],
    *,
    switched: Answers | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Any]:
    """Score one decision for each row, and the change under antecedent switching.

    Args:
        rows: a split of the config ``original``.
        decisions: in the order of the rows.
        switched: the same split of the config ``switched``, and its decisions.
        resamples: number of bootstrap resamples.
        seed: seed of the resamples.

    Returns:
        ``n``; ``both``, ``none``, ``incorrect`` and ``correct``, fractions of n (Table 3);
        ``task_specific_accuracy``, correct / (correct + incorrect), None without a choice; with
        `switched` also ``switched``, the same of the switched rows, and ``consistency`` over the
        rows that exist in both (Table 5): ``pairs`` and ``changed`` (counts), ``score`` = changed
        / pairs, and the fractions of pairs that are right, or wrong, in both versions.
    """
    scores = _outcomes(rows, decisions, resamples, seed)
    if switched is not None:
        scores["switched"] = _outcomes(*switched, resamples, seed)
        scores["consistency"] = _consistency((rows, decisions), switched, resamples, seed)
    scores["bootstrap"] = {"unit": "id", "units": rows.num_rows, "resamples": resamples}
    scores["bootstrap"] |= {"seed": seed, "level": Bootstrap.of(0).level}
    return scores


def tables(scores: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    """Compare systems as the paper's Tables 3 and 5 do, in percent."""
    outcomes = table(
        "KnowRef",
        {
            "n": lambda s: f"{s['n']:,}",
            "Task-specific accuracy": lambda s: with_interval(s, "task_specific_accuracy"),
            "Correct": lambda s: percent(s["correct"]),
            "Incorrect": lambda s: percent(s["incorrect"]),
            "None": lambda s: percent(s["none"]),
            "Both": lambda s: percent(s["both"]),
        },
        scores,
        ["Task-specific accuracy: correct / (correct + incorrect)."],
    )
    both = {system: s for system, s in scores.items() if "consistency" in s}
    if not both:
        return [outcomes]
    consistency = table(
        "Consistency under antecedent switching",
        {
            "Pairs": lambda s: f"{s['consistency']['pairs']:,}",
            "Consistency": lambda s: with_interval(s["consistency"], "score"),
            "Right in both": lambda s: percent(s["consistency"]["consistently_correct"]),
            "Wrong in both": lambda s: percent(s["consistency"]["consistently_wrong"]),
            "Switched accuracy": lambda s: percent(s["switched"]["task_specific_accuracy"]),
        },
        both,
        ["Consistency alone is won by ignoring the sentence: a fixed position scores 100."],
    )
    return [outcomes, consistency]


def _outcomes(
    rows: pa.Table, decisions: Sequence[Decision], resamples: int, seed: int
) -> dict[str, Any]:
    labels = rows["label"].to_numpy()
    counts = outcome_counts(labels, choices_of(decisions).reshape(-1, 1))
    total = Outcomes(counts.sum(axis=0))
    bootstrap = Bootstrap.of(len(counts), resamples, seed)
    resampled = bootstrap.resample(counts[:, None, :])
    # what WinoPron calls precision: right choices among the choices, undefined without any
    accuracy = np.where(resampled.precision_is_vacuous, np.nan, resampled.precision)
    return {
        "n": int(total.n),
        "both": float(total.both),
        "none": float(total.none),
        "incorrect": float(total.fp / total.n),
        "correct": float(total.accuracy),
        "task_specific_accuracy": (None if total.precision_is_vacuous else float(total.precision)),
        "interval": {
            "task_specific_accuracy": bootstrap.intervals(accuracy)[0],
            "correct": bootstrap.intervals(resampled.accuracy)[0],
        },
    }


def _consistency(original: Answers, switched: Answers, resamples: int, seed: int) -> dict[str, Any]:
    before, after = (
        dict(zip(rows["id"].to_pylist(), _chosen(rows, decisions), strict=True))
        for rows, decisions in (original, switched)
    )
    pairs = [(answer, after[name]) for name, answer in before.items() if name in after]
    changed = [None not in (a[0], b[0]) and a[0] != b[0] for a, b in pairs]
    right = [a[1] is True and b[1] is True for a, b in pairs]
    wrong = [a[1] is False and b[1] is False for a, b in pairs]
    bootstrap = Bootstrap.of(len(pairs), resamples, seed)
    shares = bootstrap.draws @ np.array(changed, dtype=np.float64).reshape(-1, 1)
    return {
        "pairs": len(pairs),
        "changed": sum(changed),
        "score": sum(changed) / len(pairs) if pairs else None,
        "consistently_correct": sum(right) / len(pairs) if pairs else None,
        "consistently_wrong": sum(wrong) / len(pairs) if pairs else None,
        "interval": {"score": bootstrap.intervals(shares / len(pairs))[0] if pairs else None},
    }


def _chosen(rows: pa.Table, decisions: Sequence[Decision]) -> list[tuple[str | None, bool | None]]:
    """Return what each decision chose, and whether that is right; None and None in abstention."""
    columns = zip(rows["candidates"].to_pylist(), rows["label"].to_pylist(), decisions, strict=True)
    return [
        (None, None) if d.choice is None else (candidates[d.choice]["text"], d.choice == label)
        for candidates, label, d in columns
    ]

"""GAP's scores: worked out by hand, and by a second, plain reading of the official definition."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from pronominal import BOTH, NONE, UNFINISHED, Decision
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.scores.gap.score import score
from pronominal.eval.scores.gap.task import TASK as GAP
from tests.eval.evaluated import score_predictions
from tests.eval.scores.tables import tables_of

# A right, B right, neither: for each gender
LABELS = [0, 0, 1, 2, 0, 1, 1, 2]
GENDERS = ["masculine"] * 4 + ["feminine"] * 4
ROWS = pa.table({"label": LABELS, "gender": GENDERS})

Answer = Callable[[int, int], Decision | None]
"""Takes a row's number and label."""


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # tp, fp, fn, tn over sixteen questions; precision, recall, f1; of the rows, correct
        (lambda label: NONE if label == 2 else Decision(label), (6, 0, 0, 10, 1, 1, 1, 1)),
        (lambda label: Decision(0), (3, 5, 3, 5, 3 / 8, 3 / 6, 3 / 7, 3 / 8)),
        (lambda label: NONE, (0, 0, 6, 10, 0, 0, 0, 2 / 8)),
        (lambda label: BOTH, (6, 10, 0, 0, 6 / 16, 1, 6 / 11, 0)),
    ],
)
def test_two_questions_a_row(answer, expected) -> None:
    overall = score(ROWS, [answer(label) for label in LABELS])["overall"]
    keys = ("tp", "fp", "fn", "tn", "precision", "recall", "f1", "correct")
    assert overall["n"] == 8
    assert [overall[key] for key in keys] == pytest.approx(expected)


def test_an_unfinished_answer_counts_as_none_at_all() -> None:
    answers = [UNFINISHED, *(Decision(0) for _ in LABELS[1:])]
    cut, missing = score(ROWS, answers), score(ROWS, [None, *answers[1:]], allow_missing=True)
    keys = ("tp", "fp", "fn", "tn", "precision", "recall", "f1", "answered")
    assert [cut["overall"][key] for key in keys] == [missing["overall"][key] for key in keys]
    assert (cut["overall"]["unfinished"], cut["overall"]["missing"]) == (1 / 8, 0)
    assert (missing["overall"]["unfinished"], missing["overall"]["missing"]) == (0, 1)
    headings = tables_of(GAP, {"a": cut})[0].columns
    assert "Unfinished" in headings
    assert "Unfinished" not in tables_of(GAP, {"a": missing})[0].columns


def test_bias_is_feminine_over_masculine() -> None:
    scores = score(ROWS, [Decision(0)] * 8)
    assert scores["masculine"]["f1"] == pytest.approx(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3))
    assert scores["bias"] == pytest.approx(scores["feminine"]["f1"] / scores["masculine"]["f1"])
    assert score(ROWS, [NONE] * 8)["bias"] is None
    shown = tables_of(GAP, {"a": scores})[0].rows[0][-1]
    assert shown.startswith(f"{scores['bias']:.2f}‡ [")  # of eight rows


class Annotation(NamedTuple):
    """A line of the official scorer's files; None where a system has no such line."""

    gender: str
    a: bool | None
    b: bool | None


def official(gold: dict[str, Annotation], system: dict[str, Annotation]) -> dict[str, Any]:
    """Count as the definition says: per row two questions, for everyone and for the gender."""
    scores: dict[str, Any] = {}
    for group in ("overall", "masculine", "feminine"):
        tp = fp = fn = 0
        for name, right in gold.items():
            if group not in ("overall", right.gender):
                continue
            answer = system.get(name, Annotation(right.gender, None, None))
            for truth, said in ((right.a, answer.a), (right.b, answer.b)):
                tp += bool(truth and said)
                fp += bool(not truth and said)
                # a missing answer is a false negative even where the truth is no
                fn += said is None or bool(truth and not said)
        recall = 100.0 * tp / (tp + fn) if tp + fn else 0.0
        precision = 100.0 * tp / (tp + fp) if tp + fp else 0.0
        total = precision + recall
        f1 = 2.0 * precision * recall / total if total else 0.0
        scores[group] = {"recall": recall, "precision": precision, "f1": f1}
    ratio = scores["masculine"]["f1"] and scores["feminine"]["f1"]
    scores["bias"] = scores["feminine"]["f1"] / scores["masculine"]["f1"] if ratio else None
    return scores


def drawn(seed: int, answers: list[Decision | None]) -> Answer:
    return lambda number, label: random.Random(f"{seed} {number}").choice(answers)


ALL = [Decision(0), Decision(1), NONE, BOTH]
SYSTEMS: dict[str, Answer] = {
    "gold": lambda number, label: NONE if label == 2 else Decision(label),
    "always A": lambda number, label: Decision(0),
    "always B": lambda number, label: Decision(1),
    "never": lambda number, label: NONE,
    "both": lambda number, label: BOTH,
    "random": drawn(1, ALL),
    "with gaps": drawn(2, [*ALL, None]),
    "silent": lambda number, label: None,
    "often right": lambda number, label: (
        Decision(label) if label < 2 and number % 3 else drawn(3, [*ALL, None])(number, label)
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_equal_to_the_official_definition(name: str) -> None:
    rng = random.Random(7)
    rows = [(rng.choice((0, 0, 1, 1, 2)), rng.choice(("masculine", "feminine"))) for _ in range(90)]
    table = pa.table({"label": [row[0] for row in rows], "gender": [row[1] for row in rows]})
    decisions = [SYSTEMS[name](number, label) for number, (label, _) in enumerate(rows)]
    gold = {
        str(number): Annotation(gender, label == 0, label == 1)
        for number, (label, gender) in enumerate(rows)
    }
    system = {
        str(number): Annotation(
            rows[number][1],
            *(one.choice == side or one.abstained == "both" for side in (0, 1)),
        )
        for number, one in enumerate(decisions)
        if one is not None
    }
    ours, theirs = score(table, decisions, allow_missing=True), official(gold, system)
    for group in ("overall", "masculine", "feminine"):
        for key, value in theirs[group].items():
            assert 100 * ours[group][key] == pytest.approx(value)
    assert ours["bias"] == pytest.approx(theirs["bias"])
    assert ours["overall"]["missing"] == decisions.count(None)


def test_missing_answers_are_refused_unless_they_are_allowed() -> None:
    decisions = [*[Decision(0)] * 7, None]
    with pytest.raises(InputError, match="7 decisions for 8 rows"):
        score(ROWS, decisions)
    allowed = score(ROWS, decisions, allow_missing=True)
    # the last row is "neither": two questions whose right answer is no count as missed
    assert allowed["overall"]["fn"] == score(ROWS, [Decision(0)] * 7 + [NONE])["overall"]["fn"] + 2
    assert tables_of(GAP, {"a": allowed})[0].columns[-1] == "Missing"


@pytest.fixture(scope="module")
def gap(built: Callable[[str], Path]) -> Split:
    return read_split(str(built("gap")), "original")


def test_the_official_scorers_figures_on_the_real_test(gap: Split) -> None:
    # gap_scorer.py prints 48.0, 49.4, 1.03 and 48.7 for a system that always says A
    scores = score(gap.table, [Decision(0)] * gap.table.num_rows)
    overall = scores["overall"]
    rounded = [round(100 * overall[key], 1) for key in ("recall", "precision", "f1")]
    assert rounded == [51.8, 45.9, 48.7]
    assert round(100 * scores["masculine"]["f1"], 1) == 48.0
    assert round(100 * scores["feminine"]["f1"], 1) == 49.4
    assert round(scores["bias"], 2) == 1.03


def test_a_file_with_missing_rows(gap: Split, tmp_path: Path) -> None:
    names = gap.table["id"].to_pylist()
    file = tmp_path / "half.jsonl"
    file.write_text("".join(Prediction(name, Decision(0)).line() for name in names[::2]))
    with pytest.raises(InputError, match="1000 of 2000 ids are missing"):
        score_predictions(gap, file)
    scores = score_predictions(gap, file, {"allow_missing": True})
    json.dumps(scores.content, allow_nan=False)
    assert scores["overall"]["missing"] == 1000
    # whatever reads the clusters
    given = {"clusters": []}
    file.write_text("".join(Prediction(name, Decision(0), given).line() for name in names[::2]))
    scores = score_predictions(gap, file, {"allow_missing": True}, "offsets")
    assert (scores["overall"]["missing"], scores["overall"]["tp"]) == (1000, 0)


# A right, B right, neither
ASKED = Split(
    *("gap", "original", "test"),
    pa.table(
        {
            "id": ["0", "1", "2"],
            "label": [0, 1, 2],
            "gender": ["masculine", "feminine", "feminine"],
            "candidates": [[{"text": "Ann"}, {"text": "Bea"}]] * 3,
        }
    ),
    *("digest", Path("gap")),
)


def prompted(file: Path, *answers: Any) -> Path:
    """Write a file whose rows have these answers to their prompts, and an empty last line."""
    lines = [Prediction(str(row), NONE, given).line() for row, given in enumerate(answers)]
    file.write_text("".join([*lines, "\n"]))
    return file


def test_neither_is_a_right_answer_to_a_prompt(tmp_path: Path) -> None:
    answers = [{"answers": {"a": a, "b": b}} for a, b in ((0, "none"), (1, "none"), ("none", 1))]
    scores = score_predictions(ASKED, prompted(tmp_path / "mine.jsonl", *answers))["prompts"]
    by_prompt = scores["by_prompt"]
    assert (by_prompt["a"]["accuracy"], by_prompt["b"]["accuracy"]) == (1, 0)
    assert scores["accuracy"] == 0.5


@pytest.mark.parametrize("second", [{}, {"answers": {"b": 0}}, {"answers": [0]}])
def test_a_row_without_an_answer_to_a_prompt_is_named(tmp_path: Path, second: Any) -> None:
    first = {"answers": {"a": 0}}
    file = prompted(tmp_path / "mine.jsonl", first, second, first)
    with pytest.raises(InputError, match="line 2: 1 has no answer to the prompt a"):
        score_predictions(ASKED, file)


def test_intervals_sum_over_rows() -> None:
    decisions = [Decision(0)] * 8
    scores = score(ROWS, decisions)
    assert scores == score(ROWS, decisions)
    for block in ("overall", "masculine", "feminine"):
        low, high = scores[block]["interval"]["f1"]
        assert 0 <= low <= scores[block]["f1"] <= high <= 1
    low, high = scores["interval"]["bias"]
    assert low <= scores["bias"] <= high
    assert scores["intervals"]["units"] == 8

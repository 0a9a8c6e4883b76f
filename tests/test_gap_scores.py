"""GAP's scores: the official scorer's counts on synthetic systems, worked out by hand."""

import pyarrow as pa
import pytest

from pronominal import BOTH, NONE, Decision
from pronominal.eval.gap import score, tables

# A right, B right, neither: for each gender
LABELS = [0, 0, 1, 2, 0, 1, 1, 2]
GENDERS = ["masculine"] * 4 + ["feminine"] * 4
ROWS = pa.table({"label": LABELS, "gender": GENDERS})


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        # tp, fp, fn, tn over sixteen questions; precision, recall, f1
        (lambda label: NONE if label == 2 else Decision(label), (6, 0, 0, 10, 1, 1, 1)),
        (lambda label: Decision(0), (3, 5, 3, 5, 3 / 8, 3 / 6, 3 / 7)),
        (lambda label: NONE, (0, 0, 6, 10, 0, 0, 0)),
        (lambda label: BOTH, (6, 10, 0, 0, 6 / 16, 1, 6 / 11)),
    ],
)
def test_two_questions_a_row(answer, expected) -> None:
    overall = score(ROWS, [answer(label) for label in LABELS])["overall"]
    keys = ("tp", "fp", "fn", "tn", "precision", "recall", "f1")
    assert overall["n"] == 8
    assert [overall[key] for key in keys] == pytest.approx(expected)


def test_bias_is_feminine_over_masculine() -> None:
    scores = score(ROWS, [Decision(0)] * 8)
    assert scores["masculine"]["f1"] == pytest.approx(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3))
    assert scores["bias"] == pytest.approx(scores["feminine"]["f1"] / scores["masculine"]["f1"])
    assert score(ROWS, [NONE] * 8)["bias"] is None
    assert tables({"a": scores})[0].rows[0][-1] == f"{scores['bias']:.2f}"

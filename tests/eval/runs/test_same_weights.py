"""What another setting changes in the answers of the same weights is counted, and said."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pronominal
from pronominal.eval.runs.same_weights import decided_otherwise
from pronominal.eval.tables.comparison import SAME_WEIGHTS

CAW = Path(__file__).parents[2] / "goldens" / "caw" / "checkpoint"


def run(system: str, checkpoint: str | None, decisions: str) -> Any:
    return SimpleNamespace(system=system, checkpoint=checkpoint), [*decisions]


def test_only_runs_of_the_same_weights_are_counted() -> None:
    found = decided_otherwise({
        "plain": run("caw", "12ab", "0110"),
        "small": run("caw", "12ab", "0001"),
        "again": run("caw", "12ab", "0110"),
        "other weights": run("caw", "34cd", "0001"),
        "other system": run("wl", "12ab", "0001"),
        "first": run("first", None, "0000"),
        "last": run("first", None, "1111"),
    })  # fmt: skip
    assert found["plain"] == {"small": 3, "again": 0}
    assert found["small"] == {"plain": 3, "again": 3}
    assert not any(found[label] for label in ("other weights", "other system", "first", "last"))


def test_a_comparison_of_dtypes_says_what_changed(sample: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    systems = [
        {"label": dtype, "system": "caw", "checkpoint": str(CAW), "dtype": dtype, "device": "cpu"}
        for dtype in ("float32", "int8")
    ]
    results = pronominal.evaluate(sample, systems, config="double", out=tmp_path, limit=12)
    plain, small = (answers.decisions for answers in results.answers.values())
    changed = sum(a != b for a, b in zip(plain, small, strict=True))
    assert results.scores["float32"][SAME_WEIGHTS] == {"int8": changed}
    told = " ".join(str(results.summary).split())
    assert "float32 and int8 are the same weights, and decide " in told

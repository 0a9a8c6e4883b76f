"""Curves that something else has written are named by their line."""

from pathlib import Path

import pytest

from pronominal.adapters.training.curves import read_curves
from pronominal.errors import InputError

POINT = '{"update": 1, "loss": 0.5, "learning_rates": [0.1]}'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: the line is not valid JSON"),
        ("{}", "line 2: the field update is missing"),
        ('{"update": "2"}', "line 2: the field update is not an integer"),
        ('{"update": 2, "loss": []}', "line 2: the field loss is not a number"),
        ('{"update": 2, "validation": {}}', "line 2: the field validation is not a number"),
    ],
)
def test_a_point_that_is_none_is_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "curves.jsonl").write_text(f"{POINT}\n{line}\n")
    with pytest.raises(InputError, match=message):
        read_curves(tmp_path / "curves.jsonl")


def test_a_line_that_a_kill_cut_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "curves.jsonl").write_text(f"{POINT}\n{POINT[:12]}")
    assert len(read_curves(tmp_path / "curves.jsonl")) == 1

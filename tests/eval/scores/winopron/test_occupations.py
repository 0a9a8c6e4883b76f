"""Winogender's own correlations: known gaps, the pinned file, and nothing to correlate."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from pronominal import NONE, Decision
from pronominal.cli.main import main
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.errors import InputError
from pronominal.eval.scores.winopron.occupations import (
    FILE,
    Percentages,
    correlation_tables,
    correlations,
    occupation_gaps,
    read_occupations,
)
from tests.eval.evaluated import score_predictions

OCCUPATIONS = {
    "baker": Percentages(10, 80),
    "smith": Percentages(50, 50),
    "pilot": Percentages(90, 20),
}
ROWS = pa.Table.from_pylist(
    [
        {"occupation": occupation, "pronoun_set": name, "label": label}
        for occupation in OCCUPATIONS
        for name in ("he", "she", "they")
        for label in (0, 1)
    ]
)
# for he, she and they the answers to both sentences: O occupation, P participant, - none
ANSWERS = {"O": Decision(0), "P": Decision(1), "-": NONE}


def decisions(baker: str, smith: str, pilot: str) -> list[Decision]:
    return [ANSWERS[mark] for mark in baker + smith + pilot]


def test_gaps_are_of_she_and_he_and_of_the_occupation() -> None:
    gaps = occupation_gaps(ROWS, decisions("OPOOPP", "OPPOOO", "OO--PP"))
    assert gaps == {"baker": 0.5, "smith": 0.0, "pilot": -1.0}


def test_correlations_follow_the_gaps() -> None:
    pytest.importorskip("scipy")
    found = correlations(ROWS, decisions("OOPPPP", "OPOPPP", "PPOOPP"), OCCUPATIONS)
    assert found["gaps"] == {"baker": -1, "smith": 0, "pilot": 1}
    assert found["bergsma"]["r"] == pytest.approx(1)
    assert found["bls"]["r"] == pytest.approx(-1, abs=1e-9)
    assert found["bls"]["n"] == 3
    (table,) = correlation_tables({"a": {"occupation_statistics": found}, "b": {}})
    assert table.rows[0][:3] == ("a", "3", "+1.00")
    assert "binary view" in table.title


@pytest.mark.parametrize("answers", ["PPPPPP", "OPOPOP"])
def test_without_a_gap_there_is_nothing_to_correlate(answers: str) -> None:
    found = correlations(ROWS, decisions(answers, answers, answers), OCCUPATIONS)
    assert [found["bergsma"][key] for key in ("n", "r", "p")] == [3, None, None]
    assert correlations(ROWS, decisions(*["OPPPPP"] * 3), {})["bls"]["n"] == 0


def test_the_file_is_the_pinned_one(upstream: Path, tmp_path: Path) -> None:
    found = read_occupations(Sources(upstream))
    assert len(found) == 60
    assert all(0 <= value <= 100 for percentages in found.values() for value in percentages)
    with pytest.raises(InputError, match="cannot be read"):
        read_occupations(Sources(tmp_path))
    (tmp_path / "winogender").mkdir()
    lines = "occupation\tbergsma_pct_female\tbls_pct_female\nbaker\t{}\t2\n"
    (tmp_path / "winogender" / FILE).write_text(lines.format(1))
    with pytest.raises(InputError, match="not the pinned"):
        read_occupations(Sources(tmp_path))
    assert read_occupations(Sources(tmp_path, True)) == {"baker": (1, 2)}
    (tmp_path / "winogender" / FILE).write_text(lines.format("many"))
    with pytest.raises(InputError, match="line 2"):
        read_occupations(Sources(tmp_path, True))


def test_other_datasets_name_the_option_that_they_lack(tmp_path: Path) -> None:
    rows: Any = SimpleNamespace(dataset_name="gap")
    with pytest.raises(InputError, match="gap have no option 'sources'"):
        score_predictions(rows, tmp_path / "absent", {"sources": {}})


def test_the_command_adds_it_to_the_scores(built, upstream: Path, tmp_path, monkeypatch, capsys):
    where, runs = built("winogender"), tmp_path / "runs"
    for command in (
        ["evaluate", "--dataset", where, "--system", "random", "--out", runs],
        ["score", "winogender", "--dataset", where, "--sources", upstream, "--json"],
    ):
        capsys.readouterr()
        if command[0] == "score":
            command += ["--predictions", runs / "winogender.original.test.random"]
        monkeypatch.setattr(sys, "argv", ["pronominal", *map(str, command)])
        with pytest.raises(SystemExit) as done:
            main()
        assert not done.value.code
    found = json.loads(capsys.readouterr().out)["occupation_statistics"]
    assert len(found["gaps"]) == found["bls"]["n"] == 60
    assert abs(found["bls"]["r"]) < 0.5
    low, high = found["bls"]["interval"]["r"]
    assert low < found["bls"]["r"] < high

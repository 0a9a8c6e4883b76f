"""A construction from a `datasets.Dataset`: what the command finds in the same texts."""

from dataclasses import replace
from pathlib import Path

import datasets
import pytest

from pronominal.dataset_scripts.construction.constructed_dataset import (
    Description,
    construct_dataset,
)
from pronominal.dataset_scripts.construction.datasets_engine import NO_TEXT, construct_rows
from pronominal.dataset_scripts.construction.engine import Construction
from pronominal.dataset_scripts.construction.rules import PAPER
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.errors import InputError
from tests.dataset_scripts.construction.texts import corpus, planted, write_names

NO_MODEL = replace(PAPER, pipeline=None)


def test_a_dataset_gives_the_rows_that_the_command_finds(tmp_path: Path) -> None:
    (path,), positives = corpus(tmp_path, files=1, lines=5_000)
    names = write_names(tmp_path)
    lines = path.read_text().splitlines()
    # one sentence stands there again in another batch
    lines.append(planted(0).upper().replace("ADAM", "Adam").replace("ANNA", "Anna"))
    path.write_text("\n".join([*lines, planted(1)]) + "\n")
    texts = datasets.Dataset.from_dict({"body": path.read_text().splitlines()})
    report = construct_dataset(
        Construction((path,), NO_MODEL, names=names), Description(), tmp_path
    )
    expected = read_split(str(tmp_path / "constructed"), "original", "train").table.to_pylist()
    asked = {"column": "body", "rules": NO_MODEL, "names": names}
    for processes in (None, 2):
        found, told = construct_rows(texts, **asked, num_proc=processes)
        assert told.describe()["stages"] == report.describe()["stages"]
        assert [without_place(row) for row in found] == [without_place(row) for row in expected]
        assert {row["original"] for row in found} == positives
        # the document is the row
        first = found[0]
        assert texts[int(first["document"])]["body"] == first["original"]
    assert found.features["label"].names == ["first", "second"]


def without_place(row: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in row.items() if name not in ("source", "document")}


@pytest.mark.parametrize("texts", [[None, "", planted(3)], [None], ["Nothing here."]])
def test_rows_without_text_are_counted(tmp_path: Path, texts: list[str | None]) -> None:
    given = datasets.Dataset.from_dict(
        {"text": texts}, features=datasets.Features({"text": datasets.Value("string")})
    )
    names = write_names(tmp_path)
    found, report = construct_rows(given, rules=NO_MODEL, names=names)
    assert report.damage[NO_TEXT] == sum(not text for text in texts)
    assert found["original"][:] == [text for text in texts if text == planted(3)]


@pytest.mark.parametrize("column", ["body", "number"])
def test_a_column_without_strings_is_refused(column: str) -> None:
    given = datasets.Dataset.from_dict({"text": ["A."], "number": [1]})
    with pytest.raises(InputError, match=f"no column '{column}' of strings"):
        construct_rows(given, column=column, rules=NO_MODEL)

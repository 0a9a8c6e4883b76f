"""Winogender from the upstream files: exact to the row, known faults known, others named."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from pronominal.dataset_scripts import winogender
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import read_split

SLOTS = {"nominative": "$NOM_PRONOUN", "accusative": "$ACC_PRONOUN", "possessive": "$POSS_PRONOUN"}


@pytest.fixture(scope="module")
def published(built: Callable[[str], Path]) -> Path:
    return built("winogender")


@pytest.mark.parametrize(("config", "rows"), [("original", 360), ("with_xe", 480)])
def test_rows_are_upstreams(published: Path, goldens: Path, config: str, rows: int) -> None:
    found = read_split(str(published), config).table.to_pylist()
    lines = sorted(
        "\t".join(
            (
                row["occupation"],
                row["participant"],
                row["text"],
                SLOTS[row["case"]],
                row["pronoun"]["text"],
                row["candidates"][row["label"]]["text"],
            )
        )
        for row in found
    )
    digests = json.loads((goldens / "data" / "digests.json").read_text())
    assert len(found) == rows
    digest = hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest()
    assert digest == digests[f"winogender_{rows}"]["sha256"]


def test_cases_are_counted_as_in_winopron_table_1(published: Path) -> None:
    cases = {
        row["template_id"]: row["case"]
        for row in read_split(str(published), "with_xe").table.to_pylist()
    }
    counts = {case: list(cases.values()).count(case) for case in SLOTS}
    assert counts == {"nominative": 89, "accusative": 4, "possessive": 27}


def test_agreement_is_upstreams(published: Path) -> None:
    """17 templates say "was" after the slot: "were" after they, "was" after xe."""
    after: dict[str, list[str]] = {}
    for row in read_split(str(published), "with_xe").table.to_pylist():
        if row["case"] == "nominative":
            word = row["text"][row["pronoun"]["end"] :].split()[0]
            after.setdefault(row["pronoun_set"], []).append(word)
    assert after["they"].count("were") == after["xe"].count("was") == 17
    assert after["they"].count("was") == after["xe"].count("were") == 0


def test_validate_passes_on_the_real_data(upstream: Path) -> None:
    assert [str(violation) for violation in winogender.violations(Sources(upstream))] == []


@pytest.mark.parametrize(
    ("line", "old", "new", "message"),
    [
        (2, "\t1\t", "\t0\t", "same answer"),
        (9, "$PARTICIPANT", "visitor", "0 $PARTICIPANT slots"),
        (21, "$NOM_PRONOUN", "$POSS_PRONOUN", "is not what templates give"),
        (30, "The ", "Now the ", "before the pronoun"),
        (31, ".", " for them.", "further pronoun, 'them'"),
        (40, "$NOM_PRONOUN", "someone", "0 pronoun slots"),
    ],
)
def test_validate_names_the_line(
    upstream: Path, tmp_path: Path, line: int, old: str, new: str, message: str
) -> None:
    shutil.copytree(upstream / "winogender", tmp_path / "winogender")
    path = tmp_path / "winogender" / "templates.tsv"
    path.chmod(0o644)
    lines = path.read_text().split("\n")
    found = old in lines[line - 1]
    assert found, "the fault cannot be planted"
    lines[line - 1] = lines[line - 1].replace(old, new, 1)
    path.write_text("\n".join(lines))
    found = list(winogender.violations(Sources(tmp_path)))
    near = {f"line {line}", f"line {line + 1}"} | ({None} if "sentence" in message else set())
    named = [v.message for v in found if v.row in near or "templates give" in message]
    assert any(message in text for text in named), [str(v.row) for v in found]

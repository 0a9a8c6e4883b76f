"""A checkpoint of one system given to another: refused, for its answers would mean nothing."""

from itertools import permutations
from pathlib import Path

import pytest

from pronominal import adapters
from pronominal.adapters import load
from pronominal.errors import InputError
from tests.conftest import ROOT

CHECKPOINTS = {"fcoref": "fcoref/checkpoint", "lingmess": "lingmess/checkpoint"}
"""Tiny checkpoints in the repository."""

ORIGINALS = {"caw": "caw/checkpoint", "spanbert": "c2f", "e2e": "e2e"}
"""Tiny checkpoints in the formats of the original programs, outside the repository."""

OTHERS = ("bert", "lm", "neuralcoref")


def refused(system: str, checkpoint: Path) -> None:
    with pytest.raises(InputError) as error:
        load(system, str(checkpoint))
    assert str(error.value).startswith(str(checkpoint))


@pytest.mark.parametrize(("given", "system"), permutations(CHECKPOINTS, 2))
def test_the_head_of_the_other_one_is_refused(given: str, system: str) -> None:
    folder = ROOT / "tests" / "goldens" / CHECKPOINTS[given]
    with pytest.raises(InputError, match=f"and .* more; give a checkpoint of {system}") as error:
        load(system, str(folder))
    assert str(error.value).startswith(f"{folder}: the weights hold no antecedent_")


@pytest.mark.parametrize("system", [*ORIGINALS, *OTHERS])
@pytest.mark.parametrize("given", CHECKPOINTS)
def test_other_systems_refuse_them(given: str, system: str) -> None:
    refused(system, ROOT / "tests" / "goldens" / CHECKPOINTS[given])


@pytest.mark.parametrize("given", ORIGINALS)
def test_the_originals_are_refused_by_all_others(given: str, goldens: Path) -> None:
    for system in {*CHECKPOINTS, *ORIGINALS, *OTHERS} - {given}:
        refused(system, goldens / ORIGINALS[given])


def test_what_has_no_weights_says_where_settings_go() -> None:
    with pytest.raises(InputError, match="write random alone, and its seed as --set seed=VALUE"):
        load("random", "3")
    with pytest.raises(InputError, match=r"no weights; write first-mention alone$"):
        load("first-mention", "3")


@pytest.mark.parametrize(
    ("system", "checkpoint", "told"),
    [
        ("lingmess", "no/such/folder", "there is no such folder; give"),
        ("lingmess", None, "no such model of the Hub on this machine; .*biu-nlp/lingmess-coref"),
        ("caw", "no/checkpoint@v1", "no such model of the Hub .*no/checkpoint --revision v1'"),
        ("lm", "no/model", "no such model of the Hub on this machine"),
        ("lm-coref", "no/model", "no such model of the Hub on this machine"),
        ("text-generation", "no/model", "no such model of the Hub on this machine"),
    ],
)
def test_what_is_not_there_is_told_before_anything_is_imported(
    system: str, checkpoint: str | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapters, "at", lambda place: pytest.fail(f"{place} was imported"))
    with pytest.raises(InputError, match=told):
        load(system, checkpoint)

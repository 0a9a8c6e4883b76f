"""A form of a pronoun that a system cannot tell from other words is named before it is learnt."""

import warnings
from pathlib import Path

import pytest

pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from pronominal.adapters.words.pronoun_forms import SplitFormWarning
from tests.adapters.c2f.new_systems import NEW

UNKNOWN = "is read like other words that the system does not know"
FORMS = [
    ("spanbert", "cannot", "is split into 2 words"),
    ("spanbert", "þ", UNKNOWN),
    ("spanbert", "zeeeeeeeeee", "has 11 subtokens, and a mention has at most 10"),
    ("e2e", "cannot", "is split into 2 words"),
    ("e2e", "þ", UNKNOWN),
]


def pronouns(folder: Path, accusative: str) -> str:
    forms = {"nominative": "ze", "accusative": accusative, "possessive": "zer"}
    file = folder / "own.toml"
    lines = (f'{case} = "{form}"\n' for case, form in forms.items())
    file.write_text("".join(["[ze]\n", *lines]), encoding="utf-8")
    return str(file)


@pytest.mark.parametrize(("system", "form", "reason"), FORMS)
def test_a_form_that_cannot_be_a_mention_is_named(
    system: str, form: str, reason: str, tmp_path: Path
) -> None:
    own = pronouns(tmp_path, form)
    with pytest.warns(SplitFormWarning) as caught:
        NEW[system](tmp_path / "new", pronoun_sets=[own])
    (warning,) = caught
    start = f"{system}: '{form}' {reason}, so that"
    assert str(warning.message).startswith(start)


@pytest.mark.parametrize("system", NEW)
def test_other_forms_are_not(system: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", SplitFormWarning)
        # words of many letters are one word to E2E
        long = "zerzerzerzerzer" if system == "e2e" else "zer"
        NEW[system](tmp_path / "new", pronoun_sets=["xe", pronouns(tmp_path, long)])

"""Other pronouns are written where every form is certain, and nowhere else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.pronoun_replacement import (
    UncertainFormError,
    other_pronouns,
    replaced_pronouns,
)
from pronominal.pronouns import PRONOUN_SETS, PronounSet
from tests.conftest import ROOT

CASES = json.loads((ROOT / "tests/cases/pronoun_replacement.json").read_text(encoding="utf-8"))
SETS = {one.name: one for one in PRONOUN_SETS}
SINGULAR = [one for one in PRONOUN_SETS if one.agreement == "singular"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['text']} {case['set']}")
def test_a_form(case: dict[str, str]) -> None:
    words = case["text"].split()
    (place,) = (number for number, word in enumerate(words) if word.startswith("*"))
    plain = [word.strip("*") for word in words]
    if "refused" in case:
        with pytest.raises(UncertainFormError, match=case["refused"]):
            replaced_pronouns(plain, [place], SETS[case["set"]])
    else:
        found = replaced_pronouns(plain, [place], SETS[case["set"]])
        assert found == [*plain[:place], case["becomes"], *plain[place + 1 :]]


@given(
    st.lists(st.sampled_from(["Ann", "met", "the", ".", "and", "coat", "was", "of"]), max_size=6),
    st.lists(st.sampled_from(["the", ".", "coat", "left", "was", "and", "to"]), max_size=6),
    st.sampled_from(SINGULAR),
    st.sampled_from(SINGULAR),
    st.data(),
)
def test_what_is_written_leads_back(
    before: list[str], after: list[str], old: PronounSet, new: PronounSet, data: st.DataObject
) -> None:
    words = [*before, data.draw(st.sampled_from(sorted(old.forms))), *after]
    place = len(before)
    try:
        written = replaced_pronouns(words, [place], new)
    except UncertainFormError:
        return
    assert [*written[:place], *written[place + 1 :]] == [*before, *after]
    assert written[place] in new.forms
    try:
        again = replaced_pronouns(written, [place], old)
    except UncertainFormError:
        return
    # a form that was certain both ways is the same grammatical case
    assert again == words


def test_a_set_of_ones_own_and_a_form_that_it_lacks() -> None:
    ze = PronounSet("ze", "ze", "zir", "zir")
    assert replaced_pronouns(["Ann", "took", "her", "coat"], [2], ze)[2] == "zir"
    with pytest.raises(UncertainFormError, match="no such form"):
        replaced_pronouns(["It", "is", "hers", "."], [2], ze)


def test_other_pronouns_of_the_set() -> None:
    words = ["She", "met", "her", "and", "him", "."]
    assert other_pronouns(words, [0])
    assert not other_pronouns(words, [0, 2])
    assert not other_pronouns(words, [4])

"""Training texts get other pronouns where every form is certain, and nothing else changes."""

import json
from collections import defaultdict
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal import InputError
from pronominal.eval.training.data.training_texts import TrainingText, with_further_pronouns
from pronominal.pronouns import PRONOUN_SETS, THEY, XE, PronounSet
from pronominal.spans import AnnotatedDocument, Document, Span
from tests.conftest import ROOT

CASES = json.loads((ROOT / "tests/cases/training_pronouns.json").read_text(encoding="utf-8"))
SETS = {one.name: one for one in PRONOUN_SETS}
OWN = PronounSet("ze", "ze", "zir", "zir")


def text_of(marked: str, *, complete: bool = False, name: str = "own") -> TrainingText:
    """Return a text whose words name their cluster behind a _, and whose sentences end at |."""
    sentences = [sentence.split() for sentence in marked.split(" | ")]
    mentions: dict[str, list[Span]] = defaultdict(list)
    for place, word in enumerate(chain.from_iterable(sentences)):
        _, _, cluster = word.partition("_")
        if cluster:
            mentions[cluster].append(Span(place, place + 1))
    words = [[word.partition("_")[0] for word in sentence] for sentence in sentences]
    gold = AnnotatedDocument(Document(words), [*mentions.values()], complete=complete)
    return TrainingText(name, "original", gold)


def written(text: TrainingText) -> str:
    return " | ".join(" ".join(sentence) for sentence in text.gold.document.words)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['text']} {case['set']}")
def test_a_text(case: dict[str, str]) -> None:
    text = text_of(case["text"], complete=bool(case.get("complete")))
    # a set that nothing can be written with is refused
    sure = text_of("Ann_1 saw Bob_2 because he_2 had called .", name="sure")
    new = SETS[case["set"]]
    units, left_out = with_further_pronouns([(text,), (sure,)], [new])
    found = {one.id: one for unit in units for one in unit}
    assert found.pop("sure").version == f"original, {new.name}"
    if "becomes" in case:
        assert written(found["own"]) == case["becomes"]
        assert found["own"].gold.clusters == text.gold.clusters
        assert found["own"].gold.complete == text.gold.complete
    else:
        assert not found
    reasons = [one.reason for one in left_out]
    assert len(reasons) == ("refused" in case)
    assert all(case["refused"] in reason for reason in reasons)


def test_versions_of_a_row_stay_together() -> None:
    texts = ("Ann_1 met Eva_2 because she_2 had called .", "Ann_1 met Eva_2 and took her_2 coat .")
    both = (text_of(texts[0]), text_of(texts[0], name="second"))
    units, left_out = with_further_pronouns([both, (text_of(texts[1]),)], [XE, OWN, THEY])
    assert [[one.version for one in unit] for unit in units] == [
        ["original, xe"] * 2,
        ["original, ze"] * 2,
        # *zir* is the accusative and the possessive of this set
        ["original, ze"],
        ["original, they"] * 2,
    ]
    assert [one.version for one in left_out] == ["original, xe", "original, they"]


def test_a_set_that_no_text_can_have_is_refused() -> None:
    with pytest.raises(InputError, match="no text can be written with the pronouns of xe"):
        with_further_pronouns([(text_of("Ann_1 saw it_2 ."),)], [XE])


PRONOUNS = sorted(frozenset().union(*(one.forms for one in PRONOUN_SETS)))
OTHERS = ("Ann", "was", "had", "called", "the", "coat", "of", "and", ".", '"', "n't", "never")
WORD = st.one_of(
    st.sampled_from(OTHERS),
    st.builds(
        lambda form, case, cluster: f"{case(form)}_{cluster}",
        st.sampled_from(PRONOUNS),
        st.sampled_from([str.lower, str.capitalize, str.upper]),
        st.integers(1, 3),
    ),
)
SENTENCE = st.lists(WORD, min_size=1, max_size=6).map(" ".join)


@given(
    st.lists(SENTENCE, min_size=1, max_size=4).map(" | ".join),
    st.booleans(),
    st.sampled_from([*PRONOUN_SETS, OWN]),
)
def test_only_pronouns_change_and_all_of_an_entity(
    marked: str, complete: bool, new: PronounSet
) -> None:
    text = text_of(marked, complete=complete)
    sure = text_of("Ann_1 met Bob_2 because he_2 had called .", name="sure")
    other = text_of("Ann_1 met Eva_2 because she_2 had called .", name="sure")
    units, left_out = with_further_pronouns([(text,), (sure,), (other,)], [new])
    found = [one.gold for unit in units for one in unit if one.id == "own"]
    assert len(found) + len(left_out) <= 1
    before = [*chain.from_iterable(text.gold.document.words)]
    for gold in found:
        after = [*chain.from_iterable(gold.document.words)]
        assert [*map(len, gold.document.words)] == [*map(len, text.gold.document.words)]
        assert gold.clusters == text.gold.clusters
        changed = {place for place, word in enumerate(after) if word != before[place]}
        assert changed
        for cluster in gold.clusters:
            places = {span.start for span in cluster}
            touched = places & changed
            assert all(after[place].lower() in new.forms for place in (places if touched else ()))
            changed -= touched
        assert not changed
        for one, other_word in zip(before, after, strict=True):
            assert one[0].isupper() == other_word[0].isupper()

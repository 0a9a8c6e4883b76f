"""GAP's two heuristics: which candidate they take, told from the surface or from a parse."""

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from pronominal.adapters import load
from pronominal.adapters.baselines.gap import GapParallelism, GapParallelismURL
from pronominal.adapters.baselines.surface_roles import SurfaceSyntax
from pronominal.errors import InputError
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention

A, B = [1.0, 0.0], [0.0, 1.0]


def instance(text: str, pronoun: str, url: str | None = None) -> ResolutionInstance:
    """Mark Ann, Eve and the pronoun, which stands in brackets."""
    start = text.index(f"[{pronoun}]")
    text = text.replace(f"[{pronoun}]", pronoun)
    names = tuple(
        Mention(name, text.index(name), text.index(name) + 3)
        if name in text
        else Mention(name, -1, -1)
        for name in ("Ann", "Eve")
    )
    columns = {} if url is None else {"url": url}
    return ResolutionInstance(
        "x", text, Mention(pronoun, start, start + len(pronoun)), names, 0, columns
    )


CLAUSES = [
    # subject, object of a verb, object of a preposition, possessor
    ("Ann met Eve, and [she] laughed.", "she", "subject", ["subject", "object"]),
    ("Eve saw Ann before the rain hit [her].", "her", "object", ["object", "subject"]),
    ("Ann walked with Eve to [her] house.", "her", "other", ["subject", "other"]),
    ("Ann's sister met Eve, who paid [him].", "him", "object", ["other", "object"]),
    ("In May, Ann sang. The prize of Eve was for [her].", "her", "other", ["subject", "other"]),
    ("Later Ann Lee sang because Eve gave [her] a song.", "her", "object", ["subject"] * 2),
]


@pytest.mark.parametrize(("text", "pronoun", "role", "roles"), CLAUSES)
def test_roles_are_told_from_the_words_beside(text, pronoun, role, roles) -> None:
    found, places = SurfaceSyntax().read(instance(text, pronoun))
    assert (found, [place.role for place in places]) == (role, roles)


def test_a_subject_goes_to_the_closest_subject() -> None:
    near, far = "Ann slept. Eve met a friend, and [she] sang.", "Ann met Eve, and [she] sang."
    answers = GapParallelism().choose([instance(near, "she"), instance(far, "she")])
    assert answers == [B, A]


def test_without_a_parallel_role_the_closest_candidate() -> None:
    text = "Ann's coat hung beside Eve's, and [she] sang."
    assert GapParallelism().choose([instance(text, "she")]) == [B]


def test_a_possessor_goes_to_the_closest_candidate_in_any_role() -> None:
    assert GapParallelism().choose([instance("Ann met Eve in [her] house.", "her")]) == [B]


@pytest.mark.parametrize(
    ("url", "answer"),
    [
        ("http://en.wikipedia.org/wiki/Ann_Lee", A),
        ("http://en.wikipedia.org/wiki/Eve_(singer)", B),
        ("http://en.wikipedia.org/wiki/The_Coat", B),
        ("http://en.wikipedia.org/wiki/The_Coat_(Ann)", B),
        ("http://en.wikipedia.org/wiki/Eve_and_Ann", B),
    ],
)
def test_the_page_comes_first(url: str, answer: list[float]) -> None:
    text = "Ann slept. Eve met a friend, and [she] sang."
    assert GapParallelismURL().choose([instance(text, "she", url)]) == [answer]


def test_without_pages_the_url_rule_says_what_to_do() -> None:
    with pytest.raises(InputError, match=r"id x.*run it on gap"):
        GapParallelismURL().choose([instance("Ann met Eve, and [she] sang.", "she")])


def test_a_candidate_without_a_place_is_never_chosen() -> None:
    assert GapParallelism().choose([instance("Ann slept, and [she] sang.", "she")]) == [A]
    assert GapParallelism().choose([instance("It rained, and [she] sang.", "she")]) == [[0.0, 0.0]]


@Language.component("written_by_hand")
def written_by_hand(document: Doc) -> Doc:
    """Parse "Ann met Eve . She saw it ." as a parser would."""
    heads = [1, 1, 1, 1, 5, 5, 5, 5]
    labels = ["nsubj", "ROOT", "dobj", "punct", "nsubj", "ROOT", "dobj", "punct"]
    words = [token.text for token in document]
    return Doc(
        document.vocab,
        words=words,
        heads=heads,
        deps=labels,
        spaces=[bool(token.whitespace_) for token in document],
    )


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> str:
    made = spacy.blank("en")
    made.add_pipe("written_by_hand", name="parser")
    monkeypatch.setattr(spacy, "load", lambda name: made)
    return "by-hand"


def test_a_parse_gives_roles(pipeline: str) -> None:
    subject = instance("Ann met Eve. [She] saw it.", "She")
    other = instance("Ann met Eve. They saw [her].", "her")
    assert GapParallelism(pipeline).choose([subject, other]) == [A, B]


def test_a_pipeline_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"no-such-pipeline.*spacy download no-such-pipeline"):
        load("gap-parallelism", pipeline="no-such-pipeline")


def test_a_pipeline_that_does_not_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spacy, "load", lambda name: spacy.blank("en"))
    with pytest.raises(InputError, match="no parser"):
        GapParallelism("blank")

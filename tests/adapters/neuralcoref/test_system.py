"""neuralcoref: its published files are read as they are, and answers are those of its algorithm."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

from pronominal import Document, InputError, Span
from pronominal.adapters import SYSTEMS, load
from pronominal.adapters.contract.self_check import SelfCheckWarning
from pronominal.adapters.neuralcoref import system as module
from pronominal.adapters.neuralcoref.mentions import find_mentions
from tests.adapters.neuralcoref.reference import (
    WORDS,
    Parse,
    Tiny,
    parsed,
    reference_clusters,
    reference_scores,
    reference_spans,
)

NLP = spacy.blank("en")

OWNER: Parse = [
    *(("Ann", "NNP", "PROPN", 2, "poss"), ("'s", "POS", "PART", 0, "case")),
    *(("pilot", "NN", "NOUN", 3, "nsubj"), ("met", "VBD", "VERB", 3, "ROOT")),
    *(("her", "PRP", "PRON", 3, "dobj"), (".", ".", "PUNCT", 3, "punct")),
]
JOINED: Parse = [
    *(("he", "PRP", "PRON", 3, "nsubj"), ("and", "CC", "CCONJ", 0, "cc")),
    *(("Eve", "NNP", "PROPN", 0, "conj"), ("met", "VBD", "VERB", 3, "ROOT")),
    *(("you", "PRP", "PRON", 3, "dobj"), ("in", "IN", "ADP", 3, "prep")),
    *(("3", "CD", "NUM", 7, "nummod"), ("towns", "NNS", "NOUN", 5, "pobj")),
    *((",", ",", "PUNCT", 3, "punct"), ("said", "VBD", "VERB", 3, "advcl")),
    ("Ann", "NNP", "PROPN", 9, "nsubj"),
]
CLITIC: Parse = [
    *(("Yes", "UH", "INTJ", 3, "intj"), ("Ann", "NNP", "PROPN", 3, "nsubj")),
    *(("'s", "NN", "NOUN", 1, "dep"), ("tired", "JJ", "ADJ", 3, "ROOT")),
]
LINKED: Parse = [
    *(("that", "IN", "SCONJ", 2, "mark"), ("Eve", "NNP", "PROPN", 2, "nsubj")),
    *(("left", "VBD", "VERB", 2, "ROOT"), ("!", ".", "PUNCT", 2, "punct")),
]

MENTIONS: list[tuple[Parse, list[tuple[int, int]]]] = [
    (OWNER, [(0, 1), (0, 3), (4, 5)]),
    # a preposition stands for its phrase, less itself; "you" is never a mention
    (JOINED, [(0, 1), (0, 3), (2, 3), (6, 8), (6, 8), (10, 11)]),
    # a clitic that was tagged as a noun stands for the subject, one token longer
    (CLITIC, [(1, 2), (1, 3)]),
    # a subordinator stands for its clause
    (LINKED, [(1, 2), (1, 3)]),
]


@pytest.mark.parametrize(("parse", "spans"), MENTIONS, ids=["owner", "joined", "clitic", "linked"])
def test_mentions_follow_the_published_rules(parse: Parse, spans: list[tuple[int, int]]) -> None:
    found = find_mentions(parsed(NLP, parse), blacklist=True)
    assert sorted((mention.start, mention.end) for mention in found) == sorted(set(spans))


def test_the_blacklist_can_be_left_out() -> None:
    found = find_mentions(parsed(NLP, JOINED), blacklist=False)
    assert (4, 5) in {(mention.start, mention.end) for mention in found}


def test_entities_are_mentions_unless_they_are_numbers_or_dates() -> None:
    entities = [(0, 2, "PERSON"), (3, 4, "DATE")]
    found = find_mentions(parsed(NLP, OWNER, entities), blacklist=True)
    borders = {(mention.start, mention.end) for mention in found}
    assert (0, 2) in borders
    assert (3, 4) not in borders


TAGS = ["NN", "NNS", "NNP", "PRP", "PRP$", "DT", "IN", "VBD", "CC", ",", "."]
POS = ["NOUN", "PROPN", "PRON", "ADP", "SCONJ", "CCONJ", "VERB", "PUNCT"]
DEPENDENCIES = ["nsubj", "dobj", "det", "mark", "dep", "conj", "prep", "pobj", "appos", "poss"]
FORMS = [*WORDS[3:], "Ann", "'s", "12", "xe", ",", "tree", "you"]


@st.composite
def documents(draw: st.DrawFn) -> Doc:
    """Sentences of random words under random trees without crossing arcs, and some entities."""
    parse: Parse = []
    for length in draw(st.lists(st.integers(1, 7), min_size=1, max_size=3)):
        first = len(parse)
        spine = [first]  # the right edge of the tree so far, which alone may get children
        for place in range(first, first + length):
            head = first if place == first else draw(st.sampled_from(spine))
            if place > first:
                spine = [*spine[: spine.index(head) + 1], place]
            dependency = "ROOT" if place == first else draw(st.sampled_from(DEPENDENCIES))
            word, tag, pos = (draw(st.sampled_from(some)) for some in (FORMS, TAGS, POS))
            parse.append((word, tag, pos, head, dependency))
    document = parsed(NLP, parse)
    label = draw(st.sampled_from(["PERSON", "DATE", None]))
    if label is not None:
        place = draw(st.integers(0, len(parse) - 1))
        document.ents = [spacy.tokens.Span(document, place, place + 1, label)]
    return document


@given(documents(), st.booleans())
def test_mentions_are_those_of_the_reference(document: Doc, blacklist: bool) -> None:
    found = find_mentions(document, blacklist)
    assert [(one.start, one.end) for one in found] == reference_spans(document, blacklist)


# the whole system


@pytest.fixture
def tiny() -> Tiny:
    return Tiny()


PLANNED: list[Doc] = []
"""What the pipeline answers next; without it, a tree in which all words hang on the first."""


@Language.component("by_hand")
def by_hand(document: Doc) -> Doc:
    if PLANNED:
        return PLANNED.pop(0)
    size = len(document)
    words, spaces = [t.text for t in document], [bool(t.whitespace_) for t in document]
    labels = {"tags": ["NNP"] * size, "pos": ["PROPN"] * size, "deps": ["dep"] * size}
    return Doc(document.vocab, words, spaces, heads=[0] * size, **labels)


@pytest.fixture(scope="module")
def pipeline() -> Language:
    made = spacy.blank("en")
    made.add_pipe("by_hand", name="parser")
    return made


@pytest.fixture
def parses(pipeline: Language, monkeypatch: pytest.MonkeyPatch) -> list[Doc]:
    monkeypatch.setattr(spacy, "load", lambda name: pipeline)
    PLANNED.clear()
    return PLANNED


Make = Callable[..., Any]


@pytest.fixture
def make(parses: list[Doc], tmp_path: Path) -> Make:
    def made(tiny: Tiny, **settings: Any) -> Any:
        return load("neuralcoref", str(tiny.save(tmp_path / "weights")), **settings)

    return made


@pytest.mark.filterwarnings("ignore::pronominal.adapters.contract.self_check.SelfCheckWarning")
@pytest.mark.parametrize("greedyness", [0.3, 0.5, 0.6])
@pytest.mark.parametrize("seed", range(4))
def test_clusters_are_those_of_the_reference(
    make: Make, parses: list[Doc], seed: int, greedyness: float
) -> None:
    tiny = Tiny(seed)
    system = make(tiny, pipeline="by-hand", greedyness=greedyness)
    for parse in (OWNER + _moved(JOINED, 6), JOINED + _moved(OWNER, 11) + _moved(OWNER, 17)):
        document = parsed(NLP, parse)
        parses.append(document)
        (found,) = system.cluster([document.text])
        assert found == [
            [_characters(document, start, end) for start, end in cluster]
            for cluster in reference_clusters(tiny, document, greedyness)
        ]


def _moved(parse: Parse, by: int) -> Parse:
    return [(word, tag, pos, head + by, dep) for word, tag, pos, head, dep in parse]


def _characters(document: Doc, start: int, end: int) -> Span:
    span = document[start:end]
    return Span(span.start_char, span.end_char)


@given(documents())
def test_scores_are_those_of_the_reference(document: Doc) -> None:
    tiny = Tiny(5)
    mentions = find_mentions(document, blacklist=True)
    if not mentions:
        return
    weights = SCORED.get(0) or SCORED.setdefault(0, _in_memory(tiny))
    words = module.DocumentVectors(document, weights.static, weights.tuned)
    vectors = np.stack([words.of(mention) for mention in mentions])
    pairs = module.candidate_pairs(mentions, 50, 500)
    alone, together = module.NeuralCoref._score(
        type("", (), {"_weights": weights})(), mentions, vectors, *pairs
    )
    expected_alone, expected_together = reference_scores(tiny, document)
    np.testing.assert_allclose(alone, expected_alone, rtol=1e-4, atol=1e-3)
    wanted = [expected_together[men, ant] for ant, men in zip(*pairs, strict=True)]
    np.testing.assert_allclose(together, wanted, rtol=1e-4, atol=1e-3)


SCORED: dict[int, Any] = {}


def _in_memory(tiny: Tiny) -> Any:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return module.open_weights(str(tiny.save(Path(folder))))


@pytest.mark.filterwarnings("ignore::pronominal.adapters.contract.self_check.SelfCheckWarning")
def test_documents_are_answered_in_words(make: Make, parses: list[Doc], tiny: Tiny) -> None:
    system = make(tiny, greedyness=0.6)
    words = [[row[0] for row in OWNER], [row[0] for row in JOINED]]
    document = parsed(NLP, OWNER + _moved(JOINED, 6))
    parses.append(document)
    (found,) = system.cluster_documents([Document(words)])
    assert found == reference_clusters(tiny, document, 0.6)
    assert found


@pytest.mark.filterwarnings("ignore::pronominal.adapters.contract.self_check.SelfCheckWarning")
def test_texts_without_mentions(make: Make, tiny: Tiny) -> None:
    system = make(tiny)
    assert system.cluster([]) == []
    assert system.cluster(["", " "]) == [[], []]
    with pytest.raises(InputError, match="the texts are one string"):
        system.cluster("Ann slept.")


def test_an_antecedent_far_away_needs_a_noun_in_common() -> None:
    ann, eve = ("Ann", "NNP", "PROPN"), ("Eve", "NNP", "PROPN")
    words = [ann, *[eve] * 60, ann]
    document = parsed(NLP, [(*word, place, "ROOT") for place, word in enumerate(words)])
    mentions = find_mentions(document, blacklist=True)
    earlier, later = module.candidate_pairs(mentions, 50, 500)
    of_last = earlier[later == 61]
    assert [int(one) for one in of_last] == [0, *range(11, 61)]
    earlier, later = module.candidate_pairs(mentions, 50, 60)
    assert 0 not in earlier[later == 61]


def test_the_same_answer_whatever_is_asked_beside(make: Make, tiny: Tiny) -> None:
    system = make(tiny, greedyness=0.7)
    texts = ["Ann met Eve.", "The pilot said that she left.", "Ann", "Eve said 12 words."]
    alone = [system.cluster([text])[0] for text in texts]
    assert system.cluster(texts) == alone
    assert system.cluster(texts[::-1]) == alone[::-1]


def test_weights_that_link_nothing_are_announced(make: Make, tiny: Tiny) -> None:
    weights, bias = tiny.single[-1]
    tiny.single[-1] = (weights * 0, bias * 0 + 1e6)
    with pytest.warns(SelfCheckWarning, match="no cluster in any of 6 plain sentences"):
        make(tiny)


# files and settings that are not what they should be


def _drop_layer(tiny: Tiny) -> None:
    tiny.pairs.pop(0)


def _drop_unknown(tiny: Tiny) -> None:
    del tiny.static["*UNK*"]


def _not_finite(tiny: Tiny) -> None:
    tiny.single[0][1][0] = np.nan


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (_drop_layer, r"pairs_model: its layers do not lead from 1364 numbers to one"),
        (_drop_unknown, r"static_vectors: .* '\*UNK\*' has no vector"),
        (_not_finite, r"self-check, sentence 1: the scores are not finite"),
    ],
)
def test_damaged_weights(
    make: Make, tiny: Tiny, damage: Callable[[Tiny], None], cause: str
) -> None:
    damage(tiny)
    with pytest.raises(InputError, match=cause):
        make(tiny)


@pytest.mark.parametrize("file", ["cfg", "single_model", "pairs_model", "tuned_vectors/key2row"])
def test_a_file_that_is_missing(parses: list[Doc], tiny: Tiny, tmp_path: Path, file: str) -> None:
    (tiny.save(tmp_path) / file).unlink()
    with pytest.raises(InputError, match=f"{file.split('/')[0]}|weights") as caught:
        load("neuralcoref", str(tmp_path))
    assert str(tmp_path) in str(caught.value)


class Payload:
    """Harmless: leaves a file where unpickling runs code."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


@pytest.mark.parametrize("file", ["single_model", "static_vectors/vectors"])
def test_a_pickle_runs_no_code(parses: list[Doc], tiny: Tiny, tmp_path: Path, file: str) -> None:
    trace = tmp_path / "trace"
    content = pickle.dumps(Payload(trace))
    (tiny.save(tmp_path / "weights") / file).write_bytes(content)
    with pytest.raises(InputError, match="it cannot be read"):
        load("neuralcoref", str(tmp_path / "weights"))
    assert not trace.exists()
    pickle.loads(content)
    assert trace.exists()  # the payload works


def test_vectors_of_another_width(parses: list[Doc], tiny: Tiny, tmp_path: Path) -> None:
    folder = tiny.save(tmp_path) / "tuned_vectors"
    with (folder / "vectors").open("wb") as stream:
        np.save(stream, np.zeros((9, 3), dtype=np.float32))
    (folder / "key2row").write_bytes(srsly.msgpack_dumps({1: 0}))
    with pytest.raises(InputError, match="tuned_vectors: vectors and vocabulary do not belong"):
        load("neuralcoref", str(tmp_path))


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({"greedyness": 1.5}, "greedyness is 1.5; write a number from 0 to 1"),
        ({"max_dist": -1}, "a distance is below 0"),
        ({"pipe": "x"}, "has no setting 'pipe'; did you mean 'pipeline'"),
    ],
)
def test_settings_out_of_range(
    make: Make, tiny: Tiny, settings: dict[str, Any], cause: str
) -> None:
    with pytest.raises(InputError, match=cause):
        make(tiny, **settings)


def test_a_pipeline_that_is_not_there(tiny: Tiny, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="python -m spacy download no_such_pipeline, or name"):
        load("neuralcoref", str(tiny.save(tmp_path)), pipeline="no_such_pipeline")


def test_a_pipeline_without_parser(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spacy, "load", lambda name: spacy.blank("en"))
    with pytest.raises(InputError, match="gives no TAG; name one with a tagger and a parser"):
        load("neuralcoref", str(tiny.save(tmp_path)))


def test_a_text_longer_than_the_pipeline_reads(make: Make, tiny: Tiny) -> None:
    system = make(tiny, greedyness=0.7)
    system._parses._spacy.max_length = 20
    with pytest.raises(InputError, match=r"texts\[1\]: 30 characters, and .* at most 20; split"):
        system.cluster(["Ann slept.", "a" * 30])


def test_without_weights_the_page_with_them_is_named() -> None:
    with pytest.raises(InputError, match=str(SYSTEMS["neuralcoref"].weights)):
        load("neuralcoref")

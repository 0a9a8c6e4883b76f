import copy
import functools
import itertools
import json
import pickle
import random
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("pronominal.adapters.caw.system", exc_type=ImportError)

import numpy as np
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from pronominal import Document, InputError, Span
from pronominal.adapters import SYSTEMS, kind_of, load
from pronominal.adapters.caw import model, scorer, spans, tokens
from pronominal.adapters.caw.system import CAW
from pronominal.adapters.contract.systems import OversizedSentenceWarning, contract_clusters
from pronominal.adapters.words.english import EnglishWords
from pronominal.adapters.words.windows import oversized
from pronominal.cli.progress import loud_warnings
from pronominal.eval.runs.runner import predict
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Mention

OWN = ROOT / "tests" / "goldens" / "caw"
CHECKPOINT = OWN / "checkpoint"
UPSTREAM = ROOT.parent / "shared" / "goldens" / "caw"
FILES = {"clean": OWN / "clean.jsonl", "public": UPSTREAM / "goldens-public.jsonl"}
SECTIONS = ("tiny_a", "tiny_b")


@functools.cache
def goldens(file: str) -> dict[str, dict[str, Any]]:
    """Rows by golden id; tests take ids so that no report shows a text."""
    if not FILES[file].exists():
        return {}
    rows = [json.loads(line) for line in FILES[file].read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row for row in rows}


@functools.cache
def edges() -> dict[str, dict[str, Any]]:
    """Odd inputs and what upstream does with them, by section and case."""
    file = UPSTREAM / "edge-cases.jsonl"
    if not file.exists():
        return {}
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {f"{row['config']}-{row['case']}": row for row in rows}


def golden(golden_id: str) -> dict[str, Any]:
    return (goldens("clean") | goldens("public") | edges())[golden_id]


def document(golden_id: str) -> Document:
    """Say in our form what a line of upstream's input says."""
    upstream = golden(golden_id)["input"]
    words = upstream["cased_words"]
    speakers = upstream.get("speaker", [None] * len(words))
    runs = itertools.groupby(
        range(len(words)), upstream.get("sent_id", [0] * len(words)).__getitem__
    )
    sentences = [list(run) for _, run in runs]
    return Document(
        [[words[i] for i in sentence] for sentence in sentences],
        [[speakers[i] for i in sentence if i < len(speakers)] for sentence in sentences],
        upstream["document_id"][:2],
    )


def expected(golden_id: str, section: str) -> list[Cluster]:
    clusters = golden(golden_id)["expected"][section]["span_clusters"]
    return [[Span(*span) for span in cluster] for cluster in clusters]


@functools.cache
def caw(section: str = "tiny_a", batch_size: int = 64) -> CAW:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return CAW(str(CHECKPOINT), section=section, device="cpu", batch_size=batch_size)


def answers(ids: list[str], section: str, batch_size: int = 64) -> list[list[Cluster]]:
    """Answer in one call; a report on what goes wrong in it shows no arguments of our functions."""
    try:
        return caw(section, batch_size).cluster_documents([document(i) for i in ids])
    except InputError:
        raise
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} in one of {ids}") from None


def or_skipped(file: str, ids: Iterable[str]) -> list[Any]:
    absent = pytest.mark.skip(reason=f"{file} is not beside the repository")
    return [*ids] or [pytest.param(file, marks=absent)]


PUBLIC = or_skipped(FILES["public"].name, goldens("public"))


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("golden_id", [*goldens("clean"), *PUBLIC])
def test_a_golden_alone(golden_id: str, section: str) -> None:
    assert answers([golden_id], section) == [expected(golden_id, section)]


def differing(ids: list[str], section: str, size: int) -> list[str]:
    """Answer shuffled goldens in calls of one size; return the ids with other clusters."""
    random.Random(size).shuffle(ids)
    wrong = []
    for first in range(0, len(ids), size):
        part = ids[first : first + size]
        found = answers(part, section)
        wrong += [i for i, c in zip(part, found, strict=True) if c != expected(i, section)]
    return wrong


@pytest.mark.parametrize("section", SECTIONS)
def test_clean_goldens_in_batches_of_many_sizes(section: str) -> None:
    for size in (1, 2, 3, 5, 8, 13, len(goldens("clean"))):
        assert differing([*goldens("clean")], section, size) == [], size


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("size", [2, 5, 11, 22, 69])
def test_all_goldens_in_batches(size: int, section: str) -> None:
    if not goldens("public"):
        pytest.skip(f"{FILES['public'].name} is not beside the repository")
    assert differing([*goldens("clean"), *goldens("public")], section, size) == []


@pytest.mark.parametrize("batch_size", [1, 3])
def test_one_call_works_in_small_batches(batch_size: int) -> None:
    ids = [*goldens("clean")]
    found = answers(ids, "tiny_b", batch_size)
    assert [i for i, c in zip(ids, found, strict=True) if c != expected(i, "tiny_b")] == []


def test_spans_are_plain() -> None:
    (found,) = answers(["caw-clean-00"], "tiny_a")
    assert {type(span) for cluster in found for span in cluster} == {Span}
    assert {type(offset) for cluster in found for span in cluster for offset in span} == {int}


# what lies between subwords and clusters


@pytest.mark.parametrize("section", SECTIONS)
@pytest.mark.parametrize("golden_id", ["caw-public-01", "caw-public-03", "caw-public-21"])
def test_intermediate_scores(goldens: Path, golden_id: str, section: str) -> None:
    trace = np.load(goldens / "caw" / "trace-public.npz")
    wanted = {name: trace[f"{golden_id}/{section}/{name}"] for name in TRACED}
    network = caw(section)._model
    read = caw(section)._tokenizer.read(document(golden_id), golden_id)
    cut = read.windows(network.settings.capacity)
    words = network.word_vectors([read])
    pairs = network.scored_pairs(words, [read])
    final = np.full_like(wanted["final_pair_scores"], np.nan)
    final[pairs.current, pairs.antecedent] = pairs.scores
    clusters = golden(golden_id)["expected"][section]["word_clusters"]
    heads = model.head_table(sorted(itertools.chain.from_iterable(clusters)), [read])
    scores = network.span_predictor(words, torch.tensor(heads)).numpy()
    borders = np.full_like(wanted["span_scores"], np.nan)
    for row, head in enumerate(heads):
        borders[row, head.start : head.end] = scores[row, : head.end - head.start]
    found = {
        "subword_hidden": network.encoder([read.subwords[start:end] for start, end in cut]),
        "words": words,
        "rough_all_pairs": network.rough_scorer.all_pairs(words),
        "final_pair_scores": final,
        "span_scores": borders,
    }
    for name, array in found.items():
        legal = np.isfinite(wanted[name])  # upstream writes -inf for what may not be chosen
        assert legal.any(), name
        # two sums in float32 differ by a few roundings of their largest terms
        rounding = np.finfo(np.float32).eps * np.abs(wanted[name][legal]).max()
        assert np.abs(np.asarray(array)[legal] - wanted[name][legal]).max() < 8 * rounding, name
    assert (np.isfinite(final) == np.isfinite(wanted["final_pair_scores"])).all()


TRACED = ("subword_hidden", "words", "rough_all_pairs", "final_pair_scores", "span_scores")


# upstream's subwords are kept for short inputs
WITH_SUBWORDS = [golden_id for golden_id, row in goldens("public").items() if "subwords" in row]


@pytest.mark.parametrize("golden_id", or_skipped(FILES["public"].name, WITH_SUBWORDS))
def test_subwords(golden_id: str) -> None:
    row = golden(golden_id)
    read = caw()._tokenizer.read(document(golden_id), golden_id)
    ids = caw()._tokenizer.tokenizer.convert_tokens_to_ids(row["subwords"])
    pairs = [[start, end] for start, end in itertools.pairwise(read.word_starts)]
    assert (read.subwords == ids, pairs == row["word2subword"]) == (True, True)


def test_pieces_bound_memory_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer, "PAIRS_AT_ONCE", 7)
    monkeypatch.setattr(spans, "CELLS_AT_ONCE", 99)
    assert differing([*goldens("clean")], "tiny_b", 46) == []


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_anaphoricity_equals_its_definition(layers: int) -> None:
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(1)
        module = scorer.AnaphoricityScorer(6, 3, 5, layers).eval()
        words, features = torch.randn(4, 6), torch.randn(3, 3)
        i, j = torch.tensor([1, 2, 3]), torch.tensor([0, 0, 2])
        found = module(words, scorer.Pairs(i, j, torch.zeros(3)), features)
        pairs = torch.cat([words[i], words[j], words[i] * words[j], features], dim=1)
        assert torch.allclose(found, module.out(module.hidden(pairs)).squeeze(1), atol=1e-6)


def test_components() -> None:
    assert model.connected({}) == []
    assert model.connected({1: 0, 4: 3, 5: 1, 7: 3, 8: 5}) == [[0, 1, 5, 8], [3, 4, 7]]


def test_a_link_has_to_exceed_the_dummy() -> None:
    dummy = torch.tensor(1e-7).item()
    scores = [0.0, 5e-8, dummy, 2e-7, 1.0, 1.0, 0.5, 2e-7]
    pairs = scorer.Pairs(
        torch.tensor([1, 2, 3, 4, 5, 5, 6, 6]),
        torch.tensor([0, 0, 0, 2, 3, 1, 4, 5]),
        torch.tensor(scores),
    )
    assert model.best_links(pairs) == {4: 2, 5: 3, 6: 4}  # the first of two equal ones


def test_bins_of_distance() -> None:
    bins = {1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 7: 4, 8: 5, 15: 5, 16: 6, 31: 6, 32: 7, 63: 7}
    bins |= {64: 8, 500: 8}
    module = scorer.PairFeatures(1, 7).eval()
    module.distance_emb.weight.data = torch.arange(9.0)[:, None]
    same, genre = torch.ones(len(bins)), torch.zeros(len(bins), dtype=torch.long)
    with torch.inference_mode():
        found = module(same, torch.tensor([*bins]), genre)[:, 1]
    assert found.tolist() == [*bins.values()]


def test_the_rough_scorer_keeps_the_best_earlier_words() -> None:
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(1)
        module, words = scorer.RoughScorer(4, kept=2).eval(), torch.randn(9, 4)
        found = module(words, [Span(0, 6), Span(6, 9)])
        scores = module.all_pairs(words)
    wanted = []
    for start, end in ((0, 6), (6, 9)):
        for word in range(start, end):
            earlier = sorted(range(start, word), key=lambda j: -scores[word, j].item())
            wanted += [(word, antecedent) for antecedent in earlier[:2]]
    pairs = zip(found.current.tolist(), found.antecedent.tolist(), strict=True)
    assert list(pairs) == wanted
    close = torch.isclose(found.scores, scores[found.current, found.antecedent], atol=1e-5)
    assert close.all()


@given(st.lists(st.integers(0, 300), max_size=20), st.integers(1, 5))
def test_batches_are_bounded(lengths: list[int], batch_size: int) -> None:
    documents = [made_of([[1] * length] if length else []) for length in lengths]
    ours = copy.copy(caw())
    ours.batch_size = batch_size
    batches = list(ours._batches(documents))
    filled = [index for index, length in enumerate(lengths) if length]
    assert sorted(itertools.chain(*batches)) == filled
    room = batch_size * ours._model.settings.capacity
    for batch in batches:
        assert 1 <= len(batch) <= batch_size
        assert len(batch) == 1 or sum(lengths[index] for index in batch) <= room


def made_of(lengths: list[list[int]]) -> tokens.TokenizedDocument:
    """A document of words with so many subwords each, as [sentence][word]."""
    borders = itertools.accumulate(map(len, lengths), initial=0)
    return tokens.TokenizedDocument(
        place="it",
        subwords=list(range(sum(map(sum, lengths)))),
        word_starts=list(itertools.accumulate(itertools.chain(*lengths), initial=0)),
        sentences=[Span(*sentence) for sentence in itertools.pairwise(borders)],
        speakers=[],
        genre=0,
    )


@given(st.lists(st.lists(st.integers(1, 9), min_size=1), max_size=9), st.integers(1, 12))
def test_windows(lengths: list[list[int]], capacity: int) -> None:
    read = made_of(lengths)
    cut = read.windows(capacity)
    assert [number for start, end in cut for number in range(start, end)] == read.subwords
    assert all(end - start <= capacity for start, end in cut)
    too_long = oversized(read.sentence_starts, capacity)
    assert too_long == {n: sum(s) for n, s in enumerate(lengths) if sum(s) > capacity}
    starts = {read.word_starts[sentence.start] for sentence in read.sentences}
    if not too_long:
        assert {start for start, _ in cut} <= starts
    if max((n for sentence in lengths for n in sentence), default=0) <= capacity:
        assert {start for start, _ in cut} <= set(read.word_starts)


# odd input: what upstream does with it is in edge-cases.jsonl


AS_UPSTREAM = (
    "one word",
    "pronoun only",
    "two words",
    "space word",
    "newline word",
    "emoji",
    "speaker None entries",
    "sentence of exactly 94 subwords(b)",
)
REFUSED = {
    "unknown genre": "there is no genre 'xx'; write one of bc, bn,",
    "one-letter id": "there is no genre 'w'; write one of bc, bn,",
    "speaker shorter": "the speakers are not one for each word; give speakers in the shape",
}
READ_AS = {
    "empty-string word": ("", ["<unk>"]),
    "literal </s> word": ("</s>", ["Ġ", "<", "/", "s", ">"]),
    "literal <s> last": ("<pad>", ["Ġ", "<", "p", "ad", ">"]),
}
TOO_LONG = "sentence too long for window (b)"
# our documents cannot be without sentences, and their sentences have no names
ONE_SENTENCE = ("sent_id missing", "sent_id strings")


@pytest.mark.parametrize("edge", or_skipped("edge-cases.jsonl", edges()))
def test_edge_case(edge: str) -> None:
    section, case = edges()[edge]["config"], edges()[edge]["case"]
    if case in REFUSED:
        with pytest.raises(InputError, match=rf"^documents\[1\]: {REFUSED[case]}"):
            answers([f"{section}-empty doc", edge], section)
    elif case == TOO_LONG:
        with pytest.warns(OversizedSentenceWarning, match=r"\[0\]: sentence 0 has 95 "):
            assert answers([edge], section) == [[]]
    else:
        (found,) = answers([edge], section)
        assert well_formed(found, edge)
        assert (found == wanted(edge)) is True


def wanted(edge: str) -> list[Cluster]:
    """Return the answer that was chosen for an edge case."""
    section, case = edges()[edge]["config"], edges()[edge]["case"]
    upstream = case if case in AS_UPSTREAM else "speaker None entries"  # an ordinary sentence
    if case in (*AS_UPSTREAM, *ONE_SENTENCE):
        clusters = edges()[f"{section}-{upstream}"]["span_clusters"]
        return [[Span(*span) for span in cluster] for cluster in clusters]
    if case in READ_AS:
        return answer_with_subwords(document(edge), section, *READ_AS[case])
    if case == "sent_id noncontiguous":
        words = golden(edge)["input"]["cased_words"]  # its sentences are 0, 1 and 0 again
        return caw(section).cluster_documents([Document([words[:6], words[6:18], words[18:]])])[0]
    assert case == "empty doc", "no behaviour was chosen"
    return []


def answer_with_subwords(
    odd: Document, section: str, word: str, pieces: list[str]
) -> list[Cluster]:
    """Answer with another word in a word's place, whose subwords are told to the tokenizer."""
    assert sum(sentence.count(word) for sentence in odd.words) == 1
    other = [["instead" if w == word else w for w in sentence] for sentence in odd.words]
    told = caw(section)._tokenizer
    told._known["instead"] = told.tokenizer.convert_tokens_to_ids(pieces)
    try:
        return caw(section).cluster_documents([Document(other, odd.speakers, odd.genre)])[0]
    finally:
        del told._known["instead"]


def well_formed(clusters: list[Cluster], golden_id: str) -> bool:
    """Say whether clusters lie inside sentences; damaged scores would make one of all words."""
    borders = list(itertools.accumulate(map(len, document(golden_id).words), initial=0))
    sentences = [Span(*sentence) for sentence in itertools.pairwise(borders)]
    mentions = [span for cluster in clusters for span in cluster]
    inside = all(any(sentence.covers(span) for sentence in sentences) for span in mentions)
    all_words = len(mentions) == borders[-1] > 0
    return inside and all(start < end for start, end in mentions) and not all_words


def test_a_long_sentence_is_encoded_in_pieces() -> None:
    long = Document([["She", "left", "."], ["the"] * 300 + ["her"], ["He", "saw", "her", "."]])
    with pytest.warns(OversizedSentenceWarning) as caught:
        found = caw("tiny_b").cluster_documents([Document([["Go"]]), long, Document([[], []])])
    assert [str(warning.message) for warning in caught] == [
        "documents[1]: sentence 1 has 301 subwords and a window of caw holds 94; "
        "it was encoded in pieces"
    ]
    assert [len(clusters) > 0 for clusters in found] == [False, True, False]


def test_each_oversized_sentence_of_a_run_is_told_by_its_id(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, the = "the " * 95, Mention("the", 0, 3)
    chunks = [[ResolutionInstance(f"row-{n}", text, the, (the, the), 0)] for n in range(2)]
    with loud_warnings():
        for chunk in chunks:
            predict(caw("tiny_b"), chunk)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[:2] for line in lines] == [
        ["pronominal", f" id row-{n}"] for n in range(2)
    ]


# raw text


def web_texts() -> list[str]:
    """The goldens whose genre and speaker are those of raw text."""
    rows = goldens("clean").values()
    return [
        row["id"]
        for row in rows
        if row["input"]["document_id"].startswith("wb") and "speaker" not in row["input"]
    ]


def in_characters(golden_id: str, section: str) -> list[Cluster]:
    text, places, at = golden(golden_id)["text"], [], 0
    for word in golden(golden_id)["input"]["cased_words"]:
        at = text.index(word, at)
        places.append((at, at + len(word)))
        at += len(word)
    clusters = expected(golden_id, section)
    return contract_clusters(
        [[(places[start][0], places[end - 1][1]) for start, end in c] for c in clusters]
    )


@pytest.mark.parametrize("section", SECTIONS)
def test_raw_text(section: str) -> None:
    assert any(len(document(i).words) > 1 for i in web_texts())
    found = caw(section).cluster([golden(i)["text"] for i in web_texts()])
    wanted = [in_characters(i, section) for i in web_texts()]
    assert [i for i, f, w in zip(web_texts(), found, wanted, strict=True) if f != w] == []
    assert sum(map(len, wanted)) > 3


def test_words_of_raw_text() -> None:
    text = "👩‍🚒 met Ünal 𝔘 e\u0301, twice.  She\nleft. "
    read, places = EnglishWords().read(text)
    words = list(itertools.chain(*read.words))
    assert [text[start:end] for start, end in places] == words
    assert [sentence[-1] for sentence in read.words] == [".", "."]


def test_what_a_document_need_not_say() -> None:
    told = document("caw-clean-41")
    assert (told.genre, {*itertools.chain(*(told.speakers or []))}) == ("wb", {None})
    assert caw().cluster_documents([Document(told.words)]) == [expected("caw-clean-41", "tiny_a")]


def test_the_text_whose_scores_are_not_finite_is_named() -> None:
    embeddings = caw()._model.encoder.transformer.get_input_embeddings().weight
    (word,) = caw()._tokenizer.tokenizer(["?"], add_special_tokens=False)["input_ids"]
    kept = embeddings[word].clone()
    with torch.no_grad():
        embeddings[word] = torch.nan
        try:
            for method, among, question in (
                (caw().cluster, "texts", "Did it rain?"),
                (caw().cluster_documents, "documents", Document([["Did", "it", "rain", "?"]])),
            ):
                plain = "It rained all day." if among == "texts" else Document([["It", "rained"]])
                with pytest.raises(InputError, match=rf"{among}\[2\]: the scores are not finite"):
                    method([plain, plain, question, plain])
        finally:
            embeddings[word] = kept


def test_one_string_is_refused() -> None:
    with pytest.raises(InputError, match="the texts are one string; give a list of texts"):
        caw().cluster("She left.")


def test_texts_without_words() -> None:
    assert caw().cluster([]) == []
    assert caw().cluster(["", " ", "\n\t", "a", ""]) == [[]] * 5


# loading


def test_load_gives_a_clustering_system() -> None:
    ours = load("caw", str(CHECKPOINT), section="tiny_b", device="cpu", batch_size=2)
    assert isinstance(ours, CAW)
    assert kind_of(ours) == "clustering"
    assert (ours.name, ours.section, ours.batch_size, ours.self_check) == ("caw", "tiny_b", 2, ())
    assert (ours.dtype, ours.device, ours.engine) == ("float32", "cpu", "torch")
    assert ours.parameters > 0
    assert ours.checkpoint.name == str(CHECKPOINT)
    assert ours.checkpoint.digest != caw("tiny_a").checkpoint.digest


def test_load_needs_a_checkpoint() -> None:
    with pytest.raises(InputError, match=r"not on the Hub; download them .*caw=FOLDER") as caught:
        load("caw")
    assert str(SYSTEMS["caw"].weights) in str(caught.value)


def test_settings_that_are_refused() -> None:
    with pytest.raises(InputError, match="there is no device 'tpu9'"):
        CAW(str(CHECKPOINT), device="tpu9")
    with pytest.raises(InputError, match="give a batch size above 0"):
        CAW(str(CHECKPOINT), batch_size=0)


def test_load_and_use_change_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    def state() -> list[object]:
        speech = transformers.utils.logging
        return [
            random.getstate(),
            pickle.dumps(np.random.get_state()),
            torch.get_rng_state().tolist(),
            (speech.get_verbosity(), speech.is_progress_bar_enabled(), torch.is_grad_enabled()),
        ]

    before = state()
    CAW(str(CHECKPOINT), device="cpu").cluster([golden("caw-clean-00")["text"]])
    assert state() == before
    assert capfd.readouterr() == ("", "")

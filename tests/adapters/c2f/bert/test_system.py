"""The coarse-to-fine systems answer what upstream's programs answer, alone and in batches."""

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pronominal.adapters.c2f.bert.system", exc_type=ImportError)

import numpy as np
import torch
from torch import Tensor

from pronominal import Document, InputError, Span
from pronominal.adapters.c2f.bert.checkpoint import open_parts
from pronominal.adapters.c2f.bert.encoder import TransformerModel
from pronominal.adapters.c2f.bert.system import BERTCoref, SpanBERT
from pronominal.adapters.c2f.head.candidates import CandidateGrid
from pronominal.adapters.c2f.head.model import CoarseToFineHead
from pronominal.adapters.c2f.head.prediction import decode, predicted_antecedents
from pronominal.adapters.c2f.head.units import (
    AntecedentScores,
    Encoded,
    UnitBatch,
    Units,
    genre_number,
)
from pronominal.adapters.c2f.learning.training import marginal_loss
from pronominal.adapters.contract.refusals import NonFiniteScoresError, RefusedTextError
from pronominal.adapters.contract.systems import OversizedSentenceWarning
from pronominal.adapters.training.antecedents import GoldMentions
from pronominal.cli.progress import loud_warnings
from pronominal.eval.runs.runner import predict
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention

Golden = Callable[[str], Path]
WEIGHTS = {"torch": "model.bin", "tensorflow": "tf_checkpoint"}
FILES = ("goldens-clean-public.jsonl", "goldens-public.jsonl")
MANY_SPEAKERS = "c2f-186"
DEBUGGED = ("c2f-056", "c2f-179", "c2f-192")
TEXTS = [
    "The archivist waited for the sailor to return their ladder.",
    "Anna said that she was tired. Her brother was not, and he told her so.",
    "",
    " \n",
    "Oh.",
]


@pytest.fixture(scope="module")
def folder(c2f: Path) -> Path:
    return c2f


@functools.cache
def rows(folder: Path) -> list[dict[str, Any]]:
    files = (folder / file for file in FILES if (folder / file).exists())
    lines = chain.from_iterable(file.read_text().splitlines() for file in files)
    return [json.loads(line) for line in lines]


def to_units(given: dict[str, Any]) -> Units:
    """Say in our form what a line of upstream's input says."""
    segments = [number for number, pieces in enumerate(given["sentences"]) for _ in pieces]
    return Units(
        strings=list(chain(*given["sentences"])),
        sentences=given["sentence_map"],
        segments=segments,
        speakers=list(chain(*given["speakers"])),
        words=given["subtoken_map"],
        genre=given["doc_key"][:2],
    )


def to_document(raw: dict[str, Any], key: str) -> Document:
    speakers = [
        [speaker] * len(words) for words, speaker in zip(raw["words"], raw["speakers"], strict=True)
    ]
    return Document(raw["words"], speakers, key[:2])


@functools.cache
def model(folder: Path, weights: Any = "torch", depth: int = 2) -> TransformerModel:
    parts = open_parts(str(folder), weights)
    found = parts.model
    if depth != 2:
        head = CoarseToFineHead(replace(found.head.config, depth=depth)).eval()
        head.load_state_dict(found.head.state_dict())
        found.head = head
    return found


@torch.inference_mode()
def answers(network: TransformerModel, units: list[Units], batch: int) -> list[AntecedentScores]:
    parts = [units[first : first + batch] for first in range(0, len(units), batch)]
    return list(chain.from_iterable(network(part) for part in parts))


def inclusive(clusters: list[list[Span]]) -> list[list[list[int]]]:
    return [[[start, end - 1] for start, end in cluster] for cluster in clusters]


def expected_clusters(row: dict[str, Any], weights: str, depth: int) -> Any:
    expected = row["expected"]
    if depth == 1:
        return expected["predicted_clusters_depth1"]
    if weights == "tensorflow" and row["id"] == MANY_SPEAKERS:
        return expected["tf_predicted_clusters"]
    return expected["predicted_clusters"]


@pytest.mark.parametrize("batch", [1, 64], ids=["alone", "batched"])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_answers_are_upstreams(
    folder: Path, golden: Golden, weights: str, depth: int, batch: int
) -> None:
    golden(WEIGHTS[weights])
    units = [to_units(row["input"]) for row in rows(folder)]
    found = answers(model(folder, weights, depth), units, batch)
    wrong = []
    for row, scores in zip(rows(folder), found, strict=True):
        if weights == "tensorflow" and depth == 1 and row["id"] == MANY_SPEAKERS:
            continue  # upstream's program was not run so
        if inclusive(decode(scores)) != expected_clusters(row, weights, depth):
            wrong.append(row["id"])
    assert not wrong


def rounded_alike(ours: Tensor, theirs: list[float], scores: AntecedentScores) -> bool:
    """Compare two computations, each up to 12 roundings of the largest score from float64.

    Theirs are written with five decimals.
    """
    largest = max(
        part[part.isfinite()].abs().max() for part in (scores.mention_scores, scores.scores)
    )
    atol = 24 * torch.finfo(torch.float32).eps * float(largest) + 5e-6
    return np.allclose(ours, theirs, rtol=0, atol=atol)


@pytest.mark.parametrize("batch", [1, 64], ids=["alone", "batched"])
def test_spans_and_antecedents_are_upstreams(folder: Path, batch: int) -> None:
    units = [to_units(row["input"]) for row in rows(folder)]
    wrong = []
    for row, scores in zip(rows(folder), answers(model(folder), units, batch), strict=True):
        expected = row["expected"]
        spans = [list(span) for span in zip(scores.starts, scores.ends - 1, strict=True)]
        real = [
            sorted(span for span, score in zip(*pair, strict=True) if score > -torch.inf)
            for pair in zip(scores.antecedents.tolist(), scores.scores[:, 1:].tolist(), strict=True)
        ]
        same = [
            [[int(start), int(end)] for start, end in spans] == expected["top_spans"],
            real == expected["top_antecedents"],
            predicted_antecedents(scores) == expected["predicted_antecedents"],
            rounded_alike(scores.mention_scores, expected["top_span_mention_scores"], scores),
            rounded_alike(scores.scores.amax(1), expected["best_antecedent_scores"], scores),
        ]
        if not all(same):
            wrong.append((row["id"], same))
    assert not wrong


def test_candidates_are_upstreams(folder: Path) -> None:
    wrong = []
    for row in rows(folder):
        grid = CandidateGrid.of(torch.tensor(row["input"]["sentence_map"]), 12)
        if int(grid.inside.sum()) != row["expected"]["num_candidate_spans"]:
            wrong.append(row["id"])
    assert not wrong


@pytest.mark.parametrize("name", DEBUGGED)
def test_intermediate_tensors_are_upstreams(folder: Path, golden: Golden, name: str) -> None:
    """Each stage is given what upstream gave it, for rounding adds up over the stages.

    Upstream's own last scores are 1.2e-5 away from those of the same computation in float64.
    """
    arrays = np.load(golden("debug-tensors.npz"))
    theirs = {key.removeprefix(f"{name}."): value for key, value in arrays.items()}
    (row,) = (row for row in rows(folder) if row["id"] == name)
    network, units = model(folder), to_units(row["input"])
    lengths = [len(list(run)) for _, run in groupby(units.segments)]
    segments = zip(theirs["bert_last_hidden"], lengths, strict=True)
    hidden = torch.from_numpy(np.concatenate([rows[:length] for rows, length in segments]))
    with torch.inference_mode():
        (encoded,) = network.encoder([units])
        attention, candidates = head_stages(network.head, hidden, units)
        (scores,) = network.head([Encoded(hidden, hidden)], [units])
    close(encoded.boundary, hidden)
    close(attention, theirs["token_attn"][:, 0])
    close(candidates, theirs["candidate_mention_scores"])
    assert scores.starts.tolist() == theirs["top_span_starts"].tolist()
    order, ours = by_antecedent(scores.antecedents.numpy(), scores.scores[:, 1:].numpy())
    their_order, their_scores = by_antecedent(
        theirs["top_antecedent_idx"], theirs["top_antecedent_scores"][:, 1:]
    )
    assert np.array_equal(order, their_order)
    close(ours, their_scores)


def close(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-5)


def head_stages(head: CoarseToFineHead, hidden: Tensor, units: Units) -> tuple[Tensor, Tensor]:
    """Return how much of a head each piece is, and the mention score of each candidate."""
    batch = UnitBatch.of([Encoded(hidden, hidden)], [units], head.config)
    grid = CandidateGrid.of(batch.sentences, head.config.max_span_width)
    logits = head.mention_token_attn(hidden).squeeze(1)
    widths = head.emb_span_width.weight[: grid.width].expand(len(hidden), -1, -1)
    found = head.mention_scores(batch, grid, grid.attention(logits), widths)
    return logits, found[grid.inside]


def by_antecedent(spans: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Order each row's antecedents by number, the fillers, whose order means nothing, last."""
    spans = np.where(np.isfinite(scores), spans, 10**6)
    order = spans.argsort(axis=1, kind="stable")
    return np.take_along_axis(spans, order, 1), np.take_along_axis(scores, order, 1)


@pytest.mark.parametrize("depth", [1, 2])
def test_loss_is_upstreams(folder: Path, golden: Golden, depth: int) -> None:
    golden(FILES[1])  # the other file has no losses
    key = "loss_eval_mode" if depth == 2 else "loss_eval_mode_depth1"
    labelled = [row for row in rows(folder) if key in row["expected"]]
    assert labelled
    found = answers(model(folder, "torch", depth), [to_units(r["input"]) for r in labelled], 64)
    losses = [
        float(marginal_loss(scores, gold_of(row["input"])))
        for scores, row in zip(found, labelled, strict=True)
    ]
    np.testing.assert_allclose(losses, [row["expected"][key] for row in labelled], rtol=1e-4)


def gold_of(given: dict[str, Any]) -> GoldMentions:
    return GoldMentions([[Span(a, b + 1) for a, b in cluster] for cluster in given["clusters"]])


def test_dropout_hides_in_training_alone(folder: Path) -> None:
    parts = open_parts(str(folder), "torch")
    row = next(row for row in rows(folder) if row["id"] == "c2fc-080")
    network, units = parts.model, [to_units(row["input"])]
    one, other = (answers(network.train(), units, 1)[0].mention_scores for _ in range(2))
    assert not torch.equal(one, other)
    again = (answers(network.eval(), units, 1)[0].scores for _ in range(2))
    assert torch.equal(*again)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_documents_in_words(folder: Path, golden: Golden, weights: Any) -> None:
    golden(WEIGHTS[weights])
    system = SpanBERT(str(folder), weights=weights, device="cpu")
    given = [row for row in rows(folder) if "words" in row["raw"]]
    documents = [to_document(row["raw"], row["input"]["doc_key"]) for row in given]
    with pytest.warns(OversizedSentenceWarning, match=r"documents\[\d+\]: sentence 0 has"):
        together = system.cluster_documents(documents)
    wrong = [
        row["id"]
        for row, clusters in zip(given, together, strict=True)
        if inclusive(clusters) != row["expected"]["predicted_clusters_words"]
        and row["id"] != MANY_SPEAKERS
    ]
    assert not wrong
    assert system.widened_spans > 0
    assert system.cluster_documents(documents[:3][::-1]) == together[:3][::-1]


def test_each_oversized_sentence_of_a_run_is_told_by_its_id(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, the = "the " * 100, Mention("the", 0, 3)
    chunks = [[ResolutionInstance(f"row-{n}", text, the, (the, the), 0)] for n in range(2)]
    system = SpanBERT(str(folder), device="cpu")
    with loud_warnings():
        for chunk in chunks:
            predict(system, chunk)
    assert capsys.readouterr().err.splitlines() == [
        f"pronominal: id row-{n}: sentence 0 has 100 subwords and a window of spanbert holds 78; "
        "it was encoded in pieces"
        for n in range(2)
    ]


def test_texts(folder: Path) -> None:
    system = SpanBERT(str(folder), device="cpu")
    together = system.cluster(TEXTS)
    assert [system.cluster([text])[0] for text in TEXTS] == together
    assert system.cluster(TEXTS[::-1]) == together[::-1]
    assert together[0]
    assert not any(together[2:])
    for text, clusters in zip(TEXTS, together, strict=True):
        for span in chain.from_iterable(clusters):
            before, inside = text[: span.start][-1:], text[span.start : span.end]
            assert inside == inside.strip() != ""
            assert not (before + inside[0]).isalnum() or not before


def test_winopron_input_is_what_the_authors_fed(folder: Path) -> None:
    system = SpanBERT(str(folder), text_input="winopron", device="cpu")
    given = [row for row in rows(folder) if "text" in row["raw"]]
    found = system.cluster([row["raw"]["text"] for row in given])
    for row, clusters in zip(given, found, strict=True):
        words = row["expected"]["predicted_clusters_words"]
        different = [{tuple(span) for span in cluster} for cluster in words]
        # [CLS] and [SEP] have no characters, so spans that differ in them alone are one
        assert len(clusters) <= sum(len(cluster) > 1 for cluster in different), row["id"]
    assert system.cluster(["", " "]) == [[], []]
    with pytest.raises(RefusedTextError, match=r"texts\[1\].*word pieces"):
        system.cluster(["Short.", "word " * 200])


def test_names(folder: Path) -> None:
    assert BERTCoref(str(folder), device="cpu").name == "bert-coref"
    with pytest.raises(InputError, match="did you mean 'winopron'"):
        SpanBERT(str(folder), text_input="winpron")
    with pytest.raises(InputError, match="did you mean 'tensorflow'"):
        SpanBERT(str(folder), weights="tensorfow")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a batch of 0"):
        SpanBERT(str(folder), batch_size=0)


def test_scores_that_are_not_finite_name_their_document(folder: Path) -> None:
    system = SpanBERT(str(folder), device="cpu")
    embeddings = system._model.encoder.bert.embeddings.word_embeddings.weight
    embeddings[system._tokenizer.numbers["##ad"]] = torch.nan
    with pytest.raises(RefusedTextError, match=r"texts\[1\]: the scores are not finite"):
        system.cluster([TEXTS[1], TEXTS[0], TEXTS[1]])


@pytest.mark.parametrize("length", range(4))
def test_documents_that_keep_nothing(folder: Path, length: int) -> None:
    units = Units(["[CLS]"] * length, [0] * length, [0] * length, ["-"] * length, [0] * length)
    whole = next(to_units(row["input"]) for row in rows(folder))
    alone, _, again = answers(model(folder), [units, whole, units], 3)
    assert len(alone.starts) == len(again.starts) == int(length * 0.4)
    assert decode(alone) == []


def test_head_refuses_nan(folder: Path) -> None:
    network = model(folder)
    units = [to_units(row["input"]) for row in rows(folder)[:3]]
    with torch.inference_mode():
        encoded = network.encoder(units)
        faulty = encoded[1]._replace(boundary=encoded[1].boundary.clone().fill_(torch.nan))
        with pytest.raises(NonFiniteScoresError) as refused:
            network.head([encoded[0], faulty, encoded[2]], units)
    assert refused.value.document == 1


def test_genres(folder: Path) -> None:
    config = model(folder).head.config
    assert [genre_number(genre, config) for genre in ("bc", "wb", "dw", None)] == [0, 6, 0, 0]

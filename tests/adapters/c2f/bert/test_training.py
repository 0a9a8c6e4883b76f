"""BERT and SpanBERT learn as upstream's programs make them learn, by either recipe."""

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pronominal.adapters.c2f.bert.system", exc_type=ImportError)
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn

from pronominal import Document, InputError, Span
from pronominal.adapters import load
from pronominal.adapters.c2f.bert.checkpoint import open_parts
from pronominal.adapters.c2f.bert.pieces import WordPieces
from pronominal.adapters.c2f.bert.system import SpanBERT
from pronominal.adapters.c2f.bert.training import (
    SIZES,
    TrainableTransformer,
    open_transformer,
)
from pronominal.adapters.c2f.bert.training_settings import (
    Recipe,
    TransformerRates,
    TransformerTraining,
)
from pronominal.adapters.c2f.bert.variables import sources
from pronominal.adapters.c2f.e2e.embeddings import WordVectors, write_word_piece_vectors
from pronominal.adapters.c2f.head.units import Units
from pronominal.adapters.c2f.learning.documents import (
    TrainingDocument,
    Windows,
    unit_clusters,
    window,
    word_clusters,
)
from tests.eval.training.coreference_rows import run, write_rows

pytestmark = pytest.mark.usefixtures("blank_pictures")

RECIPES: dict[Recipe, str] = {
    "coref-hoi": "trajectory_coref_hoi",
    "tensorflow": "trajectory_tf_mandarjoshi90",
}
Golden = Callable[[str], Path]
TRAINING = ("train-goldens-clean.json", "train-goldens.json")


def training_document(record: dict[str, Any]) -> TrainingDocument:
    """Say in our form what a line of upstream's input says, whose clusters are in pieces."""
    units = Units(
        strings=[*chain(*record["sentences"])],
        sentences=record["sentence_map"],
        segments=[n for n, sentence in enumerate(record["sentences"]) for _ in sentence],
        speakers=[*chain(*record["speakers"])],
        words=record["subtoken_map"],
        genre=record["doc_key"][:2],
    )
    clusters = [[Span(a, b + 1) for a, b in cluster] for cluster in record["clusters"]]
    return TrainingDocument(units, clusters, Document(record["sentences"]), 0)


def without_dropout(model: nn.Module) -> nn.Module:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0
    return model.train()


def trainable(folder: Path, recipe: Recipe) -> TrainableTransformer:
    rates = TransformerRates(1e-5, 3e-5)
    return open_transformer(TransformerTraining(checkpoint=str(folder), recipe=recipe, rates=rates))


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("file", TRAINING)
def test_a_trajectory(c2f: Path, golden: Golden, file: str, recipe: Recipe) -> None:
    recorded = json.loads(golden(file).read_text(encoding="utf-8"))
    wanted = recorded[RECIPES[recipe]]
    documents = [training_document(one["input"]) for one in recorded["documents"]]
    system = trainable(c2f, recipe)
    model = without_dropout(system.new_model())
    optimisers, schedules = system.optimisation(model, updates=20)
    found = []
    for number in range(len(wanted["losses"])):
        loss = system.loss(model, [documents[number % len(documents)]], 1)
        loss.backward()  # type: ignore[no-untyped-call]
        found.append(float(loss.detach()))
        for one in (*optimisers, *schedules):
            one.step()
        for optimiser in optimisers:
            optimiser.zero_grad()
    assert found == pytest.approx([loss for _, loss in wanted["losses"]], rel=2e-5)
    norms = wanted["final_parameter_norms"]
    ours = {name: float(weight.detach().norm()) for name, weight in canonical(model).items()}
    if recipe == "tensorflow":
        # no transpose and no change of columns changes a norm
        norms = {source.ours: norms[source.theirs[0]] for source in sources(norms)}
        # its gradient is nothing but rounding errors, which this Adam follows as far as any other
        del norms["mention_token_attn.bias"], ours["mention_token_attn.bias"]
    assert {name for name in norms if "pooler" not in name} == ours.keys()
    for name, norm in ours.items():
        assert norm == pytest.approx(norms[name], rel=1e-5, abs=1e-6), name


def test_the_mentions_of_a_partial_annotation_are_kept(c2f: Path, golden: Golden) -> None:
    recorded = json.loads(golden(TRAINING[0]).read_text(encoding="utf-8"))
    system = trainable(c2f, "coref-hoi")
    model = system.new_model().eval()
    for one in recorded["documents"]:
        whole = training_document(one["input"])
        partial = replace(whole, complete=False)
        with torch.no_grad():
            (scores,) = system.scores(model, [partial.with_mentions_kept()])
            assert system.loss(model, [partial], 1).isfinite()
        kept = {*zip(scores.starts.tolist(), scores.ends.tolist(), strict=True)}
        assert kept >= {*chain.from_iterable(whole.clusters)}
        assert whole.with_mentions_kept() is whole


@pytest.mark.parametrize("file", TRAINING)
def test_gradients(c2f: Path, golden: Golden, file: str) -> None:
    recorded = json.loads(golden(file).read_text(encoding="utf-8"))
    documents = {one["id"]: training_document(one["input"]) for one in recorded["documents"]}
    system = trainable(c2f, "coref-hoi")
    for name, norms in recorded["gradient_norms_unclipped"].items():
        model = system.new_model().eval()
        system.loss(model, [documents[name]], 1).backward()  # type: ignore[no-untyped-call]
        gradients = {
            key: weight.grad.norm()
            for key, weight in canonical(model).items()
            if weight.grad is not None
        }
        for key, norm in norms.items():
            # biases that shift all scores alike have a gradient of rounding errors alone
            assert float(gradients[key]) == pytest.approx(norm, rel=1e-4, abs=1e-4), key


def canonical(model: nn.Module) -> dict[str, nn.Parameter]:
    return {
        name.removeprefix("encoder.").removeprefix("head."): weight
        for name, weight in model.named_parameters()
    }


def test_the_loss_in_evaluation_mode(c2f: Path, golden: Golden) -> None:
    recorded = json.loads(golden(TRAINING[1]).read_text(encoding="utf-8"))
    system = trainable(c2f, "coref-hoi")
    model = system.new_model().eval()
    documents = [training_document(one["input"]) for one in recorded["documents"]]
    wanted = [recorded["loss_eval_mode"][one["id"]]["depth2"] for one in recorded["documents"]]
    with torch.inference_mode():
        alone = [float(system.loss(model, [one], 1)) for one in documents]
        together = float(system.loss(model, documents, len(documents)))
    assert alone == pytest.approx(wanted, rel=1e-5)
    assert together == pytest.approx(sum(alone) / len(alone), rel=1e-5)


def test_windows_are_upstreams(golden: Golden) -> None:
    recorded = json.loads(golden("truncation-goldens.json").read_text(encoding="utf-8"))
    for one in recorded:
        whole = training_document(one["input"])
        part = window(whole, one["sentence_offset"], len(one["sentence_len"]))
        assert len(part.units) == sum(one["sentence_len"]) == one["num_sentence_map"]
        assert part.units.sentences[0] == one["sentence_map_first"]
        found = sorted((s.start, s.end - 1) for cluster in part.clusters for s in cluster)
        assert found == sorted(zip(one["gold_starts"], one["gold_ends"], strict=True))
        of_cluster: dict[int, set[tuple[int, int]]] = {}
        rows = zip(
            one["gold_starts"], one["gold_ends"], one["gold_mention_cluster_map"], strict=True
        )
        for start, end, cluster in rows:
            of_cluster.setdefault(cluster, set()).add((start, end))
        ours = [{(s.start, s.end - 1) for s in cluster} for cluster in part.clusters]
        assert sorted(map(sorted, ours)) == sorted(map(sorted, of_cluster.values()))


def numbered(segments: int) -> TrainingDocument:
    columns = [n for n in range(segments) for _ in range(3)]
    strings = [str(n) for n in range(len(columns))]
    units = Units(strings, columns, columns, [""] * len(strings), range(len(strings)))
    return TrainingDocument(units, [], Document([strings]), 2)


def test_windows_are_drawn_anew_or_once() -> None:
    whole = numbered(9)
    anew, once = Windows(3, "every epoch", seed=1), Windows(3, "once", seed=1)
    starts = [anew.cut(whole, 0, epoch).first_unit // 3 for epoch in range(60)]
    assert {*starts} == {*range(7)}  # both ends included
    assert starts == [anew.cut(whole, 0, epoch).first_unit // 3 for epoch in range(60)]
    assert len({once.cut(whole, 0, epoch).first_unit for epoch in range(20)}) == 1
    assert len({once.cut(whole, number, 0).first_unit for number in range(20)}) > 1
    assert anew.cut(numbered(3), 0, 0) == numbered(3)


def test_words_to_pieces_and_back(c2f: Path) -> None:
    system = trainable(c2f, "coref-hoi")
    document = Document([["Unbelievably", ",", "Zygmunt", "left", "."], ["She", "waved", "."]])
    units = system.units(document, "a document")
    gold = [[Span(0, 1), Span(2, 3)], [Span(2, 4), Span(5, 6)]]
    pieces = unit_clusters(units, gold)
    assert any(end - start > 1 for start, end in pieces[0])
    assert word_clusters(units, pieces) == gold
    assert word_clusters(units, [[Span(0, 1), pieces[0][0]]]) == []  # [CLS] is no word


def write_encoder(c2f: Path, folder: Path) -> Path:
    """Lay out the golden checkpoint's encoder as transformers saves one."""
    bert: Any = open_parts(str(c2f)).model.encoder.bert
    bert.save_pretrained(folder)
    vocabulary = WordPieces(c2f / "vocab.txt").numbers
    transformers.BertTokenizer(vocabulary, do_lower_case=False).save_pretrained(folder)
    assert not (folder / "vocab.txt").exists()
    return folder


@pytest.mark.parametrize("recipe", RECIPES)
def test_one_command_trains_what_spanbert_loads(
    c2f: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: str
) -> None:
    monkeypatch.setitem(SIZES, "small", {**SIZES["small"], "ffnn_size": 20, "feature_emb_size": 4})
    rows = write_rows(tmp_path / "own.jsonl", 12)
    encoder = write_encoder(c2f, tmp_path / "encoder")
    given = ("--encoder", encoder, "--data", rows, "--out", tmp_path / "out")
    options = ("--size", "small", "--recipe", recipe, "--updates", 4, "--switching")
    assert run(("train", "c2f", *given, *options)) == 0
    folder = tmp_path / "out" / "seed-1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # after four updates it clusters nothing
        system = load("spanbert", checkpoint=str(folder))
    assert isinstance(system, SpanBERT)
    assert len(system.cluster(["Anna waved.", "She left."])) == 2
    config = json.loads((folder / "config.json").read_text())
    assert config["limit_speakers"] == (recipe == "tensorflow")
    again = open_transformer(TransformerTraining(checkpoint=str(folder)))
    assert again.window == 3


def test_a_published_checkpoint_is_trained_on_with_segments_of_its_length(
    golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = (golden(name) for name in ("bert_config.json", "vocab.txt"))
    for file in (*golden("tf_checkpoint").iterdir(), *tables):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.setattr(SpanBERT, "segment_lengths", {48: 64})
    asked = TransformerTraining(checkpoint=str(tmp_path), recipe="tensorflow")
    units = open_transformer(asked).units(Document([["Anna"] * 200]), "document 0")
    assert [*units.segments].count(0) == 64


def test_another_encoder_than_bert_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "gpt2"}')
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match="gpt2"):
        open_transformer(TransformerTraining(encoder=str(tmp_path), size="small"))


def test_an_encoder_without_all_weights_is_refused(c2f: Path, tmp_path: Path) -> None:
    encoder = write_encoder(c2f, tmp_path / "encoder")
    tensors = load_file(encoder / "model.safetensors")
    del tensors["encoder.layer.1.output.dense.bias"]
    save_file(tensors, encoder / "model.safetensors")
    with pytest.raises(InputError, match=r"hold no encoder\.layer\.1\.output\.dense\.bias"):
        open_transformer(TransformerTraining(encoder=str(encoder), size="small"))


def test_word_vectors_from_an_encoder(c2f: Path, tmp_path: Path) -> None:
    encoder = write_encoder(c2f, tmp_path / "encoder")
    for name in ("one.txt", "other.txt"):
        write_word_piece_vectors(str(encoder), ["Zygmunt", "white space", ","], 7, tmp_path / name)
    written = (tmp_path / "one.txt").read_bytes()
    assert written == (tmp_path / "other.txt").read_bytes()
    vectors = WordVectors(tmp_path / "one.txt", 7)
    assert vectors.vectors(["Zygmunt", ","]).any(axis=1).all()
    assert b"white space" not in written
    with pytest.raises(InputError, match="vectors of 900 numbers"):
        write_word_piece_vectors(str(encoder), ["a"], 900, tmp_path / "three.txt")

"""Stanza's coreference: the package's own network, tiny and random, answers as its pipeline."""

import logging
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from stanza.models.common.doc import Document as StanzaDocument
from stanza.models.coref.config import Config
from stanza.models.coref.model import CorefModel
from stanza.pipeline.coref_processor import CorefProcessor

from pronominal import Document, InputError, Span
from pronominal.adapters import load
from pronominal.adapters.contract.self_check import SelfCheckWarning
from tests.conftest import ROOT

TOKENIZER = ROOT / "tests" / "goldens" / "fcoref" / "checkpoint"

SETTINGS: dict[str, Any] = {
    **dict.fromkeys(("section", "save_name"), "tiny"),
    **dict.fromkeys(("data_dir", "save_dir", "conll_log_dir", "lang_lr_attenuation"), ""),
    **dict.fromkeys(("train_data", "dev_data", "test_data", "lang_lr_weights"), ""),
    **dict.fromkeys(("lora", "save_each_checkpoint", "log_norms", "singletons"), False),
    **dict.fromkeys(("use_zeros", "clusters_starts_are_singletons"), False),
    **dict.fromkeys(("bert_finetune", "full_pairwise"), True),
    **dict.fromkeys(("lora_alpha", "lora_rank", "n_hidden_layers", "train_epochs"), 1),
    **dict.fromkeys(("lora_dropout", "dropout_rate", "bert_finetune_begin_epoch"), 0.0),
    **dict.fromkeys(("learning_rate", "bert_learning_rate", "bce_loss_weight"), 0.5),
    **dict.fromkeys(("lora_target_modules", "lora_modules_to_save"), ()),
    **{"device": "cpu", "bert_window_size": 512, "embedding_size": 4, "sp_embedding_size": 64},
    **{"a_scoring_batch_size": 512, "hidden_size": 8, "max_span_len": 64, "rough_k": 50},
    **{"tokenizer_kwargs": {}, "max_train_len": 5000, "plateau_epochs": 0},
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as Stanza downloads it, with an encoder beside it."""
    folder = tmp_path_factory.mktemp("stanza")
    encoder = folder / "encoder"
    shutil.copytree(TOKENIZER, encoder, ignore=shutil.ignore_patterns("config.json", "*.safetens*"))
    size = len(transformers.AutoTokenizer.from_pretrained(encoder))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = transformers.RobertaConfig(
            vocab_size=size,
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=16,
            max_position_embeddings=514,
        )
        transformers.RobertaModel(config).save_pretrained(encoder)
        model = CorefModel(
            build_optimizers=False, config=Config(**SETTINGS, bert_model=str(encoder))
        )
    (folder / "coref").mkdir()
    model.save_weights(str(folder / "coref" / "tiny.pt"), save_optimizers=False)
    return folder / "coref"


@pytest.fixture(scope="module")
def system(checkpoint: Path) -> Any:
    return load("stanza", str(checkpoint), device="cpu")


SENTENCES = [
    ["Ann", "said", "that", "she", "slept", "."],
    ["Then", "Eve", "met", "her", "🐌", "friend", "."],
]
TEXT = "Ann said that she slept.  Then Eve met her \n 🐌 friend."


def upstream(system: Any, sentences: list[list[str]]) -> list[list[tuple[int, int]]]:
    """What Stanza's own pipeline puts into a document, as spans of words."""
    processor = CorefProcessor.__new__(CorefProcessor)
    processor._model, processor._use_zeros = system._model, False
    words = [[{"id": (i,), "text": w} for i, w in enumerate(one, 1)] for one in sentences]
    document = processor.process(StanzaDocument(words))
    first = [sum(map(len, sentences[:number])) for number in range(len(sentences))]
    return [
        [(first[m.sentence] + m.start_word, first[m.sentence] + m.end_word) for m in chain.mentions]
        for chain in document.coref
    ]


def test_clusters_are_those_of_stanzas_pipeline(system: Any) -> None:
    (found,) = system.cluster_documents([Document(SENTENCES)])
    assert [sorted(cluster) for cluster in found] == upstream(system, SENTENCES)
    assert sum(map(len, found)) > 3


def test_offsets_are_those_of_the_text(system: Any) -> None:
    (in_words,) = system.cluster_documents([Document(SENTENCES)])
    places, start = [], 0
    for word in (word for sentence in SENTENCES for word in sentence):
        start = TEXT.index(word, start)
        places.append((start, start + len(word)))
        start += len(word)
    (found,) = system.cluster([TEXT])
    assert found == [
        [Span(places[start][0], places[end - 1][1]) for start, end in cluster]
        for cluster in in_words
    ]


def test_an_answer_does_not_depend_on_its_neighbours(system: Any) -> None:
    texts = [TEXT, "", " \n", "Eve slept because she was tired.", "Rain."]
    alone = [system.cluster([text])[0] for text in texts]
    assert system.cluster(texts) == alone
    assert system.cluster(texts[::-1]) == alone[::-1]
    assert alone[1] == alone[2] == []
    with pytest.raises(InputError, match="the texts are one string"):
        system.cluster(TEXT)


def test_speakers_are_given_on(system: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, build = [], system._model.build_doc

    def keep(doc: dict[str, Any]) -> Any:
        asked.append(doc["speaker"])
        return build(doc)

    monkeypatch.setattr(system._model, "build_doc", keep)
    speakers = [["A"] * 6, ["B"] * 7]
    system.cluster_documents([Document(SENTENCES, speakers), Document(SENTENCES)])
    assert asked == [["A"] * 6 + ["B"] * 7, ["_"] * 13]
    with pytest.raises(InputError, match=r"documents\[0\]: the speakers are not one for each word"):
        system.cluster_documents([Document(SENTENCES, [["A"] * 13])])


def test_scores_that_are_not_finite(system: Any) -> None:
    weight = system._model.a_scorer.out.weight
    kept = weight.clone()
    with torch.no_grad():
        weight.fill_(torch.nan)
        try:
            with pytest.raises(InputError, match=r"texts\[1\]: the scores are not finite"):
                system.cluster(["", TEXT])
        finally:
            weight.copy_(kept)


def test_loading_is_silent_and_asks_no_network(
    checkpoint: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("network"))
    caplog.set_level(logging.DEBUG, "stanza")
    load("stanza", str(checkpoint), device="cpu")
    assert logging.getLogger("stanza").level == logging.DEBUG
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.name == "stanza"] == []


class Payload:
    """Harmless: leaves a file where unpickling runs code."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


def test_a_pickle_runs_no_code(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    torch.save({"config": Payload(trace)}, tmp_path / "model.pt")
    with pytest.raises(InputError, match="it is no coreference model of Stanza"):
        load("stanza", str(tmp_path), device="cpu")
    assert not trace.exists()
    torch.load(tmp_path / "model.pt", weights_only=False)
    assert trace.exists()  # the payload works


def test_an_encoder_that_is_not_there(checkpoint: Path, tmp_path: Path) -> None:
    entries = torch.load(checkpoint / "tiny.pt", weights_only=True)
    entries["config"]["bert_model"] = "pronominal-tests/nothing"
    torch.save(entries, tmp_path / "tiny.pt")
    with pytest.raises(InputError, match="or its encoder is not available") as caught:
        load("stanza", str(tmp_path), device="cpu")
    assert "\n" not in str(caught.value)


def test_folders_without_exactly_one_model(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no \*.pt"):
        load("stanza", str(tmp_path))
    for name in ("a.pt", "b.pt"):
        shutil.copy(checkpoint / "tiny.pt", tmp_path / name)
    with pytest.raises(InputError, match="there are 2 models; give a folder with one"):
        load("stanza", str(tmp_path))


def test_a_model_that_links_nothing_is_announced(checkpoint: Path, tmp_path: Path) -> None:
    entries = torch.load(checkpoint / "tiny.pt", weights_only=True)
    for name in ("weight", "bias"):
        entries["rough_scorer"][f"bilinear.{name}"].zero_()
        entries["a_scorer"][f"out.{name}"].zero_()
    entries["a_scorer"]["out.bias"] -= 1e6
    torch.save(entries, tmp_path / "tiny.pt")
    with pytest.warns(SelfCheckWarning, match="no cluster in any of 6 plain sentences"):
        load("stanza", str(tmp_path), device="cpu")

"""What LingMess and FCoref have in common; what sets them apart has a file for each."""

import json
import logging
import pickle
import random
import shutil
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.conftest import ROOT

if find_spec("fastcoref") is None:
    pytest.skip("needs the extra lingmess", allow_module_level=True)

import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file

from pronominal.adapters import SYSTEMS, kind_of, load
from pronominal.adapters.contract.self_check import SelfCheckWarning
from pronominal.adapters.fastcoref import package as fastcoref_package
from pronominal.errors import InputError
from pronominal.spans import Span
from tests.adapters.fastcoref import checkpoints as tiny
from tests.adapters.fastcoref.checkpoints import FILES, SENTENCES, Tensors

NAMES = pytest.mark.parametrize("name", tiny.SYSTEMS)


def no_goldens(file: str) -> str:
    return f"{file} is not beside the repository"


def golden_ids() -> list[Any]:
    ids: list[Any] = []
    for name in tiny.SYSTEMS:
        for file in FILES:
            absent = pytest.param(name, file, "", marks=pytest.mark.skip(reason=no_goldens(file)))
            ids += [(name, file, golden) for golden in tiny.goldens(name, file)] or [absent]
    return ids


@pytest.mark.parametrize(("name", "file", "golden"), golden_ids())
def test_a_golden_alone(name: str, file: str, golden: str) -> None:
    text, expected = tiny.goldens(name, file)[golden]
    found = tiny.tiny(name).cluster([text])
    assert (found == [expected]) is True


@pytest.mark.parametrize("file", FILES)
@NAMES
def test_goldens_in_shuffled_batches_of_every_size(
    name: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = list(tiny.goldens(name, file).items())
    if not rows:
        pytest.skip(no_goldens(file))
    system = tiny.tiny(name)
    lengths = Counter(e["length"] for e in system._encoded([text for _, (text, _) in rows]))
    for size in range(1, max(lengths.values()) + 1):  # a larger batch would be the same
        random.Random(size).shuffle(rows)
        monkeypatch.setattr(system, "batch_size", size)
        found = system.cluster([text for _, (text, _) in rows])
        wrong = [i for (i, (_, expected)), f in zip(rows, found, strict=True) if f != expected]
        assert wrong == [], size


@pytest.mark.parametrize("file", FILES)
@NAMES
def test_goldens_in_calls_of_every_size(name: str, file: str) -> None:
    rows = list(tiny.goldens(name, file).items())
    if not rows:
        pytest.skip(no_goldens(file))
    for size in (7, len(rows)):
        random.Random(size).shuffle(rows)
        for first in range(0, len(rows), size):
            part = rows[first : first + size]
            found = tiny.tiny(name).cluster([text for _, (text, _) in part])
            wrong = [i for (i, (_, expected)), f in zip(part, found, strict=True) if f != expected]
            assert wrong == [], size


@NAMES
def test_spans_are_plain(name: str) -> None:
    text, _ = tiny.goldens(name, "clean.jsonl")[f"{name}-clean-00"]
    spans = [span for cluster in tiny.tiny(name).cluster([text])[0] for span in cluster]
    assert {type(span) for span in spans} == {Span}
    assert {type(offset) for span in spans for offset in span} == {int}


@NAMES
def test_texts_without_words(name: str) -> None:
    system = tiny.tiny(name)
    assert system.cluster([]) == []
    assert system.cluster([""]) == [[]]
    assert system.cluster(["", " ", "\n\t", "a", ""]) == [[]] * 5


@NAMES
def test_load_gives_a_clustering_system(name: str) -> None:
    folder = str(tiny.checkpoint(name))
    system = load(name, folder, device="cpu", batch_size=2)
    assert isinstance(system, tiny.SYSTEMS[name])
    assert kind_of(system) == "clustering"
    assert (system.name, system.batch_size, system.self_check) == (name, 2, ())
    assert system.checkpoint.name == folder


@NAMES
def test_no_checkpoint_means_the_published_one(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(repository: str, **_: object) -> str:
        asked.append(repository)
        return str(tiny.checkpoint(name))

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    system: Any = load(name, device="cpu")
    assert system.checkpoint.name == SYSTEMS[name].weights == asked[0]


@NAMES
def test_one_string_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="the texts are one string; give a list of texts"):
        tiny.tiny(name).cluster("She left.")


@NAMES
def test_a_text_longer_than_a_million_characters(name: str) -> None:
    # white space is a word without subwords of its own
    assert tiny.tiny(name)._encoded(["a" + " " * 1_000_000])


@NAMES
def test_weights_are_computed_with_as_they_are_saved(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny.checkpoint(name), tmp_path / "checkpoint")
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config.pop("dtype", None)
    (folder / "config.json").write_text(json.dumps(config | {"torch_dtype": "float16"}))
    loaded = tiny.SYSTEMS[name](str(folder), device="cpu")._package.model.state_dict()
    saved = load_file(folder / "model.safetensors")
    common = saved.keys() & loaded.keys()
    assert len(common) > 20
    assert {loaded[tensor].dtype for tensor in common} == {torch.float32}
    assert all(torch.equal(loaded[tensor], saved[tensor]) for tensor in common)


@given(
    st.lists(st.one_of(st.integers(0, 9), st.sampled_from([1000, 4000, 5000])), max_size=40),
    st.integers(1, 20),
)
def test_batches_are_bounded(lengths: list[int], batch_size: int) -> None:
    examples = [{"length": length, "idx": index} for index, length in enumerate(lengths)]
    batches = list(fastcoref_package._equally_long(examples, batch_size))
    assert sorted(e["idx"] for batch in batches for e in batch) == [*range(len(lengths))]
    most = fastcoref_package.MOST_SUBTOKENS
    for batch in batches:
        assert len({example["length"] for example in batch}) == 1
        assert 1 <= len(batch) <= batch_size
        assert len(batch) == 1 or sum(example["length"] for example in batch) <= most


# what the package does to the rest of the process


@NAMES
def test_load_and_use_change_nothing_else(
    name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    def state() -> list[object]:
        root, speech = logging.getLogger(), transformers.utils.logging
        return [
            random.getstate(),
            pickle.dumps(np.random.get_state()),
            torch.get_rng_state().tolist(),
            (root.handlers[:], root.level, logging.getLogger("fastcoref").level),
            (speech.get_verbosity(), speech.is_progress_bar_enabled()),
        ]

    # other values than an earlier load would have left behind
    random.seed(7)
    np.random.seed(7)
    torch.manual_seed(7)
    transformers.utils.logging.set_verbosity_warning()
    caplog.set_level(logging.DEBUG, "fastcoref")
    before = state()
    tiny.SYSTEMS[name](str(tiny.checkpoint(name)), device="cpu").cluster([*SENTENCES, "a " * 500])
    assert state() == before
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_the_first_import_is_silent_and_needs_no_network() -> None:
    script = """
        import gc, logging, os, socket, sys
        gc.disable()  # what is imported stays
        os.environ.pop("HF_HUB_OFFLINE", None)
        logging.root.setLevel(logging.DEBUG)
        def refuse(*_): raise SystemExit("the network was asked")
        socket.socket.connect = socket.getaddrinfo = refuse
        from pronominal.adapters import load
        load("lingmess", sys.argv[1], device="cpu").cluster(["The nurse said that she left."])
        assert (logging.root.handlers, logging.root.level) == ([], logging.DEBUG)
    """
    lines = "\n".join(line.strip() for line in script.splitlines())
    command = [sys.executable, "-c", lines, str(tiny.checkpoint("lingmess"))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_second_encoder_leaves_the_first_alone(tmp_path: Path) -> None:
    text, expected = tiny.goldens("lingmess", "clean.jsonl")["lingmess-clean-00"]
    first = tiny.tiny("lingmess")
    weights = load_file(tiny.checkpoint("lingmess") / "model.safetensors")

    def exchange_heads(tensors: Tensors) -> None:
        for name in [name for name in tensors if not name.startswith("roberta.")]:
            del tensors[name]
        tensors |= {n: one for n, one in weights.items() if not n.startswith("longformer.")}

    tiny.SYSTEMS["lingmess"](tiny.changed("fcoref", tmp_path, exchange_heads), device="cpu")
    found = first.cluster([text])
    assert found == [expected]


def test_fastcoref_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "fastcoref"]:
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("lingmess", "package"):
        monkeypatch.delitem(sys.modules, f"pronominal.adapters.fastcoref.{module}")
    with pytest.raises(InputError, match=r"pip install .pronominal\[lingmess\]"):
        load("lingmess", str(tiny.checkpoint("lingmess")))


# checkpoints that are not what they should be

MENTION = "mention_s2e_classifier.weight"
PAIR = {"fcoref": "antecedent_s2s_classifier.weight", "lingmess": "antecedent_s2s_all_weights"}


@NAMES
def test_a_deleted_tensor_is_refused(name: str, tmp_path: Path) -> None:
    folder = tiny.changed(name, tmp_path, lambda tensors: tensors.pop(MENTION))
    with pytest.raises(InputError) as caught:
        tiny.SYSTEMS[name](folder, device="cpu")
    cure = f"give a checkpoint of {name}"
    assert str(caught.value) == f"{folder}: the weights hold no {MENTION}; {cure}"


@NAMES
def test_a_tensor_too_many_is_refused(name: str, tmp_path: Path) -> None:
    def add(tensors: Tensors) -> None:
        tensors["another"] = tensors[PAIR[name]].clone()

    with pytest.raises(InputError, match="the weights hold another, which the config does not"):
        tiny.SYSTEMS[name](tiny.changed(name, tmp_path, add), device="cpu")


def silence_the_mention_scorer(tensors: Tensors) -> None:
    for tensor in tensors:
        if tensor.startswith(("mention_start_", "mention_end_", "mention_s2e_")):
            tensors[tensor].zero_()
    tensors["mention_start_classifier.bias"].fill_(-1000)


@NAMES
def test_a_system_that_finds_nothing_is_announced(name: str, tmp_path: Path) -> None:
    folder = tiny.changed(name, tmp_path, silence_the_mention_scorer)
    with pytest.warns(SelfCheckWarning, match="no cluster in any") as caught:
        system = tiny.SYSTEMS[name](folder, device="cpu")
    assert system.self_check == (str(caught[0].message),)
    assert folder in system.self_check[0]


def fill(tensor: str, value: float) -> Callable[[Tensors], object]:
    return lambda tensors: tensors[tensor].fill_(value)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("tensor", ["mention_s2e_classifier.bias", "mention_end_classifier.bias"])
@NAMES
def test_scores_that_are_not_finite(name: str, tensor: str, value: float, tmp_path: Path) -> None:
    folder = tiny.changed(name, tmp_path, fill(tensor, value))
    with pytest.raises(InputError, match=r"self-check, sentence 1: the scores are not") as caught:
        tiny.SYSTEMS[name](folder, device="cpu")
    assert str(caught.value).startswith(folder)


@NAMES
def test_the_text_whose_scores_are_not_finite_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = tiny.tiny(name)
    embeddings = system._package.model.base_model.embeddings.word_embeddings.weight
    word = int(system._encoded(["umbrella"])[0]["input_ids"][1])
    kept = embeddings[word].clone()
    with torch.no_grad():
        embeddings[word] = torch.nan
        try:
            with pytest.raises(InputError, match=r"texts\[2\]: the scores are not finite"):
                system.cluster(["It rained.", "It rained.", "umbrella rained.", "It rained."])
        finally:
            embeddings[word] = kept


@NAMES
def test_pickled_weights_with_a_position_buffer_answer_alike(name: str, tmp_path: Path) -> None:
    shutil.copytree(tiny.checkpoint(name), tmp_path, dirs_exist_ok=True)
    tensors = load_file(tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").unlink()
    encoder = "longformer" if name == "lingmess" else "roberta"
    tensors[f"{encoder}.embeddings.position_ids"] = torch.arange(514)[None]
    del tensors[f"{encoder}.pooler.dense.bias"]  # no answer depends on it
    torch.save(tensors, tmp_path / "pytorch_model.bin")
    system = tiny.SYSTEMS[name](str(tmp_path), device="cpu")
    texts = [text for text, _ in tiny.goldens(name, "clean.jsonl").values()][::3]
    found, expected = system.cluster(texts), tiny.tiny(name).cluster(texts)
    assert system.self_check == ()
    assert found == expected


class Payload:
    """Harmless: leaves a file where unpickling runs code."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


@NAMES
def test_a_pickle_runs_no_code(name: str, tmp_path: Path) -> None:
    trace, ignored = tmp_path / "trace", shutil.ignore_patterns("*.safetensors")
    folder = shutil.copytree(tiny.checkpoint(name), tmp_path / "checkpoint", ignore=ignored)
    torch.save({MENTION: Payload(trace)}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="the pickle is damaged, or holds more than") as caught:
        tiny.SYSTEMS[name](str(folder), device="cpu")
    assert "weights_only" not in str(caught.value)  # torch's advice on how to run the payload
    assert not trace.exists()
    torch.load(folder / "pytorch_model.bin", weights_only=False)
    assert trace.exists()  # the payload works


@NAMES
def test_a_folder_without_tokenizer(name: str, tmp_path: Path) -> None:
    for file in ("config.json", "model.safetensors"):
        shutil.copy(tiny.checkpoint(name) / file, tmp_path)
    with pytest.raises(InputError, match="the tokenizer's files are missing; add"):
        tiny.SYSTEMS[name](str(tmp_path), device="cpu")


@NAMES
def test_a_tokenizer_of_another_model(name: str, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny.checkpoint(name), tmp_path / "checkpoint")
    larger = transformers.AutoTokenizer.from_pretrained(folder)
    larger.add_tokens(["umbrella"])
    larger.save_pretrained(folder)
    with pytest.raises(InputError, match="knows more tokens than the 1100 that the model"):
        tiny.SYSTEMS[name](str(folder), device="cpu")


def cut(tensors: Tensors) -> None:
    tensors["mention_s2e_classifier.bias"] = torch.zeros(3)


@NAMES
def test_a_tensor_of_another_shape(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"do not make up a {name}"):
        tiny.SYSTEMS[name](tiny.changed(name, tmp_path, cut), device="cpu")


@NAMES
def test_broken_weights(name: str, tmp_path: Path) -> None:
    folder = tiny.changed(name, tmp_path, Tensors.clear)
    Path(folder, "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match=f"do not make up a {name}") as caught:
        tiny.SYSTEMS[name](folder, device="cpu")
    assert folder in str(caught.value)
    assert "\n" not in str(caught.value)


@NAMES
def test_a_config_without_head(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"do not make up a {name}"):
        tiny.SYSTEMS[name](tiny.reconfigured(name, tmp_path, top_lambda=None), device="cpu")


@pytest.mark.parametrize(
    ("checkpoint", "cause"),
    [
        ("no/such/folder", "there is no such folder"),
        ("tests", "there is no config.json"),
        ("pronominal-tests/nothing", "no such model of the Hub on this machine"),
    ],
)
def test_no_checkpoint_there(checkpoint: str, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("network"))
    with pytest.raises(InputError, match=cause) as caught:
        tiny.SYSTEMS["lingmess"](checkpoint)
    assert checkpoint in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "cause"),
    [({"device": "abacus"}, "device 'abacus'"), ({"batch_size": 0}, "a batch of 0 texts")],
)
@NAMES
def test_settings_out_of_range(name: str, settings: dict[str, Any], cause: str) -> None:
    with pytest.raises(InputError, match=cause):
        tiny.SYSTEMS[name](str(tiny.checkpoint(name)), **settings)


@NAMES
def test_no_text_is_skipped_for_its_length(name: str, tmp_path: Path) -> None:
    folder = tiny.reconfigured(name, tmp_path, max_doc_len=40)
    system = tiny.SYSTEMS[name](folder, device="cpu")
    with pytest.raises(InputError, match=r"texts\[2\]: 52 subtokens.* at most 40 \(max_doc_len"):
        system.cluster(["a", "a " * 38, "a " * 50])

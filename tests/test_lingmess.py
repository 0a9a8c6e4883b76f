import functools
import json
import logging
import pickle
import random
import shutil
import socket
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if find_spec("fastcoref") is None:
    pytest.skip("needs the extra lingmess", allow_module_level=True)

import torch
import transformers
from safetensors.torch import load_file, save_file

from pronominal.adapters import SYSTEMS, kind_of, load
from pronominal.adapters.dense_longformer import dense_limit
from pronominal.adapters.fastcoref_package import LingMessModel
from pronominal.adapters.lingmess import LingMess
from pronominal.adapters.self_check import SelfCheckWarning
from pronominal.errors import InputError
from pronominal.spans import Cluster, Span

ROOT = Path(__file__).parent.parent
OWN = ROOT / "tests" / "goldens" / "lingmess"
CHECKPOINT = OWN / "checkpoint"
FILES = {
    "clean": OWN / "clean.jsonl",
    "public": ROOT.parent / "shared" / "goldens" / "lingmess" / "goldens-public.jsonl",
}
SENTENCES = ["The pilot thanked the nurse because she had helped.", "", "Where is my other shoe?"]


@functools.cache
def goldens(file: str) -> dict[str, tuple[str, list[Cluster]]]:
    """Texts and expected clusters by golden id; tests take ids so that no report shows a text."""
    if not FILES[file].exists():
        return {}
    rows = [json.loads(line) for line in FILES[file].read_text(encoding="utf-8").splitlines()]
    return {row["id"]: (row["text"], contract(row["clusters"])) for row in rows}


def contract(raw: list[list[list[int] | None]]) -> list[Cluster]:
    clusters = []
    for mentions in raw:
        cluster: Cluster = []
        for mention in mentions:
            if mention is not None and Span(*mention) not in cluster:
                cluster.append(Span(*mention))
        if len(cluster) >= 2:
            clusters.append(cluster)
    return clusters


@functools.cache
def lingmess(batch_size: int = 32) -> LingMess:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return LingMess(str(CHECKPOINT), device="cpu", batch_size=batch_size)


def the_ids() -> list[Any]:
    absent = pytest.mark.skip(reason=f"{FILES['public'].name} is not beside the repository")
    public = [*goldens("public")] or [pytest.param("public", marks=absent)]
    return [*goldens("clean"), *public]


@pytest.mark.parametrize("golden_id", the_ids())
def test_a_golden_alone(golden_id: str) -> None:
    text, expected = (goldens("clean") | goldens("public"))[golden_id]
    found = lingmess().cluster([text])
    assert found == [expected]


@pytest.mark.parametrize("batch_size", [1, 3, 32])
@pytest.mark.parametrize("order", ["as is", "shuffled"])
@pytest.mark.parametrize("file", FILES)
def test_goldens_in_one_call(file: str, order: str, batch_size: int) -> None:
    if not goldens(file):
        pytest.skip(f"{FILES[file].name} is not beside the repository")
    rows = list(goldens(file).values())
    if order == "shuffled":
        random.Random(5).shuffle(rows)
    found = lingmess(batch_size).cluster([text for text, _ in rows])
    assert found == [expected for _, expected in rows]


def test_spans_are_plain() -> None:
    text, _ = goldens("clean")["lingmess-clean-00"]
    spans = [span for cluster in lingmess().cluster([text])[0] for span in cluster]
    assert {type(span) for span in spans} == {Span}
    assert {type(offset) for span in spans for offset in span} == {int}


def test_texts_without_words() -> None:
    assert lingmess().cluster([]) == []
    assert lingmess().cluster([""]) == [[]]
    assert lingmess().cluster(["", " ", "\n\t", "a", ""]) == [[]] * 5


def test_load_gives_a_clustering_system() -> None:
    system = load("lingmess", str(CHECKPOINT), device="cpu", batch_size=2)
    assert isinstance(system, LingMess)
    assert kind_of(system) == "clustering"
    assert (system.name, system.batch_size, system.self_check) == ("lingmess", 2, ())
    assert system.checkpoint.name == str(CHECKPOINT)


def test_no_checkpoint_means_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(repository: str, **_: object) -> str:
        asked.append(repository)
        return str(CHECKPOINT)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert LingMess(device="cpu").checkpoint.name == SYSTEMS["lingmess"].weights == asked[0]


# what the package does to the rest of the process


def test_load_and_use_change_nothing_else(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
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
    LingMess(str(CHECKPOINT), device="cpu").cluster(SENTENCES)
    assert state() == before
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_the_first_import_is_silent_and_needs_no_network() -> None:
    script = """
        import logging, os, socket, sys
        os.environ.pop("HF_HUB_OFFLINE", None)
        logging.root.setLevel(logging.DEBUG)
        def refuse(*_): raise SystemExit("the network was asked")
        socket.socket.connect = socket.getaddrinfo = refuse
        from pronominal.adapters import load
        load("lingmess", sys.argv[1], device="cpu").cluster(["The nurse said that she left."])
        assert (logging.root.handlers, logging.root.level) == ([], logging.DEBUG)
    """
    lines = "\n".join(line.strip() for line in script.splitlines())
    command = [sys.executable, "-c", lines, str(CHECKPOINT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_second_encoder_leaves_the_first_alone() -> None:
    text, expected = goldens("clean")["lingmess-clean-00"]
    first = lingmess()
    with pytest.warns(SelfCheckWarning):
        LingMess(str(OWN.parent / "fcoref" / "checkpoint"), device="cpu")
    found = first.cluster([text])
    assert found == [expected]


# checkpoints that are not what they should be


def changed(folder: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> str:
    copy = folder / "checkpoint"
    shutil.copytree(CHECKPOINT, copy)
    tensors = load_file(copy / "model.safetensors")
    change(tensors)
    save_file(tensors, copy / "model.safetensors", metadata={"format": "pt"})
    return str(copy)


def reconfigured(folder: Path, **settings: object) -> str:
    copy = folder / "checkpoint"
    shutil.copytree(CHECKPOINT, copy)
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    head = {key: value for key, value in (config["coref_head"] | settings).items() if value}
    config["coref_head"] = head
    (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(copy)


def silence_the_mention_scorer(tensors: dict[str, torch.Tensor]) -> None:
    for name in tensors:
        if name.startswith(("mention_start_", "mention_end_", "mention_s2e_")):
            tensors[name].zero_()
    tensors["mention_start_classifier.bias"].fill_(-1000)


def test_a_deleted_tensor_is_announced(tmp_path: Path) -> None:
    checkpoint = changed(tmp_path, lambda tensors: tensors.pop("mention_s2e_classifier.weight"))
    with pytest.warns(SelfCheckWarning, match="answers are meaningless") as caught:
        system = LingMess(checkpoint, device="cpu")
    assert system.self_check == tuple(str(warning.message) for warning in caught)
    for part in ("lingmess", checkpoint, "mention_s2e_classifier.weight"):
        assert part in system.self_check[0]


def test_a_renamed_tensor_is_announced_twice(tmp_path: Path) -> None:
    def rename(tensors: dict[str, torch.Tensor]) -> None:
        tensors["renamed"] = tensors.pop("antecedent_s2s_all_weights")

    with pytest.warns(SelfCheckWarning):
        system = LingMess(changed(tmp_path, rename), device="cpu")
    missing, unexpected = system.self_check
    assert "antecedent_s2s_all_weights" in missing
    assert "renamed" in unexpected


def test_a_system_that_finds_nothing_is_announced(tmp_path: Path) -> None:
    with pytest.warns(SelfCheckWarning, match="no cluster in any") as caught:
        system = LingMess(changed(tmp_path, silence_the_mention_scorer), device="cpu")
    assert system.self_check == (str(caught[0].message),)
    assert str(tmp_path) in system.self_check[0]


def test_pickled_weights_with_a_position_buffer_answer_alike(tmp_path: Path) -> None:
    shutil.copytree(CHECKPOINT, tmp_path, dirs_exist_ok=True)
    tensors = load_file(tmp_path / "model.safetensors")
    (tmp_path / "model.safetensors").unlink()
    tensors["longformer.embeddings.position_ids"] = torch.arange(514)[None]
    del tensors["longformer.pooler.dense.bias"]  # no answer depends on it
    torch.save(tensors, tmp_path / "pytorch_model.bin")
    system = LingMess(str(tmp_path), device="cpu")
    texts = [text for text, _ in goldens("clean").values()]
    found, expected = system.cluster(texts), lingmess().cluster(texts)
    assert system.self_check == ()
    assert found == expected


class Intruder:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.trace,)


def test_a_pickle_runs_no_code(tmp_path: Path) -> None:
    folder, trace = tmp_path / "checkpoint", tmp_path / "trace"
    shutil.copytree(CHECKPOINT, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    torch.save({"mention_s2e_classifier.weight": Intruder(trace)}, folder / "pytorch_model.bin")
    with pytest.raises(InputError, match="do not make up a lingmess"):
        LingMess(str(folder), device="cpu")
    assert not trace.exists()


def test_broken_weights(tmp_path: Path) -> None:
    checkpoint = changed(tmp_path, lambda tensors: tensors.clear())
    Path(checkpoint, "model.safetensors").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="do not make up a lingmess") as caught:
        LingMess(checkpoint, device="cpu")
    assert checkpoint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_config_without_head(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="do not make up a lingmess"):
        LingMess(reconfigured(tmp_path, top_lambda=None), device="cpu")


@pytest.mark.parametrize(
    ("checkpoint", "cause"),
    [
        ("no/such/folder", "there is no such folder"),
        ("tests", "there is no config.json"),
        ("pronominal-tests/nothing", "neither a folder nor to be had from the Hub"),
    ],
)
def test_no_checkpoint_there(checkpoint: str, cause: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("network"))
    with pytest.raises(InputError, match=cause) as caught:
        LingMess(checkpoint)
    assert checkpoint in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "cause"),
    [({"device": "abacus"}, "device 'abacus'"), ({"batch_size": 0}, "a batch of 0 texts")],
)
def test_settings_out_of_range(settings: dict[str, Any], cause: str) -> None:
    with pytest.raises(InputError, match=cause):
        LingMess(str(CHECKPOINT), **settings)


def test_fastcoref_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.split(".")[0] == "fastcoref"]:
        monkeypatch.setitem(sys.modules, module, None)
    for module in ("lingmess", "fastcoref_package"):
        monkeypatch.delitem(sys.modules, f"pronominal.adapters.{module}")
    with pytest.raises(InputError, match=r"pip install .pronominal\[lingmess\]"):
        load("lingmess", str(CHECKPOINT))


# lengths


def test_the_position_table_is_the_limit() -> None:
    lingmess().cluster(["a " * 510])  # 512 subtokens with <s> and </s>
    with pytest.raises(InputError, match=r"texts\[1\]: 513 subtokens.* at most 512"):
        lingmess().cluster(["a", "a " * 511])


def test_a_refused_text_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lingmess()._package, "_batch_inference", lambda _: pytest.fail("computed"))
    with pytest.raises(InputError, match="position table"):
        lingmess().cluster([*SENTENCES, "a " * 600])


def test_no_text_is_skipped_for_its_length(tmp_path: Path) -> None:
    system = LingMess(reconfigured(tmp_path, max_doc_len=40), device="cpu")
    with pytest.raises(InputError, match=r"texts\[2\]: 52 subtokens.* at most 40 \(max_doc_len"):
        system.cluster(["a", "a " * 38, "a " * 50])


# short texts, encoded densely, and the experts


def test_scores_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    system, longest = lingmess(), 0
    model = system._package.model
    for text, _ in goldens("clean").values():
        batch = system._package.collator(system._encoded([text]))
        longest = max(longest, batch["input_ids"].shape[1])
        with torch.no_grad(), monkeypatch.context() as patch:
            found = model(batch)
            encode = functools.partial(LingMessModel.forward_transformer, model)
            patch.setattr(model, "forward_transformer", encode)
            expected = LingMessModel.forward(model, batch, return_all_outputs=True)
        assert all(map(torch.equal, found[:2], expected[:2]))  # starts and ends of mentions
        for name, mine, other in zip(("spans", "pairs"), found[2:], expected[2:], strict=True):
            assert torch.allclose(mine, other, rtol=1e-5, atol=1e-4), name
    assert longest > dense_limit(model.base_model)  # both encoders were asked


def test_only_long_texts_meet_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    system, lengths = lingmess(), []
    encoder = system._package.model.base_model
    windowed = encoder.forward

    def watched(ids: torch.Tensor, **rest: Any) -> Any:
        lengths.append(ids.shape[1])
        return windowed(ids, **rest)

    monkeypatch.setattr(encoder, "forward", watched)
    system.cluster(["a " * words for words in range(20)])  # 2 to 21 subtokens; the window is 32
    assert lengths == [18, 19, 20, 21]


def test_an_expert_without_pairs_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    model, read = lingmess()._package.model, []
    weights = model.antecedent_s2s_all_weights
    batch = lingmess()._package.collator(lingmess()._encoded(["The old dog barked again."]))
    with torch.no_grad():
        for expert in (0, 1, 2):  # those for pronouns, of which there is none
            before = model(batch)[3]
            kept = weights[expert].clone()
            weights[expert] = torch.nan
            read.append(bool(model(batch)[3].isnan().any()))
            weights[expert] = kept
            assert torch.equal(model(batch)[3], before)
    assert read == [False] * 3


@pytest.mark.parametrize("file", FILES)
def test_goldens_in_shuffled_batches_of_every_size(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = list(goldens(file).values())
    if not rows:
        pytest.skip(f"{FILES[file].name} is not beside the repository")
    lengths = Counter(example["length"] for example in lingmess()._encoded([t for t, _ in rows]))
    sizes = range(1, max(lengths.values()) + 1)  # a larger batch would be the same
    for size in sizes:
        random.Random(size).shuffle(rows)
        monkeypatch.setattr(lingmess(), "batch_size", size)
        found = lingmess().cluster([text for text, _ in rows])
        assert found == [expected for _, expected in rows], size

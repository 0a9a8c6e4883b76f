import functools
import json
import random
import shutil
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("fastcoref") is None:
    pytest.skip("needs the extra lingmess", allow_module_level=True)

import torch
from safetensors.torch import load_file, save_file

from pronominal.adapters import SYSTEMS, kind_of, load
from pronominal.adapters.fcoref import FCoref
from pronominal.adapters.self_check import SelfCheckWarning
from pronominal.errors import InputError
from pronominal.spans import Cluster, Span

ROOT = Path(__file__).parent.parent
OWN = ROOT / "tests" / "goldens" / "fcoref"
CHECKPOINT = OWN / "checkpoint"
FILES = {
    "clean": OWN / "clean.jsonl",
    "public": ROOT.parent / "shared" / "goldens" / "fcoref" / "goldens-public.jsonl",
}


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
def fcoref(batch_size: int = 32) -> FCoref:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return FCoref(str(CHECKPOINT), device="cpu", batch_size=batch_size)


def the_ids() -> list[Any]:
    absent = pytest.mark.skip(reason=f"{FILES['public'].name} is not beside the repository")
    public = [*goldens("public")] or [pytest.param("public", marks=absent)]
    return [*goldens("clean"), *public]


@pytest.mark.parametrize("golden_id", the_ids())
def test_a_golden_alone(golden_id: str) -> None:
    text, expected = (goldens("clean") | goldens("public"))[golden_id]
    found = fcoref().cluster([text])
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
    found = fcoref(batch_size).cluster([text for text, _ in rows])
    assert found == [expected for _, expected in rows]


def test_texts_without_words() -> None:
    assert fcoref().cluster([]) == []
    assert fcoref().cluster([""]) == [[]]
    assert fcoref().cluster(["", " ", "\n\t", "a", ""]) == [[]] * 5


def test_load_gives_a_clustering_system() -> None:
    system = load("fcoref", str(CHECKPOINT), device="cpu", batch_size=2)
    assert isinstance(system, FCoref)
    assert kind_of(system) == "clustering"
    assert (system.name, system.batch_size, system.self_check) == ("fcoref", 2, ())
    assert system.checkpoint.name == str(CHECKPOINT)


def test_no_checkpoint_means_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(CHECKPOINT))
    assert FCoref(device="cpu").checkpoint.name == SYSTEMS["fcoref"].weights


def test_load_and_use_are_silent(capfd: pytest.CaptureFixture[str]) -> None:
    FCoref(str(CHECKPOINT), device="cpu").cluster(["The judge said that he was late.", "a " * 2000])
    assert capfd.readouterr() == ("", "")


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
    config["coref_head"] |= settings
    (copy / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(copy)


def silence_the_mention_scorer(tensors: dict[str, torch.Tensor]) -> None:
    for name in tensors:
        if name.startswith(("mention_start_", "mention_end_", "mention_s2e_")):
            tensors[name].zero_()
    tensors["mention_start_classifier.bias"].fill_(-1000)


def test_a_deleted_tensor_is_announced(tmp_path: Path) -> None:
    checkpoint = changed(tmp_path, lambda tensors: tensors.pop("mention_s2e_classifier.weight"))
    with pytest.warns(SelfCheckWarning, match="answers are meaningless"):
        system = FCoref(checkpoint, device="cpu")
    for part in ("fcoref", checkpoint, "mention_s2e_classifier.weight"):
        assert part in system.self_check[0]


def test_a_renamed_tensor_is_announced_twice(tmp_path: Path) -> None:
    def rename(tensors: dict[str, torch.Tensor]) -> None:
        tensors["renamed"] = tensors.pop("antecedent_s2s_classifier.weight")

    with pytest.warns(SelfCheckWarning):
        system = FCoref(changed(tmp_path, rename), device="cpu")
    missing, unexpected = system.self_check
    assert "antecedent_s2s_classifier.weight" in missing
    assert "renamed" in unexpected


def test_a_system_that_finds_nothing_is_announced(tmp_path: Path) -> None:
    with pytest.warns(SelfCheckWarning, match="no cluster in any") as caught:
        system = FCoref(changed(tmp_path, silence_the_mention_scorer), device="cpu")
    assert system.self_check == (str(caught[0].message),)


def test_a_tensor_of_another_shape(tmp_path: Path) -> None:
    def cut(tensors: dict[str, torch.Tensor]) -> None:
        tensors["mention_s2e_classifier.bias"] = torch.zeros(3)

    with pytest.raises(InputError, match="do not make up a fcoref"):
        FCoref(changed(tmp_path, cut), device="cpu")


# lengths


def test_segments_let_a_text_have_any_length() -> None:
    text = "The clerk called the tailor because he had found her purse. " * 90
    found = fcoref().cluster([text, "a", text])
    assert found[0] == found[2]
    assert max(span.end for cluster in found[0] for span in cluster) > len(text) - 200


def test_segments_have_to_fit_the_position_table(tmp_path: Path) -> None:
    system = FCoref(reconfigured(tmp_path, max_segment_len=600), device="cpu")
    with pytest.raises(InputError, match=r"texts\[0\]: 552 subtokens.* at most 512 \(its pos"):
        system.cluster(["a " * 550])


def test_no_text_is_skipped_for_its_length(tmp_path: Path) -> None:
    system = FCoref(reconfigured(tmp_path, max_doc_len=40), device="cpu")
    with pytest.raises(InputError, match=r"texts\[2\]: 52 subtokens.* at most 40 \(max_doc_len"):
        system.cluster(["a", "a " * 38, "a " * 50])

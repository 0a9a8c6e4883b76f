import functools
import json
import pickle
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("pronominal.adapters.caw.system", exc_type=ImportError)

import torch
from safetensors.torch import load_file

from pronominal import InputError
from pronominal.adapters.catalogue.convertible import convert
from pronominal.adapters.caw.checkpoint import open_parts
from pronominal.adapters.caw.system import CAW
from pronominal.adapters.contract.self_check import SelfCheckWarning
from pronominal.spans import Cluster

OWN = ROOT / "tests" / "goldens" / "caw"
CHECKPOINT = OWN / "checkpoint"
LINES = (OWN / "clean.jsonl").read_text("utf-8").splitlines()
TEXTS = [json.loads(line)["text"] for line in LINES[::3]]
SECTIONS = ("tiny_a", "tiny_b")
Change = Callable[[dict[str, Any]], object]


def copied(tmp_path: Path, change: Change = id, section: str = "tiny_a") -> Path:
    """Copy the checkpoint with one section's weights, changed."""
    folder = shutil.copytree(CHECKPOINT, tmp_path / "checkpoint")
    entries = torch.load(CHECKPOINT / f"{section}.pt", weights_only=True)
    change(entries)
    for file in folder.glob("*.pt"):
        file.unlink()
    torch.save(entries, folder / f"{section}.pt")
    return folder


def answers(checkpoint: Path, section: str | None = None) -> list[list[Cluster]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SelfCheckWarning)
        return CAW(str(checkpoint), section=section, device="cpu").cluster(TEXTS)


@functools.cache
def right(section: str) -> list[list[Cluster]]:
    """What the unchanged checkpoint answers, which ``test_caw.py`` compares with upstream."""
    return answers(CHECKPOINT, section)


def test_the_first_section_with_weights_is_the_default(tmp_path: Path) -> None:
    assert CAW(str(CHECKPOINT), device="cpu").section == "tiny_a"
    assert answers(copied(tmp_path, section="tiny_b")) == right("tiny_b")


@pytest.mark.parametrize("name", ["tiny_b_(e20_2021.05.02_01.16)_release.pt", "tiny_b_-e20_x.pt"])
def test_names_of_released_files(tmp_path: Path, name: str) -> None:
    folder = copied(tmp_path, section="tiny_b")
    (folder / "tiny_b.pt").rename(folder / name)
    assert CAW(str(folder), device="cpu").section == "tiny_b"
    shutil.copy(folder / name, folder / "tiny_b.pt")
    with pytest.raises(InputError, match="'tiny_b' has several weights; keep one of tiny_b"):
        CAW(str(folder), section="tiny_b")


@pytest.mark.parametrize(
    ("section", "message"),
    [("tiny_c", "there is no section 'tiny_c'; did you mean"), ("tiny_b", "name the .pt file")],
)
def test_a_section_without_weights(tmp_path: Path, section: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CAW(str(copied(tmp_path)), section=section)


def test_old_buffers_may_be_there_or_not(tmp_path: Path) -> None:
    entries = torch.load(CHECKPOINT / "tiny_a.pt", weights_only=True)
    assert "embeddings.position_ids" in entries["bert"]
    folder = copied(tmp_path, lambda loaded: loaded["bert"].pop("embeddings.position_ids"))
    assert answers(folder) == right("tiny_a")


def test_the_format_of_old_torch(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    entries = torch.load(folder / "tiny_a.pt", weights_only=True)
    torch.save(entries, folder / "tiny_a.pt", _use_new_zipfile_serialization=False)
    assert answers(folder) == right("tiny_a")


def test_without_finetuned_encoder_the_plain_one_is_taken(tmp_path: Path) -> None:
    plain = load_file(CHECKPOINT / "roberta-large" / "model.safetensors")
    named = {name.removeprefix("roberta."): tensor for name, tensor in plain.items()}
    without = answers(copied(tmp_path / "without", lambda loaded: loaded.pop("bert")))
    given_ = answers(copied(tmp_path / "given", lambda loaded: loaded.update(bert=named)))
    assert without == given_ != right("tiny_a")


def test_the_digest_is_of_what_is_read(tmp_path: Path) -> None:
    def digest(folder: Path) -> str:
        return open_parts(str(folder)).checkpoint.digest

    whole, plain = copied(tmp_path / "whole"), tmp_path / "whole" / "unread"
    own = digest(whole)
    (whole / "roberta-large" / "model.safetensors").rename(plain)
    assert digest(whole) == own
    without = copied(tmp_path / "without", lambda loaded: loaded.pop("bert"))
    own = digest(without)
    with (without / "roberta-large" / "model.safetensors").open("ab") as file:
        file.write(b"other weights")
    assert digest(without) != own


def test_the_digest_is_of_an_encoder_elsewhere_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copied(tmp_path, lambda loaded: loaded.pop("bert"))
    hub = (folder / "roberta-large").rename(tmp_path / "hub")
    config = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(config.replace('"roberta-large"', '"org/roberta-large"'))
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: str(hub))
    first = open_parts(str(folder)).checkpoint.digest
    with (hub / "model.safetensors").open("ab") as file:
        file.write(b"other weights")
    assert open_parts(str(folder)).checkpoint.digest != first


def test_the_punctuation_rule_goes_by_family(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "roberta-large").rename(folder / "mine")
    config = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(config.replace('"roberta-large"', '"/elsewhere/mine/"'))
    assert answers(folder) == right("tiny_a")


class Payload:
    """Harmless: leaves a file where unpickling runs code."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return Path.touch, (self.file,)


def test_a_malicious_pickle_is_refused(tmp_path: Path) -> None:
    left = tmp_path / "left-behind"
    folder = copied(tmp_path, lambda loaded: loaded.update(we=Payload(left)))
    with pytest.raises(InputError, match=r"holds more than tensors\); give the file"):
        CAW(str(folder))
    (folder / "tiny_a.pt").write_bytes(pickle.dumps(Payload(left), protocol=2))
    with pytest.raises(InputError, match=r"holds more than tensors\); give the file"):
        CAW(str(folder))
    assert not left.exists()
    pickle.loads((folder / "tiny_a.pt").read_bytes())
    assert left.exists()  # the payload works


def test_a_checkpoint_cannot_ask_for_its_own_code(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    encoder, left = folder / "roberta-large", tmp_path / "left-behind"
    (encoder / "mine.py").write_text(f"open({str(left)!r}, 'w')\nclass Mine: pass\n")
    for name, auto in (("config", "AutoConfig"), ("tokenizer_config", "AutoTokenizer")):
        table = json.loads((encoder / f"{name}.json").read_text())
        code = ["mine.Mine", None] if auto == "AutoTokenizer" else "mine.Mine"
        table["auto_map"] = {auto: code}
        (encoder / f"{name}.json").write_text(json.dumps(table))
    config = (folder / "config.toml").read_text()
    asking = '"add_prefix_space" = true\ntrust_remote_code = true'
    (folder / "config.toml").write_text(config.replace('"add_prefix_space" = true', asking))
    assert answers(folder) == right("tiny_a")
    assert not left.exists()


def remove(entry: str, name: str) -> Change:
    return lambda loaded: loaded[entry].pop(name)


def put(entry: str, name: str, value: object) -> Change:
    return lambda loaded: loaded[entry].update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda loaded: loaded.pop("sp"), "sp missing"),
        (lambda loaded: loaded.clear(), "we, rough_scorer, pw, a_scorer, sp missing"),
        (put("we", "attn.bias", "text"), "we holds more than tensors"),
        (lambda loaded: loaded.update(we=[1]), "we holds more than tensors"),
        (remove("sp", "emb.weight"), "weights hold no sp.emb.weight"),
        (
            remove("bert", "embeddings.LayerNorm.bias"),
            "weights hold no bert.embeddings.LayerNorm.bias",
        ),
        (put("pw", "x", torch.zeros(1)), "weights hold pw.x, which the config does not have"),
        (put("bert", "x", torch.zeros(1)), "weights hold bert.x, which the config does not"),
        (
            put("we", "attn.bias", torch.zeros(2)),
            "tensors of another shape than its config says below we",
        ),
        (put("bert", "embeddings.LayerNorm.bias", torch.zeros(2)), "encoder cannot be loaded"),
        (put("a_scorer", "out.bias", torch.tensor([torch.nan])), "not finite"),
        (put("sp", "conv.1.bias", torch.full((2,), torch.inf)), "not finite"),
    ],
)
def test_weights_that_are_refused(tmp_path: Path, change: Change, message: str) -> None:
    folder = copied(tmp_path, change)
    with pytest.raises(InputError, match=message) as caught:
        CAW(str(folder), device="cpu")
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[DEFAULT]", "[DEFAULT", "no config could be read"),
        ("rough_k = 50", "", r"\[tiny_a\]: rough_k is missing; write a whole number from 1 on"),
        ("rough_k = 50", "rough_k = 0", "rough_k is 0; write a whole number from 1 on"),
        ("bert_window_size = 512", "bert_window_size = 513", "a number above 2 and up to 512"),
        ('"roberta-large"', '"elsewhere"', "put the encoder's folder next to config.toml"),
        ('bert_model = "roberta-large"', "", "bert_model is missing"),
        ("[DEFAULT.tokenizer_kwargs]", "[[DEFAULT.tokenizer_kwargs]]", "tokenizer_kwargs is no"),
    ],
)
def test_configs_that_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    folder = copied(tmp_path)
    config = (folder / "config.toml").read_text()
    (folder / "config.toml").write_text(config.replace(old, new))
    with pytest.raises(InputError, match=message):
        CAW(str(folder), device="cpu")


def test_a_config_without_sections(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    (folder / "config.toml").write_text("[DEFAULT]\nrough_k = 50\n")
    with pytest.raises(InputError, match="there is no section but DEFAULT"):
        CAW(str(folder), device="cpu")


@pytest.mark.parametrize("damage", [{"section": None}, {"tokenizer_kwargs": 1}, {"rough_k": "x"}])
def test_a_converted_config_that_is_damaged(tmp_path: Path, damage: dict[str, Any]) -> None:
    convert("caw", str(CHECKPOINT), tmp_path / "converted")
    config = json.loads((tmp_path / "converted" / "config.json").read_text())
    (tmp_path / "converted" / "config.json").write_text(json.dumps(config | damage))
    with pytest.raises(InputError, match=f"{next(iter(damage))} is "):
        CAW(str(tmp_path / "converted"), section="tiny_a", device="cpu")


def test_an_encoder_without_tokenizer(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    for file in (folder / "roberta-large").iterdir():
        if file.name not in ("config.json", "model.safetensors"):
            file.unlink()
    with pytest.raises(InputError, match="the tokenizer's files are missing; add tokenizer") as why:
        CAW(str(folder), device="cpu")
    assert str(folder) in str(why.value)


def test_a_plain_encoder_that_is_a_malicious_pickle(tmp_path: Path) -> None:
    left = tmp_path / "left-behind"
    folder = copied(tmp_path, lambda loaded: loaded.pop("bert"))
    (folder / "roberta-large" / "model.safetensors").unlink()
    torch.save({"x": Payload(left)}, folder / "roberta-large" / "pytorch_model.bin")
    with pytest.raises(InputError, match="the pickle is damaged, or holds more than tensors"):
        CAW(str(folder), device="cpu")
    assert not left.exists()


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such folder"):
        CAW(str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match=r"give a folder with config.toml"):
        CAW(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(InputError, match="its format is not 'pronominal-caw-1'"):
        CAW(str(tmp_path))


def test_a_model_without_clusters_is_announced(tmp_path: Path) -> None:
    folder = copied(tmp_path, put("a_scorer", "out.bias", torch.tensor([-1e6])))
    with pytest.warns(SelfCheckWarning, match="every answer will be 'none'"):
        CAW(str(folder), device="cpu")


@pytest.mark.parametrize("section", SECTIONS)
def test_convert(tmp_path: Path, section: str) -> None:
    convert("caw", str(CHECKPOINT), tmp_path / "converted", section=section)
    names = {file.suffix for file in (tmp_path / "converted").rglob("*") if file.is_file()}
    assert names == {".json", ".safetensors"}
    assert answers(tmp_path / "converted") == answers(tmp_path / "converted", section)
    assert answers(tmp_path / "converted") == right(section)
    with pytest.raises(InputError, match=f"there is no section 'other'; choose one of {section}"):
        CAW(str(tmp_path / "converted"), section="other")
    with pytest.raises(InputError, match="it is there already; name a new folder"):
        convert("caw", str(CHECKPOINT), tmp_path / "converted")
    (tmp_path / "converted" / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(InputError, match="convert or download the checkpoint again"):
        CAW(str(tmp_path / "converted"))


def test_convert_keeps_a_plain_encoder(tmp_path: Path) -> None:
    folder = copied(tmp_path, lambda loaded: loaded.pop("bert"))
    convert("caw", str(folder), tmp_path / "converted")
    assert answers(tmp_path / "converted") == answers(folder)


def test_convert_knows_its_kinds(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match="there is no kind of checkpoint 'cav'; did you mean 'caw'"
    ):
        convert("cav", str(CHECKPOINT), tmp_path / "converted")

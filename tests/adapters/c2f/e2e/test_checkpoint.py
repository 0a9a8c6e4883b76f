import functools
import json
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from pronominal import Document, InputError
from pronominal.adapters.c2f.e2e.checkpoint import open_parts, words_of
from pronominal.adapters.c2f.e2e.system import E2E
from pronominal.adapters.c2f.tensorflow.bundle import read_bundle
from pronominal.adapters.catalogue.convertible import convert
from pronominal.cli.main import app
from pronominal.spans import Cluster

OWN = ROOT / "tests" / "goldens" / "e2e"
CHECKPOINT = OWN / "checkpoint"
WEIGHTS = "model.safetensors"
ROWS = [json.loads(line)["input"] for line in (OWN / "clean.jsonl").read_text("utf-8").splitlines()]
DOCUMENTS = [
    Document(row["sentences"], row["speakers"], row["doc_key"][:2], row["doc_key"]) for row in ROWS
]


def answers(checkpoint: Path, **keywords: Any) -> list[list[Cluster]]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return E2E(str(checkpoint), device="cpu", **keywords).cluster_documents(DOCUMENTS)


@functools.cache
def right() -> list[list[Cluster]]:
    """What the unchanged checkpoint answers, which ``test_e2e.py`` compares with upstream."""
    return answers(CHECKPOINT)


@functools.cache
def variables() -> Mapping[str, np.ndarray]:
    return read_bundle(CHECKPOINT / "tf_checkpoint" / "model.max.ckpt")


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return shutil.copytree(CHECKPOINT, tmp_path / "checkpoint")


def as_npz(folder: Path, more: Mapping[str, np.ndarray], *without: str) -> Path:
    shutil.rmtree(folder / "tf_checkpoint")
    kept = {name: array for name, array in variables().items() if name not in without}
    np.savez(folder / "tf_variables.npz", **kept, **more)
    return folder


def configure(folder: Path, **keys: Any) -> Path:
    config = json.loads((folder / "config.json").read_text()) | keys
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_weights_lie_where_upstream_leaves_them(copied: Path) -> None:
    for file in (copied / "tf_checkpoint").iterdir():
        file.rename(copied / file.name)
    (copied / "tf_checkpoint").rmdir()
    assert answers(copied) == right()


TRAINING = ("beta1_power", "beta2_power", "genre_embeddings/Adam", "genre_embeddings/Adam_1")


def test_what_only_training_needs_is_passed_over(copied: Path) -> None:
    more = {name: np.ones(2, np.float32) for name in TRAINING}
    assert answers(as_npz(copied, more | {"global_step": np.array(3)})) == right()


def test_keys_have_the_values_of_upstreams_best_configuration(copied: Path) -> None:
    config = json.loads((copied / "config.json").read_text())
    for key in ("use_features", "optimizer", "coref_depth", "genres", "coarse_to_fine"):
        del config[key]
    (copied / "config.json").write_text(json.dumps(config))
    assert answers(copied) == right()


@pytest.mark.parametrize("which", ["context_embeddings", "head_embeddings", "elmo_cache"])
def test_files_may_be_given(copied: Path, tmp_path: Path, which: str) -> None:
    name = f"{which}.hdf5" if which == "elmo_cache" else f"{which}.txt"
    (copied / name).rename(tmp_path / "elsewhere")
    assert answers(copied, **{which: str(tmp_path / "elsewhere")}) == right()
    if which != "elmo_cache":
        with pytest.raises(
            InputError, match=f"there is no file of .*; put it .* or give it as {which}"
        ):
            E2E(str(copied))
        (copied / "renamed").symlink_to(tmp_path / "elsewhere")
        assert answers(copied, **{which: "renamed"}) == right()


def test_one_file_may_serve_as_both_embeddings(copied: Path) -> None:
    both = {"path": "context_embeddings.txt", "size": 10}
    with pytest.raises(InputError, match="tensors of another shape than its config says"):
        E2E(str(configure(copied, head_embeddings=both)))


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"ffnn_depth": 3}, r"the weights hold no .*/hidden_bias_2 and 3 more"),
        ({"ffnn_depth": 1}, r"the weights hold coref_layer/slow_.*, which the config does not"),
        ({"contextualization_layers": 2}, r"the weights hold layer_2/.*, which the config does"),
        ({"ffnn_size": 21}, r"the weights hold tensors of another shape than its config says"),
        ({"lm_size": 9}, r"the weights hold tensors of another shape than its config says"),
        ({"genres": ["nw"]}, r"the weights hold tensors of another shape than its config says"),
        ({"use_metadata": False}, r"use_metadata is false, which no published configuration"),
        ({"coref_depth": 0}, r"coref_depth is 0, and has to be 1 or more"),
        ({"lstm_dropout_rate": 1}, r"lstm_dropout_rate is 1.0, and has to be 0 or more and below"),
        ({"filter_widths": 3}, r"a value is missing or of the wrong kind \('int' object"),
        ({"char_vocab_path": "none.txt"}, r"no characters could be read; give upstream's char_"),
    ],
)
def test_a_config_that_does_not_fit(copied: Path, keys: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        E2E(str(configure(copied, **keys)))


def test_a_variable_is_missing_or_unknown(copied: Path) -> None:
    as_npz(copied, {}, "genre_embeddings")
    with pytest.raises(InputError, match=r"npz: the weights hold no genre_embeddings; give config"):
        E2E(str(copied))
    np.savez(copied / "tf_variables.npz", **variables(), extra=np.ones(1))
    with pytest.raises(InputError, match="the weights hold extra, which the config does not have"):
        E2E(str(copied))


def test_a_damaged_or_ambiguous_folder(copied: Path) -> None:
    for file in list((copied / "tf_checkpoint").iterdir()):
        shutil.copy(file, file.with_name(file.name.replace("max", "other")))
    with pytest.raises(InputError, match=r"several TensorFlow checkpoints; keep one of model\.max"):
        E2E(str(copied))
    shutil.rmtree(copied / "tf_checkpoint")
    with pytest.raises(InputError, match=r"there are no weights; add model\.safetensors or tf_"):
        E2E(str(copied))
    (copied / "tf_variables.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputError, match="no variables could be read"):
        E2E(str(copied))


def test_damaged_weights_are_told_by_document(copied: Path) -> None:
    as_npz(copied, {"conv_0/b": np.full(6, np.nan, np.float32)}, "conv_0/b")
    with pytest.raises(InputError, match=r"the scores are not finite"):
        E2E(str(copied)).cluster_documents(DOCUMENTS[:2])


def test_arguments_that_are_refused() -> None:
    with pytest.raises(InputError, match="a batch of 0 texts"):
        E2E(str(CHECKPOINT), batch_size=0)
    with pytest.raises(InputError, match="there is no device 'abacus' here"):
        E2E(str(CHECKPOINT), device="abacus")


# the converted form


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("converted") / "e2e"
    convert("e2e", str(CHECKPOINT), target)
    return target


def test_a_converted_checkpoint_gives_the_same_answers(converted: Path) -> None:
    assert answers(converted, elmo_cache=str(CHECKPOINT / "elmo_cache.hdf5")) == right()
    assert E2E(str(converted), device="cpu").checkpoint.name == str(converted)


def test_every_variable_is_in_the_report(converted: Path) -> None:
    report = json.loads((converted / "conversion.json").read_text())
    used = [variable for variables in report["used"].values() for variable in variables]
    assert sorted(used) == sorted(variables())
    assert report["used"].keys() == load_file(converted / "model.safetensors").keys()
    assert (report["skipped"], report["missing"]) == ([], [])


def test_skipped_variables_are_in_the_report(
    copied: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    as_npz(configure(copied, lm_size=0), {name: np.ones(1) for name in TRAINING})
    app(["convert", "e2e", str(copied), str(tmp_path / "out")], standalone_mode=False)
    report = json.loads((tmp_path / "out" / "conversion.json").read_text())
    mix = ["lm_aggregation/lm_scaling", "lm_aggregation/lm_scores"]
    assert report["skipped"] == sorted([*TRAINING, *mix])
    printed = capsys.readouterr()
    assert printed.out.strip() == str(tmp_path / "out")
    assert "57 variables used" in printed.err
    assert "6 skipped: beta1_power, " in printed.err


def test_embeddings_are_filtered_to_the_words_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("The courier's umbrella, she said.\n", encoding="utf-8")
    words = words_of(tmp_path / "text.txt")
    assert {"The", "courier", "'s", "courier's", "umbrella", ",", "umbrella,"} <= words
    convert("e2e", str(CHECKPOINT), tmp_path / "out", words=tmp_path / "text.txt")
    whole = (CHECKPOINT / "context_embeddings.txt").read_bytes().splitlines()
    kept = (tmp_path / "out" / "context_embeddings.txt").read_bytes().splitlines()
    assert kept == [line for line in whole if line.split(b" ")[0].decode() in words]
    assert 0 < len(kept) < len(whole)
    with pytest.raises(InputError, match="there is no such place"):
        convert("e2e", str(CHECKPOINT), tmp_path / "more", words=tmp_path / "none.txt")


def test_conversions_that_are_refused(converted: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is there already; name a new folder"):
        convert("e2e", str(CHECKPOINT), converted)
    with pytest.raises(InputError, match="it is converted already"):
        convert("e2e", str(converted), tmp_path / "out")
    with pytest.raises(InputError, match="e2e has no option 'section'; leave it out"):
        convert("e2e", str(CHECKPOINT), tmp_path / "out", section="final")
    assert not (tmp_path / "out").exists()


def test_a_checkpoint_of_halves_is_computed_in_float32(converted: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(converted, tmp_path / "copy")
    halves = {name: tensor.half() for name, tensor in load_file(folder / WEIGHTS).items()}
    save_file(halves, folder / WEIGHTS)
    model = open_parts(str(folder)).model
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert all(torch.equal(w, halves[name].float()) for name, w in model.state_dict().items())


def test_a_damaged_converted_checkpoint(converted: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(converted, tmp_path / "copy")
    weights = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(weights[:-9])
    with pytest.raises(InputError, match="no weights could be read"):
        E2E(str(folder))

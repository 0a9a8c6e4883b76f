"""All forms of a checkpoint are one system, and no fault of a file goes unnoticed."""

import json
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pronominal.adapters.c2f.bert.system", exc_type=ImportError)

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from pronominal import InputError
from pronominal.adapters import SYSTEMS, kind_of, load
from pronominal.adapters.c2f.bert.checkpoint import canonical_tensors, convert, open_parts
from pronominal.adapters.c2f.bert.settings import read_settings
from pronominal.adapters.c2f.bert.system import SpanBERT
from pronominal.adapters.c2f.bert.training import open_transformer
from pronominal.adapters.c2f.bert.training_settings import TransformerTraining
from pronominal.adapters.c2f.bert.variables import sources
from pronominal.adapters.c2f.tensorflow.variables import map_variables
from pronominal.cli.main import app

FORMS = ("torch", "tensorflow")
TEXTS = ["The archivist waited for the sailor to return their ladder.", "Oh, she saw him. He ran."]


@pytest.fixture
def folder(goldens: Path, tmp_path: Path) -> Path:
    """A copy of the tiny checkpoint, to be damaged."""
    copy = tmp_path / "checkpoint"
    names = ("model.bin", "tf_checkpoint", "config.json", "bert_config.json", "vocab.txt")
    copy.mkdir()
    for name in names:
        here = goldens / "c2f" / name
        (shutil.copytree if here.is_dir() else shutil.copy)(here, copy / name)
    for file in copy.rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o644)
    return copy


def edit(file: Path, **changes: Any) -> None:
    table = json.loads(file.read_text())
    file.write_text(json.dumps({k: v for k, v in (table | changes).items() if v is not ...}))


def test_both_upstream_forms_have_the_same_tensors(goldens: Path) -> None:
    ours, theirs = (canonical_tensors(open_parts(str(goldens / "c2f"), f).model) for f in FORMS)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    saved = torch.load(goldens / "c2f" / "model.bin", weights_only=True)
    assert saved.keys() - ours.keys() == {"bert.pooler.dense.weight", "bert.pooler.dense.bias"}


def test_variables_of_training_are_skipped(goldens: Path) -> None:
    with np.load(goldens / "c2f" / "tf_variables.npz") as arrays:
        variables = dict(arrays)
    state = {
        "global_step": np.zeros(()),
        "bert/embeddings/word_embeddings/adam_m": np.zeros(2),
        "mention_scores/hidden_weights_0/Adam_1": np.zeros(2),
        "beta1_power": np.zeros(()),
    }
    alone, together = (map_variables(v, sources(v)) for v in (variables, variables | state))
    assert together.tensors.keys() == alone.tensors.keys()
    assert sorted(set(together.skipped) - set(alone.skipped)) == sorted(state)
    assert not together.missing


def test_two_blocks_of_features_change_places(goldens: Path) -> None:
    with np.load(goldens / "c2f" / "tf_variables.npz") as arrays:
        variables = dict(arrays)
    theirs = variables["coref_layer/slow_antecedent_scores/hidden_weights_0"].T
    ours = map_variables(variables, sources(variables)).tensors["coref_score_ffnn.0.weight"]
    size = variables["span_width_embeddings"].shape[1]
    assert np.array_equal(ours[:, : -2 * size], theirs[:, : -2 * size])
    assert np.array_equal(ours[:, -2 * size : -size], theirs[:, -size:])
    assert np.array_equal(ours[:, -size:], theirs[:, -2 * size : -size])


def test_the_published_layout_needs_no_config(folder: Path) -> None:
    """TensorFlow's archives hold the weights, bert_config.json and vocab.txt side by side."""
    for file in (folder / "tf_checkpoint").iterdir():
        file.rename(folder / file.name)
    for name in ("model.bin", "config.json"):
        (folder / name).unlink()
    head = open_parts(str(folder)).settings.head
    expected = (10, 48, 1, 12, 2, 3, 20, 50, 3900)
    assert expected == (
        head.feature_size,
        head.ffnn_size,
        head.ffnn_depth,
        head.max_span_width,
        head.depth,
        head.segment_distances,
        head.max_speakers,
        head.max_antecedents,
        head.max_spans,
    )
    assert open_parts(str(folder), None, {48: 64}).settings.max_segment_len == 64
    assert open_parts(str(folder)).settings.max_segment_len == 96


def test_weights_without_segment_distances_do_not_say_what_a_window_is(folder: Path) -> None:
    tensors = open_parts(str(folder), "torch").mapped.tensors
    fewer = {name: t for name, t in tensors.items() if name != "emb_segment_distance.weight"}
    defaults = {"limit_speakers": False, "max_segment_len": 80}
    settings = read_settings(folder / "no.json", fewer, defaults)
    assert settings.head.segment_distances == 0
    assert "max_training_sentences" not in settings.table


@pytest.mark.parametrize("form", FORMS)
def test_a_converted_checkpoint_is_the_same_system(folder: Path, form: Any) -> None:
    target = folder.parent / "converted"
    report = convert(str(folder), target, form)
    assert json.loads((target / "conversion.json").read_text()) == report
    assert report["missing"] == []
    assert all("pooler" in name for name in report["skipped"])
    assert len(report["used"]) == len(load_file(target / "model.safetensors"))
    one, other = SpanBERT(str(folder), weights=form), SpanBERT(str(target))
    assert one.cluster(TEXTS) == other.cluster(TEXTS)
    assert one._model.head.config == other._model.head.config
    with pytest.raises(InputError, match="there already"):
        convert(str(folder), target)
    with pytest.raises(InputError, match="converted already"):
        convert(str(target), folder.parent / "again")


def test_the_command_reports_variables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = folder.parent / "converted"
    app(
        ["convert", "c2f", str(folder), str(target), "--weights", "tensorflow"],
        standalone_mode=False,
    )
    printed = capsys.readouterr()
    assert printed.out.strip() == str(target)
    assert "variables used" in printed.err
    assert "2 skipped: bert/pooler/dense/bias, bert/pooler/dense/kernel" in printed.err
    assert "0 missing" in printed.err


def test_a_checkpoint_of_depth_1_has_no_gate(folder: Path) -> None:
    tensors = torch.load(folder / "model.bin", weights_only=True)
    torch.save({n: t for n, t in tensors.items() if "gate" not in n}, folder / "model.bin")
    with pytest.raises(InputError, match=r"no gate_ffnn"):
        open_parts(str(folder), "torch")
    edit(folder / "config.json", coref_depth=1)
    assert not open_parts(str(folder), "torch").settings.head.gate


def drop(name: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        tensors = torch.load(folder / "model.bin", weights_only=True)
        torch.save({n: t for n, t in tensors.items() if n != name}, folder / "model.bin")

    return damage


def add(name: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        tensors = torch.load(folder / "model.bin", weights_only=True)
        torch.save({**tensors, name: torch.zeros(3)}, folder / "model.bin")

    return damage


def configure(**changes: Any) -> Callable[[Path], None]:
    return lambda folder: edit(folder / "config.json", **changes)


class Trap:
    """Would run code when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (print, ("unpickled",))


FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "a lost tensor of the head": (drop("emb_genre.weight"), "no emb_genre.weight"),
    "a lost tensor of the encoder": (
        drop("bert.encoder.layer.1.output.dense.bias"),
        r"no bert\.encoder\.layer\.1\.output\.dense\.bias",
    ),
    "no coreference weights": (drop("emb_span_width.weight"), "no emb_span_width.weight"),
    "a surplus tensor": (add("cluster_score_ffnn.0.weight"), "cluster_score_ffnn.0.weight, which"),
    "a surplus layer": (add("bert.encoder.layer.2.output.dense.bias"), "which the config does not"),
    "another size": (configure(ffnn_size=50), "another shape"),
    "another higher order": (configure(higher_order="cluster_merging"), "higher_order is cluster_"),
    "no features": (configure(use_features=False), "use_features is false"),
    "no repeat": (configure(coref_depth=0), "coref_depth is 0, and has to be 1 or more"),
    "no antecedents": (configure(max_top_antecedents=0), "max_top_antecedents is 0"),
    "spans below none": (configure(max_num_extracted_spans=-1), "max_num_extracted_spans is -1"),
    "more spans than pieces": (configure(top_span_ratio=1.5), "top_span_ratio is 1.5, and has to"),
    "all hidden": (configure(dropout_rate=2), "dropout_rate is 2.0, and has to"),
    "no number": (configure(top_span_ratio="much"), "of the wrong kind"),
    "segments too long": (configure(max_segment_len=97), "max_segment_len is 97.*up to 96"),
    "segments without room": (configure(max_segment_len=2), "max_segment_len is 2"),
    "a config that is a list": (
        lambda f: (f / "config.json").write_text("[]"),
        "it is not a JSON object",
    ),
    "a damaged config": (lambda f: (f / "config.json").write_text("{"), "it is not valid JSON"),
    "a damaged tokenizer config": (
        lambda f: (f / "tokenizer_config.json").write_text("{"),
        "it is not valid JSON; drop it if the model is cased",
    ),
    "no vocabulary": (lambda f: (f / "vocab.txt").unlink(), "no word pieces could be read"),
    "a longer vocabulary": (
        lambda f: (f / "vocab.txt").open("a").write("more\n"),
        "1400 pieces, and its tokenizer has more",
    ),
    "no encoder": (lambda f: (f / "bert_config.json").unlink(), "there is no bert_config.json"),
    "code in the pickle": (
        lambda f: (f / "model.bin").write_bytes(pickle.dumps({"x": Trap()}, protocol=2)),
        "no weights could be read",
    ),
    "several weights": (
        lambda f: [shutil.move(f / "model.bin", f / "model_1.bin"), add_second(f)],
        "keep one of model_1.bin, model_2.bin",
    ),
}


def add_second(folder: Path) -> None:
    shutil.copy(folder / "model_1.bin", folder / "model_2.bin")


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(folder: Path, fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    damage, message = FAULTS[fault]
    damage(folder)
    with pytest.raises(InputError, match=message):
        SpanBERT(str(folder), weights="torch", device="cpu")
    assert "unpickled" not in capsys.readouterr().out


def test_a_damaged_bundle_is_refused(folder: Path) -> None:
    (data,) = (folder / "tf_checkpoint").glob("*.data-*")
    content = bytearray(data.read_bytes())
    content[len(content) // 2] ^= 1
    data.write_bytes(content)
    with pytest.raises(InputError, match="checksum"):
        open_parts(str(folder), "tensorflow")
    (index,) = (folder / "tf_checkpoint").glob("*.index")
    index.unlink()
    with pytest.raises(InputError, match=r"there is no \.index"):
        open_parts(str(folder), "tensorflow")


def test_safetensors_come_first_and_then_torch(folder: Path) -> None:
    assert open_parts(str(folder)).form == "torch"
    tensors = torch.load(folder / "model.bin", weights_only=True)
    save_file(dict(tensors), folder / "model.safetensors")
    assert open_parts(str(folder)).form == "safetensors"
    digests = {form: open_parts(str(folder), form).checkpoint.digest for form in FORMS}
    assert len({*digests.values(), open_parts(str(folder)).checkpoint.digest}) == 3


@pytest.mark.parametrize("name", ["spanbert", "bert-coref"])
def test_load(goldens: Path, name: str) -> None:
    system = load(name, str(goldens / "c2f"), weights="tensorflow", device="cpu")
    assert (system.name, kind_of(system), SYSTEMS[name].extra) == (name, "clustering", "c2f")
    with pytest.raises(InputError, match="mandarjoshi90/coref"):
        load(name)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_weights_are_read_in_float32_whatever_the_config_says(folder: Path, dtype: str) -> None:
    right = canonical_tensors(open_parts(str(folder), "torch").model)
    edit(folder / "bert_config.json", dtype=dtype)
    found = canonical_tensors(open_parts(str(folder), "torch").model)
    assert {tensor.dtype for tensor in found.values()} == {torch.float32}
    assert all(torch.equal(found[name], right[name]) for name in right)


def test_a_checkpoint_of_halves_is_computed_in_float32(folder: Path) -> None:
    tensors = torch.load(folder / "model.bin", weights_only=True)
    torch.save({name: tensor.half() for name, tensor in tensors.items()}, folder / "model.bin")
    found = canonical_tensors(open_parts(str(folder), "torch").model)
    assert {tensor.dtype for tensor in found.values()} == {torch.float32}
    assert all(torch.equal(found[name], tensors[name].half().float()) for name in found)


def test_an_encoder_of_halves_is_trained_in_float32(folder: Path, tmp_path: Path) -> None:
    open_parts(str(folder)).model.encoder.bert.bfloat16().save_pretrained(tmp_path / "encoder")  # type: ignore[operator]
    shutil.copy(folder / "vocab.txt", tmp_path / "encoder")
    encoder = str(tmp_path / "encoder")
    system = open_transformer(TransformerTraining(encoder=encoder, size="small"))
    model = system.new_model()
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    (tmp_path / "out").mkdir()
    system.save(model, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "bert_config.json").read_text())["dtype"] == "float32"

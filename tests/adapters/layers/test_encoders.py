"""Encoders with fewer bits: layers within their rounding, and each system asked."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)

from pronominal.adapters import kind_of, load
from pronominal.adapters.bert.training import TrainableBERT
from pronominal.adapters.bert.training_settings import BertTraining
from pronominal.adapters.layers import encoders, packed
from pronominal.adapters.layers.encoders import BFloat16Linear, compute_in
from pronominal.adapters.layers.integers import Int8Linear, Int16Linear, sums_are_exact
from pronominal.adapters.layers.packed import PackedLinear
from pronominal.errors import InputError
from tests.adapters.c2f.new_systems import new_spanbert
from tests.adapters.layers.linear_layers import layer_and_states, shapes
from tests.adapters.lm.language_models import MASKED
from tests.eval.training.test_bert import instance, write_encoder

GOLDENS = Path(__file__).parents[2] / "goldens"
LAYERS = {"float32": PackedLinear, "bfloat16": BFloat16Linear}
if sums_are_exact():
    LAYERS |= {"int8": Int8Linear, "int16": Int16Linear}
TEXTS = ["The baker met a farmer.", "", "The farmer told the baker that xe was late."]
BFLOAT16 = 2.0**-8  # by which share a number is rounded at most


@shapes
@torch.inference_mode()
def test_bfloat16_is_within_its_rounding(seed: int, inner: int, outer: int, biased: bool) -> None:
    layer, states = layer_and_states(seed, inner, outer, biased)
    expected = layer(states)
    bias = layer.bias.abs() if biased else 0.0
    summands = states.abs() @ layer.weight.abs().T + bias
    given = BFloat16Linear(layer)(states)
    assert given.dtype == torch.float32
    off = ((1 + BFLOAT16) ** 3 - 1) * summands  # states, weights, sums
    assert ((given - expected).abs() <= 1.001 * off + 1e-30).all()


@torch.inference_mode()
def test_bfloat16_is_packed_where_the_processor_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    layer, states = layer_and_states(0, 40, 20, True)
    given = BFloat16Linear(layer)
    assert given.weight.is_mkldnn == packed.packs_bfloat16()
    monkeypatch.setattr(encoders, "packs_bfloat16", lambda: False)
    plain = BFloat16Linear(layer)
    assert not plain.weight.is_mkldnn
    summands = states.abs() @ layer.weight.abs().T + layer.bias.abs()
    assert ((given(states) - plain(states)).abs() <= 2 * BFLOAT16 * summands).all()


def trained(name: str, folder: Path) -> Path:
    """Write what a training of a system ends with, as it began."""
    if name == "bert":
        encoder = str(write_encoder("bert", folder / "encoder"))
        new: Any = TrainableBERT(BertTraining(encoder=encoder))
    else:
        new = new_spanbert(folder)
    (folder / "trained").mkdir()
    new.save(new.new_model(), folder / "trained")
    return folder / "trained"


@pytest.mark.parametrize("name", ["lingmess", "fcoref", "caw", "spanbert", "bert-coref", "bert"])
def test_every_system_answers_in_every_dtype(name: str, tmp_path: Path) -> None:
    own = GOLDENS / name / "checkpoint"
    checkpoint = str(own if own.is_dir() else trained(name, tmp_path))
    parameters = set()
    for dtype, layer in LAYERS.items():
        system: Any = load(name, checkpoint, device="cpu", dtype=dtype)
        model = system._package.model if hasattr(system, "_package") else system._model
        assert system.dtype == dtype
        assert layer in [*map(type, model.modules())]
        parameters.add(system.parameters)
        if kind_of(system) == "clustering":
            assert len(system.cluster(TEXTS)) == len(TEXTS)
        else:
            for answer in system.choose([instance(0), instance(1)]):
                assert sum(answer) == pytest.approx(1)
    assert len(parameters) == 1


@torch.inference_mode()
def test_an_encoder_in_fewer_bits_has_nearly_the_same_vectors() -> None:
    torch.manual_seed(3)
    model = MASKED["bert"][1](40).bert.eval().requires_grad_(False)
    tokens = torch.arange(3, 21).reshape(2, 9)
    expected = model(tokens).last_hidden_state
    for dtype in LAYERS.keys() - {"float32"}:
        other = copy.deepcopy(model)
        assert compute_in(dtype, other, other).dtype == dtype
        given = other(tokens).last_hidden_state
        alike = nn.functional.cosine_similarity(expected, given, dim=-1)
        assert 0.99 < alike.min() < 1


def test_an_unknown_dtype_is_named() -> None:
    model = MASKED["bert"][1](40).bert
    with pytest.raises(InputError, match="no dtype 'int4'"):
        compute_in("int4", model, model)  # type: ignore[arg-type]

"""Layers of whole numbers: within their rounding, in every family, and refused where inexact."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from pronominal.adapters import load
from pronominal.adapters.layers import integers
from pronominal.adapters.layers.encoders import BFloat16Linear, compute_in
from pronominal.adapters.layers.integers import (
    Int8Linear,
    Int16Linear,
    bits_of_states,
    multiply_integers,
)
from pronominal.adapters.layers.packed import LINEAR
from pronominal.errors import InputError
from tests.adapters.layers.linear_layers import layer_and_states, shapes
from tests.adapters.layers.test_packed import FAMILIES, asked
from tests.adapters.lm.language_models import CAUSAL, MASKED, filled, own_instances, save

BITS = bits_of_states() or 0
EXACT: dict[Any, str] = {Int8Linear: "int8"} if BITS else {}
"""The layers whose sums are exact on this processor."""
if bits_of_states(added=True) == 8:
    EXACT[Int16Linear] = "int16"


def off_by_half_a_step(layer: nn.Linear, states: Any, weights: int, levels: int) -> Any:
    """Return by how much rounding to so many levels changes a layer's outputs at most."""
    weight_step = layer.weight.abs().amax(1) / weights
    state_step = states.abs().amax(-1, keepdim=True) / levels
    rounded = (
        states.abs().sum(-1, keepdim=True) * weight_step
        + layer.weight.abs().sum(1) * state_step
        + states.shape[-1] * weight_step * state_step
    )
    # of the sums in float32, which all ways of adding have
    rounding = 1e-5 * (states.abs() @ layer.weight.abs().T + layer(states).abs())
    return rounded / 2 + rounding


@shapes
@torch.inference_mode()
def test_int8_is_within_half_a_step_of_each_number(
    seed: int, inner: int, outer: int, biased: bool
) -> None:
    layer, states = layer_and_states(seed, inner, outer, biased)
    off = off_by_half_a_step(layer, states, 127, 127 if BITS == 8 else 63)
    assert ((Int8Linear(layer)(states) - layer(states)).abs() <= off).all()


@shapes
@torch.inference_mode()
def test_int16_is_within_half_a_step_and_the_lower_halves(
    seed: int, inner: int, outer: int, biased: bool
) -> None:
    if Int16Linear not in EXACT:
        return  # refused, which another test holds
    layer, states = layer_and_states(seed, inner, outer, biased)
    levels = 127 * 256
    lower = 128 / levels  # of either, in shares of the largest
    largest = states.abs().amax(-1, keepdim=True) * layer.weight.abs().amax(1)
    off = off_by_half_a_step(layer, states, levels, levels) + inner * lower**2 * largest
    assert ((Int16Linear(layer)(states) - layer(states)).abs() <= off).all()


@torch.inference_mode()
def test_whole_numbers_take_what_is_not_contiguous_nothing_and_what_is_no_number() -> None:
    layer, states = layer_and_states(0, 40, 40, True)
    expected = layer(states)
    layer.weight.data = layer.weight.T.contiguous().T
    states = states.mT.contiguous().mT
    for kind in EXACT:
        given = kind(layer)(states)
        off = (given - expected).abs().amax(-1) / expected.abs().amax(-1)
        assert off.max() < 0.05
        assert (kind(layer)(torch.zeros(2, 40)) == layer.bias).all()
        broken = states.index_fill(1, torch.tensor([1]), float("nan"))
        assert kind(layer)(broken).isnan().any(-1).tolist() == [[False, True]] * 3


@torch.inference_mode()
def test_int16_is_many_times_as_exact_as_what_has_fewer_bits() -> None:
    layer, states = layer_and_states(0, 200, 40, True)
    expected = layer(states)
    off = [(kind(layer)(states) - expected).abs().mean() for kind in (*EXACT, BFloat16Linear)]
    assert off[-1] < off[0]
    assert len(off) == 2 or off[1] * 20 < off[-1]


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_every_family_gives_nearly_the_same_logits(family: str) -> None:
    for kind, dtype in EXACT.items():
        torch.manual_seed(5)
        model = FAMILIES[family][1](40).eval().requires_grad_(False)
        expected = model(**asked(model)).logits
        if family == "state space":
            with pytest.raises(InputError, match=f"reads its weights itself.* {dtype}"):
                multiply_integers(model, dtype)
            continue
        multiply_integers(model, dtype)
        assert [*map(type, model.modules())].count(kind) > 2
        assert not [layer for layer in model.modules() if type(layer) in LINEAR]
        off = (model(**asked(model)).logits - expected).abs().max() / expected.std()
        # a bit less is a step twice as large
        assert 0 < off < {"int8": 0.5 * 2 ** (8 - BITS), "int16": 0.01}[dtype]


def test_a_language_model_is_asked_in_whole_numbers(tmp_path: Path) -> None:
    instances = own_instances()[:3]
    checkpoint = str(save(tmp_path, CAUSAL["gpt2"], filled(instances)))
    exact: Any = load("lm", checkpoint, device="cpu")
    for dtype in EXACT.values():
        system: Any = load("lm", checkpoint, device="cpu", dtype=dtype)
        assert (system.dtype, system.parameters) == (dtype, exact.parameters)
        expected, given = exact.loglikelihood(instances), system.loglikelihood(instances)
        for one, other in zip(given, expected, strict=True):
            assert one == pytest.approx(other, abs=1.0 if dtype == "int8" else 0.05)
            assert one != other
    with pytest.raises(InputError, match="int8 is for CPUs"):
        load("lm", checkpoint, dtype="int8", device_map="auto")


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_whole_numbers_are_for_cpus(dtype: Any) -> None:
    model = MASKED["bert"][1](40).bert.to("meta")
    with pytest.raises(InputError, match=f"{dtype} is for CPUs"):
        compute_in(dtype, model, model)


@pytest.mark.parametrize(("dtype", "bits"), [("int8", None), ("int16", None), ("int16", 7)])
def test_what_the_processor_cannot_multiply_is_refused(
    dtype: Any, bits: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integers, "bits_of_states", lambda added: bits)
    model = MASKED["bert"][1](40).bert
    with pytest.raises(InputError, match=f"no products for {dtype}"):
        compute_in(dtype, model, model)


def test_without_products_in_torch_nothing_is_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops, "onednn", object())
    assert bits_of_states.__wrapped__(added=True) is None

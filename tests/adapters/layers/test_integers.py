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
    multiply_integers,
    sums_are_exact,
)
from pronominal.adapters.layers.replacing import LINEAR, replace_linear
from pronominal.errors import InputError
from tests.adapters.layers.linear_layers import layer_and_states, shapes
from tests.adapters.layers.test_packed import FAMILIES, asked
from tests.adapters.lm.language_models import CAUSAL, MASKED, filled, own_instances, save

EXACT: dict[Any, str] = {Int8Linear: "int8", Int16Linear: "int16"} if sums_are_exact() else {}
"""The layers that this processor has: without VNNI they are refused, which tests hold as well."""


def off_by_half_a_step(layer: nn.Linear, states: Any, levels: int) -> Any:
    """Return by how much rounding to so many levels changes a layer's outputs at most."""
    weight_step = layer.weight.abs().amax(1) / levels
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
def test_whole_numbers_are_within_half_a_step(
    seed: int, inner: int, outer: int, biased: bool
) -> None:
    layer, states = layer_and_states(seed, inner, outer, biased)
    largest = states.abs().amax(-1, keepdim=True) * layer.weight.abs().amax(1)
    for kind in EXACT:
        off = off_by_half_a_step(layer, states, kind._levels)
        if kind is Int16Linear:  # the product of the lower halves, which are up to 128
            off += inner * (128 / kind._levels) ** 2 * largest
        assert ((kind(layer)(states) - layer(states)).abs() <= off).all()


@torch.inference_mode()
def test_whole_numbers_take_any_layout_and_tell_what_is_no_number() -> None:
    layer, states = layer_and_states(0, 40, 40, True)
    expected = layer(states)
    layer.weight.data = layer.weight.T.contiguous().T
    states = states.mT.contiguous().mT
    for kind in EXACT:
        made = kind(layer)
        off = (made(states) - expected).abs().amax(-1) / expected.abs().amax(-1)
        assert off.max() < 0.05
        assert (made(torch.zeros(2, 40)) == layer.bias).all()
        broken = states.index_fill(1, torch.tensor([1]), float("nan"))
        assert made(broken).isnan().any(-1).tolist() == [[False, True]] * 3
        for shape in ((0, 40), (0, 5, 40), (3, 0, 40)):
            assert made(torch.zeros(shape)).shape == (*shape[:-1], 40)


@torch.inference_mode()
def test_int16_is_many_times_as_exact_as_what_has_fewer_bits() -> None:
    layer, states = layer_and_states(0, 200, 40, True)
    off = {k: (k(layer)(states) - layer(states)).abs().mean() for k in (*EXACT, BFloat16Linear)}
    few = off.pop(BFloat16Linear)
    assert not off or off[Int16Linear] * 20 < few < off[Int8Linear]


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_every_family_gives_nearly_the_same_logits(family: str) -> None:
    for kind, dtype in EXACT.items():
        torch.manual_seed(5)
        model = FAMILIES[family][1](40).eval().requires_grad_(False)
        expected = model(**asked(model)).logits
        if family == "state space":
            with pytest.raises(InputError, match=f"reads its weights itself.* {dtype}"):
                multiply_integers(model, dtype, "own")
            continue
        multiply_integers(model, dtype, "own")
        assert [*map(type, model.modules())].count(kind) > 2
        assert not [layer for layer in model.modules() if type(layer) in LINEAR]
        off = (model(**asked(model)).logits - expected).abs().max() / expected.std()
        assert 0 < off < {"int8": 0.5, "int16": 0.01}[dtype]


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
    with pytest.raises(InputError, match="int8 is for CPUs, and device_map"):
        load("lm", checkpoint, dtype="int8", device_map="auto")


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_whole_numbers_are_for_cpus(dtype: Any) -> None:
    model = MASKED["bert"][1](40).bert.to("meta")
    with pytest.raises(InputError, match=f"{dtype} is for CPUs"):
        compute_in(dtype, model, model)


@pytest.mark.parametrize("dtype", ["int8", "int16"])
def test_what_the_processor_does_not_add_exactly_is_refused(
    dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integers, "sums_are_exact", lambda: False)
    model = MASKED["bert"][1](40).bert
    with pytest.raises(InputError, match=f"{dtype} takes a processor with VNNI"):
        compute_in(dtype, model, model)


def test_without_torch_s_products_no_sum_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.ops, "onednn", object())
    assert not sums_are_exact.__wrapped__()


def test_a_layer_with_two_names_is_replaced_under_both() -> None:
    module = nn.Module()
    module.one = module.other = nn.Linear(2, 2)
    replace_linear(module, BFloat16Linear)
    assert module.one is module.other
    assert type(module.one) is BFloat16Linear

"""Packed weights are the same function in less time; models that read their weights keep them."""

import copy
from typing import Any

import pytest
import torch
from torch import nn

from pronominal.adapters.layers import packed
from pronominal.adapters.layers.packed import PackedLinear, pack_weights
from tests.adapters.lm.language_models import CAUSAL, MASKED, T5, WITHOUT_TREES

FAMILIES = {**CAUSAL, **MASKED, "t5": T5, "state space": WITHOUT_TREES["state space"]}
TOKENS = torch.arange(3, 21).reshape(2, 9)


def asked(model: Any) -> dict[str, torch.Tensor]:
    inputs = {"input_ids": TOKENS, "attention_mask": torch.ones_like(TOKENS)}
    if model.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = TOKENS
    return inputs


def layers(model: Any) -> list[PackedLinear]:
    return [layer for layer in model.modules() if isinstance(layer, PackedLinear)]


@pytest.mark.parametrize("family", FAMILIES)
@torch.inference_mode()
def test_every_family_gives_the_same_logits(family: str) -> None:
    torch.manual_seed(5)
    model = FAMILIES[family][1](40).eval().requires_grad_(False)
    expected = model(**asked(model)).logits
    pack_weights(model)
    assert (model(**asked(model)).logits - expected).abs().max() < 1e-5


@pytest.mark.parametrize("family", [*CAUSAL, *MASKED, "t5"])
def test_no_plain_layer_is_left(family: str) -> None:
    model = FAMILIES[family][1](40)
    pack_weights(model)
    assert isinstance(model.get_output_embeddings(), PackedLinear)
    assert not [layer for layer in model.modules() if type(layer) is nn.Linear]


def test_nothing_is_packed_on_a_processor_without_avx2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: "DEFAULT")
    model = CAUSAL["llama"][1](40)
    pack_weights(model)
    assert (layers(model), packed.packs_bfloat16()) == ([], False)


def test_no_weight_is_in_memory_twice() -> None:
    model = CAUSAL["llama"][1](40)
    before = copy.deepcopy(model)
    tied = {id(model.get_input_embeddings().weight)}
    linear = [layer for layer in model.modules() if type(layer) is nn.Linear]
    pack_weights(model)
    assert [layer.weight for layer in linear] == [None] * len(linear)
    assert id(model.get_input_embeddings().weight) in tied
    assert torch.equal(model.get_input_embeddings().weight, before.get_input_embeddings().weight)


class ReadsWeights(nn.Module):
    """A layer of somebody's own that multiplies with another layer's weight itself."""

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return states @ self.layer.weight.t() + self.layer.bias


@pytest.mark.parametrize("family", ["gpt2", "bert"])
@torch.inference_mode()
def test_a_model_that_reads_its_weights_keeps_them(family: str) -> None:
    model = FAMILIES[family][1](40).eval().requires_grad_(False)
    block = model.transformer.h[0] if family == "gpt2" else model.bert.encoder.layer[0]
    size = model.config.hidden_size
    block.register_module("own", ReadsWeights(nn.Linear(size, size)))
    reading = block.own
    block.register_forward_pre_hook(lambda _, given: (reading(given[0]), *given[1:]))
    before, expected = copy.deepcopy(model.state_dict()), model(**asked(model)).logits
    pack_weights(model)
    assert not layers(model)
    assert {n: t.tolist() for n, t in before.items()} == {
        n: t.tolist() for n, t in model.state_dict().items()
    }
    assert torch.equal(model(**asked(model)).logits, expected)


def test_a_torch_without_the_functions_keeps_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_PRIVATE", ("_linear_pointwise", "_no_such_function"))
    model = CAUSAL["gpt2"][1](40)
    pack_weights(model)
    assert not layers(model)


def test_half_precision_stays_as_it_is() -> None:
    model = CAUSAL["gpt2"][1](40).bfloat16()
    pack_weights(model)
    assert not layers(model)

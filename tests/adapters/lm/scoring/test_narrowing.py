"""Encoders compute the end of their last layer for masked tokens alone, where that is the same."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

if find_spec("transformers") is None:
    pytest.skip("needs the extra lm", allow_module_level=True)

import torch
import transformers

from pronominal.adapters.lm.scoring.logits import logits_at
from pronominal.adapters.lm.scoring.narrowing import narrowest, same_logits
from tests.adapters.lm.language_models import MASKED, quiet

LIKE_BERT = ["bert", "roberta"]


def tiny(family: str) -> Any:
    with quiet():
        return MASKED[family][1](100)


@pytest.mark.parametrize("family", MASKED)
def test_logits_are_those_of_every_token(family: str) -> None:
    model = tiny(family)
    chosen_at = narrowest(model)
    assert (chosen_at is not model.get_output_embeddings()) == (family in LIKE_BERT)
    tokens = torch.arange(5, 35).reshape(3, 10)
    places = np.array([3, 9, 10, 17, 29])
    fed: list[int] = []
    layer = [m for name, m in model.named_modules() if name.endswith("intermediate")][-1:]
    hooks = [m.register_forward_hook(lambda *given: fed.append(given[2].shape[1])) for m in layer]
    found = logits_at(model, places, chosen_at, input_ids=tokens)
    for hook in hooks:
        hook.remove()
    with torch.inference_mode():
        expected = model(tokens).logits.flatten(0, 1)[places]
    assert (found - expected).abs().max() < 1e-5
    if family in LIKE_BERT:
        assert fed == [len(places)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_module_before_the_last_attention_is_told(dtype: torch.dtype) -> None:
    """Whether the next attention sees too few tokens, or a sum has two lengths."""
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 16}
    torch.manual_seed(0)
    config = transformers.BertConfig(vocab_size=100, num_hidden_layers=3, **sizes)
    model = transformers.BertForMaskedLM(config).eval().to(dtype)
    for weight in model.parameters():
        weight.data.mul_(10)  # else what is attended to hardly changes a state
    joins = [layer.attention.output for layer in model.bert.encoder.layer]
    queries = model.bert.encoder.layer[-1].attention.self.query
    told = [same_logits(model, module) for module in (*joins, queries, model.bert.embeddings)]
    assert told == [False, False, True, False, False]
    assert narrowest(model) is joins[-1]

"""Encoders compute the end of their last layer for masked tokens alone, where that is the same."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

if find_spec("transformers") is None:
    pytest.skip("needs the extra lm", allow_module_level=True)

import torch
import transformers

from pronominal.adapters.lm.scoring.encoder import MaskedScorer
from pronominal.adapters.lm.scoring.logits import logits_at
from pronominal.adapters.lm.scoring.narrowing import narrowest
from pronominal.adapters.lm.scoring.tokens import Sequences

SIZES = {
    "vocab_size": 100,
    "hidden_size": 8,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "max_position_embeddings": 64,
}
KNOWN = ("Bert", "Camembert", "Electra", "Roberta", "XLMRoberta", "XLMRobertaXL")


def tiny(name: str, **more: Any) -> Any:
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(**SIZES, **more)
    model = getattr(transformers, f"{name}ForMaskedLM")(config).eval()
    for weight in model.parameters():
        weight.data.mul_(10)  # else what is attended to hardly changes a state
    return model


@pytest.mark.parametrize("places", [[7], [3, 9, 10, 17, 29], [*range(2, 28)]], ids=len)
@pytest.mark.parametrize("name", KNOWN)
def test_logits_are_those_of_every_token(name: str, places: list[int]) -> None:
    model = tiny(name)
    tokens = torch.arange(5, 35).reshape(3, 10)
    chosen_at = narrowest(model)
    assert chosen_at is not None
    found = logits_at(model, np.array(places), chosen_at, input_ids=tokens)
    with torch.inference_mode():
        expected = model(tokens).logits.flatten(0, 1)[places]
    assert (found - expected).abs().max() < 1e-5 * expected.abs().max()


def test_scoring_feeds_masked_tokens_alone_to_the_end_of_the_last_layer() -> None:
    model = tiny("Bert")
    ids = np.array([[2, 7, 8, 9, 3], [2, 7, 6, 9, 3]], np.int32)
    sequences = Sequences(ids, ids > 0, np.array([5, 5]), np.array([0, 0]))
    scorer = MaskedScorer(model, frame=(1, 1), mask=4)
    fed: list[list[int]] = []
    for layer in model.bert.encoder.layer:
        layer.intermediate.register_forward_hook(
            lambda _, given, __: fed.append([*given[0].shape[:2]])
        )
    scorer.score(sequences)
    # the sentences differ in one token, whose copies are the same
    assert fed == [[5, 5], [5, 5], [1, 5]]


@pytest.mark.parametrize(
    ("name", "more"),
    [("Albert", {}), ("Luke", {"entity_vocab_size": 5}), ("Bert", {"chunk_size_feed_forward": 2})],
)
def test_other_models_compute_every_token(name: str, more: dict[str, int]) -> None:
    """LUKE's last layer has a module of that name, and looks at the number of tokens behind it."""
    assert narrowest(tiny(name, **more)) is None

from importlib.util import find_spec
from typing import Any

import pytest

if find_spec("transformers") is None:
    pytest.skip("needs the extra lingmess", allow_module_level=True)

import torch
from torch import Tensor
from transformers import LongformerConfig, LongformerModel, RobertaConfig, RobertaModel

from pronominal.adapters.fastcoref.dense_longformer import dense_limit, encode_densely

PADDING = 1


def longformer(*windows: int) -> Any:
    torch.manual_seed(0)
    config = LongformerConfig(
        attention_window=list(windows),
        hidden_size=24,
        intermediate_size=40,
        max_position_embeddings=70,
        num_attention_heads=3,
        num_hidden_layers=len(windows),
        pad_token_id=PADDING,
        vocab_size=50,
    )
    encoder = LongformerModel(config).eval()
    with torch.no_grad():
        for name, parameter in encoder.named_parameters():
            if "attention.self" in name:  # attention that is all but uniform shows no border
                parameter.mul_(10)
    return encoder


def difference(encoder: Any, ids: Tensor) -> float:
    """Return the largest difference between the dense and the encoder's own hidden states."""
    with torch.no_grad():
        windowed = encoder(ids, attention_mask=torch.ones_like(ids)).last_hidden_state
        return float((encode_densely(encoder, ids) - windowed).abs().max())


def random_ids(texts: int, tokens: int) -> Tensor:
    return torch.randint(3, 50, (texts, tokens), generator=torch.Generator().manual_seed(tokens))


@pytest.mark.parametrize("windows", [(16, 16), (32, 8), (8, 32), (4,)])
def test_dense_and_windowed_agree_up_to_half_a_window_and_one(windows: tuple[int, ...]) -> None:
    encoder, limit = longformer(*windows), min(windows) // 2 + 1
    assert dense_limit(encoder) == limit
    for tokens in range(1, limit + 1):
        assert difference(encoder, random_ids(3, tokens)) < 1e-5
    assert difference(encoder, random_ids(3, limit + 1)) > 1e-4


def test_a_text_may_hold_the_padding_token_itself() -> None:
    ids = random_ids(2, 9)
    ids[0, 4] = PADDING
    assert difference(longformer(16, 16), ids) < 1e-5


def test_there_are_no_other_weights() -> None:
    encoder = longformer(16)
    ids = random_ids(1, 5)
    with torch.no_grad():
        before = encode_densely(encoder, ids)
        encoder.encoder.layer[0].attention.self.value.weight.mul_(2)
        after = encode_densely(encoder, ids)
    assert not torch.equal(before, after)
    assert difference(encoder, ids) < 1e-5


def test_other_encoders_are_left_alone() -> None:
    config = RobertaConfig(
        vocab_size=9,
        hidden_size=8,
        num_attention_heads=2,
        num_hidden_layers=1,
        intermediate_size=8,
    )
    assert dense_limit(RobertaModel(config)) == 0

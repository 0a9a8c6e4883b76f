"""The Longformer of Beltagy et al. (2020) without its window, for texts that fit into half of it.

A token attends to ``attention_window / 2`` tokens on either side. Up to one token more than that,
every token sees all others, so that plain attention gives the same vectors from the same weights;
the windowed code pads the text to a multiple of the window first, 512 for most models.
"""

from typing import Any

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import LongformerModel


def dense_limit(encoder: nn.Module) -> int:
    """Return up to how many tokens `encode_densely` agrees with the encoder's own forward pass.

    That is half the smallest window of a layer, and one; 0 for any other encoder.
    """
    if not isinstance(encoder, LongformerModel):
        return 0
    layers: Any = encoder.encoder.layer
    sides: list[int] = [layer.attention.self.one_sided_attn_window_size for layer in layers]
    return 1 + min(sides)


def encode_densely(encoder: Any, ids: Tensor, there: Tensor | None = None) -> Tensor:
    """Return the last hidden states of texts, as [texts, tokens, hidden].

    The encoder's own modules compute them.

    Args:
        encoder: a Longformer, used without global attention.
        ids: token ids as [texts, tokens], as many as `dense_limit` allows.
        there: which of them are no padding; None where all are.
    """
    states: Tensor = encoder.embeddings(ids)
    seen = None if there is None or bool(there.all()) else there[:, None, None]
    for layer in encoder.encoder.layer:
        own = layer.attention.self
        query, key, value = (
            project(states).unflatten(-1, (own.num_heads, own.head_dim)).transpose(1, 2)
            for project in (own.query, own.key, own.value)
        )
        dropout = own.dropout if encoder.training else 0.0
        heads = scaled_dot_product_attention(query, key, value, seen, dropout)
        attended = heads.transpose(1, 2).flatten(-2)
        states = layer.ff_chunk(layer.attention.output(attended, states))
    return states

"""Prompts through a sequence-to-sequence model's encoder, without much padding.

The decoder reads all prompts of a batch at once, since each of its steps has one token a prompt.
The encoder has a prompt's length of them, so that it reads prompts of similar length together.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad

from pronominal.adapters.lm.scoring.tokens import Tokens, padded

_SIMILAR = 0.9
"""The shortest prompt that is read together with a longer one, as a share of its length."""


def encoded(model: Any, prompts: Sequence[Tokens]) -> tuple[Tensor, Tensor]:
    """Return the encoder's states, and where there are tokens.

    Args:
        model: one of transformers' sequence-to-sequence models.
        prompts: tokens of each prompt, longest first.

    Returns:
        States as [prompts, tokens of the longest, hidden], 0 behind a prompt's end, and which of
        them are tokens, [prompts, tokens of the longest].
    """
    _, there = padded(prompts)
    encode, longest, parts = model.get_encoder(), there.shape[1], []
    with torch.inference_mode():
        for group in _similar(prompts):
            ids, read = padded(group)
            states = encode(
                input_ids=torch.from_numpy(ids).to(model.device),
                attention_mask=torch.from_numpy(read).to(model.device),
            )[0]
            parts.append(pad(states, (0, 0, 0, longest - ids.shape[1])))
        return torch.cat(parts), torch.from_numpy(there).to(parts[0].device)


def _similar(prompts: Sequence[Tokens]) -> Iterator[Sequence[Tokens]]:
    start = 0
    for end in range(1, len(prompts) + 1):
        if end == len(prompts) or len(prompts[end]) < _SIMILAR * len(prompts[start]):
            yield prompts[start:end]
            start = end

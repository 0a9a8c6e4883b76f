"""Continuations drawn at random, each from a generator of its own."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from transformers import LogitsProcessor, LogitsProcessorList

from pronominal.adapters.lm.models.loading import LoadedModel
from pronominal.adapters.lm.scoring.memory import LongestFirst
from pronominal.adapters.lm.scoring.tokens import padded
from pronominal.errors import InputError


@dataclass(frozen=True, slots=True)
class Draw:
    """How continuations are drawn.

    Attributes:
        samples: how many of each context.
        new_tokens: how long each is, in tokens; none ends earlier.
        temperature: by which logits are divided; None for the checkpoint's own.
        top_k: how many of the likeliest tokens may be drawn.
        top_p: the likeliest of these are drawn that have this share of their probability.
        seed: of all draws.

    Raises:
        InputError: nothing could be drawn so.
    """

    samples: int
    new_tokens: int
    temperature: float | None
    top_k: int
    top_p: float
    seed: int

    def __post_init__(self) -> None:
        if min(self.samples, self.new_tokens, self.top_k) < 1 or not 0 < self.top_p <= 1:
            raise InputError("nothing could be drawn", cure="give numbers above 0, top_p at most 1")
        if self.temperature is not None and self.temperature <= 0:
            cause = f"the temperature is {self.temperature}"
            raise InputError(cause, cure="give a number above 0")

    def of(self, model: Any) -> "Draw":
        """Return it with the temperature of a model where it has none itself; 1 without either."""
        own = getattr(model.generation_config, "temperature", None)
        return self if self.temperature is not None else replace(self, temperature=own or 1.0)

    def generator(self, context: str, sample: int) -> torch.Generator:
        """Return what draws one continuation, which no other context or sample changes."""
        told = f"{self.seed} {sample} {context}".encode()
        number = int.from_bytes(hashlib.sha256(told).digest()[:7])
        return torch.Generator().manual_seed(number)


class SeededSampling(LogitsProcessor):
    """Leaves one token to each sequence, drawn from its own generator: greedy decoding takes it."""

    def __init__(self, draw: Draw, generators: Sequence[torch.Generator]) -> None:
        self._draw, self._generators = draw, generators

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """Return logits of which all but the drawn token's are minus infinity."""
        logits = scores.float().cpu() / (self._draw.temperature or 1.0)
        values, tokens = logits.topk(min(self._draw.top_k, logits.shape[1]))
        shares = values.softmax(dim=1)
        shares = shares.masked_fill(shares.cumsum(dim=1) - shares >= self._draw.top_p, 0)
        border = torch.cat([torch.rand(1, generator=one) for one in self._generators])
        sums = shares.cumsum(dim=1)
        # the last token with a share, where rounding would go beyond it
        place = (sums <= border[:, None] * sums[:, -1:]).sum(dim=1)
        place = torch.minimum(place, (shares > 0).sum(dim=1) - 1)
        drawn = tokens.gather(1, place[:, None]).to(scores.device)
        return torch.full_like(scores, -torch.inf).scatter(1, drawn, 0.0)


class ContinuationBatches(LongestFirst):
    """All samples of some contexts, longest first.

    Attributes:
        texts: context -> sample -> what was drawn.
    """

    def __init__(self, loaded: LoadedModel, contexts: Sequence[str], draw: Draw) -> None:
        self._loaded, self._contexts, self._draw = loaded, contexts, draw
        self._tokens = [list(loaded.tokenizer(one)["input_ids"]) for one in contexts]
        lengths = [len(tokens) + draw.new_tokens for tokens in self._tokens]
        loaded.refuse_longer(lengths, "a context with its continuation")
        super().__init__([length for length in lengths for _ in range(draw.samples)])
        tokenizer = loaded.tokenizer
        paddings = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
        self._padding = int(next(token for token in paddings if token is not None))
        self.texts = [[""] * draw.samples for _ in contexts]

    def forward(self, borders: Sequence[int]) -> None:
        """Draw the continuations between these borders."""
        chosen = [divmod(row, self._draw.samples) for row in self.between(borders)]
        contexts = [self._tokens[context] for context, _ in chosen]
        generators = [self._draw.generator(self._contexts[c], sample) for c, sample in chosen]
        with torch.inference_mode():
            written = self._loaded.model.generate(
                **self._inputs(contexts),
                min_new_tokens=self._draw.new_tokens,
                max_new_tokens=self._draw.new_tokens,
                pad_token_id=self._padding,
                logits_processor=LogitsProcessorList([SeededSampling(self._draw, generators)]),
                do_sample=False,
                num_beams=1,
                # what a checkpoint sets for sampling of its own
                temperature=None,
                top_p=None,
                top_k=None,
            )
        new = written[:, max(map(len, contexts)) :]
        texts = self._loaded.tokenizer.batch_decode(new, skip_special_tokens=True)
        for (context, sample), text in zip(chosen, texts, strict=True):
            self.texts[context][sample] = text

    def _inputs(self, contexts: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return contexts padded in front, as what is drawn follows the last token."""
        ids, read = padded([context[::-1] for context in contexts], self._padding)
        arrays = {"input_ids": ids, "attention_mask": read}
        return {
            name: torch.from_numpy(np.fliplr(array).astype(np.int64)).to(self._loaded.model.device)
            for name, array in arrays.items()
        }

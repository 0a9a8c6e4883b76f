"""Log-likelihoods under causal models: sequences as prefix trees, or one by one in plain batches.

A tree needs attention that takes any mask. Where a model's does not (FlashAttention, ALiBi, state
spaces), or where it looks back less far than a text is long (sliding windows), every sequence is
fed on its own. Whether a tree gives the model's own numbers is tried on the longest instance of a
call; a trial that passed holds for all later calls whose instances are no longer.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from pronominal.adapters.lm.scoring.logits import Scores, add_log_probabilities, logits_at
from pronominal.adapters.lm.scoring.memory import (
    Budget,
    LongestFirst,
    kind_of_device,
    out_of_memory,
)
from pronominal.adapters.lm.scoring.tokens import IntArray, Sequences, padded
from pronominal.adapters.lm.scoring.trie import Pack, PrefixTree

Way = Literal["tree", "plain"]

BATCH_TOKENS = {"cpu": 512, "cuda": 16_384}
"""How many tokens go through the model at once when nothing else is asked for."""

PACK_TOKENS = {"cpu": 512, "cuda": 1024}
"""How many nodes of a tree attend to each other when nothing else is asked for."""

_MASKABLE = ("sdpa", "eager")
"""Implementations of attention in transformers that take a mask of any shape."""

_WINDOWS = ("sliding_window", "window_size", "attention_window")
"""How configs call the number of tokens that attention looks back."""


class TreeBatches:
    """Sequences as packs of a prefix tree, several packs in a batch.

    Attributes:
        scores: the sum of log-probabilities of each sequence so far, [sequences].
        tokens: how many tokens were fed to the model.
    """

    def __init__(self, model: Any, sequences: Sequences, first: IntArray, pack_tokens: int) -> None:
        self._model = model
        self._tree = PrefixTree(sequences, first)
        self._pack_tokens = pack_tokens
        self.rows = len(self._tree.order)
        self.scores: Scores = np.zeros(len(sequences.lengths))
        self.tokens = 0

    def borders(self, start: int, tokens: int) -> list[int]:
        """Cut out as many packs as a batch can hold."""
        size, borders = min(tokens, self._pack_tokens), [start]
        while borders[-1] < self.rows and len(borders) <= tokens // size:
            borders.append(self._tree.end_of_pack(borders[-1], size))
        return borders

    def forward(self, borders: Sequence[int]) -> None:
        """Score the packs between these borders."""
        packs = [self._tree.pack(start, end) for start, end in pairwise(borders)]
        width = max(len(pack.tokens) for pack in packs)
        logits = logits_at(
            self._model,
            np.concatenate([row * width + pack.read for row, pack in enumerate(packs)]),
            input_ids=self._padded([pack.tokens for pack in packs]),
            position_ids=self._padded([pack.positions for pack in packs]),
            attention_mask=self._mask(packs, width),
            use_cache=False,
        )
        before = np.cumsum([0, *(len(pack.read) for pack in packs)])
        add_log_probabilities(
            self.scores,
            np.concatenate([pack.sequences for pack in packs]),
            logits,
            np.concatenate([b + pack.parents for b, pack in zip(before, packs, strict=False)]),
            np.concatenate([pack.scored for pack in packs]),
        )
        self.tokens += sum(len(pack.tokens) for pack in packs)

    def _mask(self, packs: Sequence[Pack], width: int) -> Tensor:
        """Return which node attends to which, [packs, 1, nodes, nodes]: to itself and ancestors."""
        nodes = torch.arange(width, device=self._model.device)
        # padding ends at 0: no node attends to it, and its own states are never read
        ends = self._padded([pack.ends for pack in packs])[:, None, None, :]
        attends = (nodes <= nodes[:, None]) & (nodes[:, None] < ends) | torch.eye(
            width, dtype=torch.bool, device=nodes.device
        )
        if self._model.config._attn_implementation == "sdpa":
            return attends
        # the plain implementation adds its mask to the scores
        dtype = self._model.dtype
        return torch.zeros_like(attends, dtype=dtype).masked_fill(~attends, torch.finfo(dtype).min)

    def _padded(self, rows: Sequence[IntArray]) -> Tensor:
        return torch.from_numpy(padded(rows)[0]).to(self._model.device)


class PlainBatches(LongestFirst):
    """Sequences one by one, longest first, padded on the right, which no token looks at.

    See `TreeBatches` for arguments and attributes.
    """

    def __init__(self, model: Any, sequences: Sequences, first: IntArray) -> None:
        self._model, self._ids, self._first = model, sequences.ids, first
        self._fed = sequences.lengths - 1  # nothing follows the last token
        super().__init__(np.where(first < sequences.lengths, self._fed, 0).tolist())
        self.scores: Scores = np.zeros(len(sequences.lengths))
        self.tokens = 0

    def forward(self, borders: Sequence[int]) -> None:
        """Score the sequences between these borders."""
        chosen = np.array(self.between(borders))
        fed = self._fed[chosen, None]
        width = int(fed.max())
        ids = self._ids[chosen, : width + 1]
        places = np.arange(width + 1)
        rows, scored = np.nonzero((places >= self._first[chosen, None]) & (places <= fed))
        padded = torch.from_numpy(np.maximum(ids[:, :-1], 0).astype(np.int64))
        logits = logits_at(
            self._model,
            rows * width + scored - 1,
            input_ids=padded.to(self._model.device),
            use_cache=False,
        )
        every = np.arange(len(rows))
        add_log_probabilities(self.scores, chosen[rows], logits, every, ids[rows, scored])
        self.tokens += padded.numel()


class CausalScorer:
    """Sums the log-probabilities of the last tokens of sequences.

    Args:
        model: one of transformers' causal models.
        batch_tokens: how many tokens go through the model at once; see `BATCH_TOKENS`.
        pack_tokens: how many nodes of a tree attend to each other at most; memory for attention
            and work on unrelated branches grow with it, repeated ancestors shrink. See
            `PACK_TOKENS`.
        way: how sequences are fed; when None, as a tree where that was tried and passed.

    Attributes:
        tokens: how many tokens were fed to the model, padding included, trials not.
    """

    def __init__(
        self,
        model: Any,
        *,
        batch_tokens: int | None = None,
        pack_tokens: int | None = None,
        way: Way | None = None,
    ) -> None:
        self.model = model
        self.way = way
        self.tokens = 0
        self._budget = Budget(batch_tokens, BATCH_TOKENS, model.device)
        most = PACK_TOKENS[kind_of_device(model.device)] if pack_tokens is None else pack_tokens
        self._pack_tokens = min(most, self._budget.tokens)
        self._passed = 0

    def score(self, sequences: Sequences, first: IntArray) -> Scores:
        """Return the log-likelihood of the tokens from `first` on, in nats, [sequences].

        `first` is the position of each sequence's first token that counts, at least 1, since
        nothing predicts the one at 0. `InputError` if a single text does not fit into memory.
        """
        way = self.way or ("tree" if self._takes_trees(sequences, first) else "plain")
        batches = self._batches(way, sequences, first)
        self._budget.spend_on(batches)
        self.tokens += batches.tokens
        return batches.scores

    def _batches(
        self, way: Way, sequences: Sequences, first: IntArray
    ) -> TreeBatches | PlainBatches:
        if way == "tree":
            return TreeBatches(self.model, sequences, first, self._pack_tokens)
        return PlainBatches(self.model, sequences, first)

    def _takes_trees(self, sequences: Sequences, first: IntArray) -> bool:
        """Say whether a tree gives the model's own numbers for the longest instance."""
        config = self.model.config.get_text_config()
        longest = int(sequences.lengths.max())
        windows = (getattr(config, name, None) for name in _WINDOWS)
        if config._attn_implementation not in _MASKABLE or any(
            isinstance(window, int) and window < longest for window in windows
        ):
            return False
        if longest > self._passed and self._same_as_plain(sequences, first):
            self._passed = longest
        return longest <= self._passed

    def _same_as_plain(self, sequences: Sequences, first: IntArray) -> bool:
        owner = sequences.owners[sequences.lengths.argmax()]
        alone, start = sequences.of(owner), first[sequences.owners == owner]
        plain, tree = (self._batches(way, alone, start) for way in ("plain", "tree"))
        self._budget.spend_on(plain)
        try:
            if not self._reads_positions(alone):
                return False
            self._budget.spend_on(tree)
        except (RuntimeError, TypeError, ValueError, LookupError) as error:
            if out_of_memory(error):
                raise
            return False  # a mask or positions that the model does not take
        # a wrong mask moves scores by nats; half precision alone by some tenths
        exact = self.model.dtype in (torch.float32, torch.float64)
        return bool(np.abs(tree.scores - plain.scores).max() <= (1e-3 if exact else 1.0))

    def _reads_positions(self, sequences: Sequences) -> bool:
        """Say whether the positions that the model is given change what it says.

        In a tree they are not the places in the row. A model that counts places instead (ALiBi) is
        wrong there, and in half precision by no more than rounding may be.
        """
        row = int(sequences.lengths.argmax())
        ids = sequences.ids[row : row + 1, : sequences.lengths[row]].astype(np.int64)
        places = np.arange(ids.shape[1])[None]
        tokens, *positions = (
            torch.from_numpy(rows).to(self.model.device)
            for rows in (ids, places, np.zeros_like(places))
        )
        said = (
            logits_at(
                self.model, places[0, -1:], input_ids=tokens, position_ids=given, use_cache=False
            )
            for given in positions
        )
        return not torch.equal(*said)

"""Pseudo-log-likelihoods under masked models (Salazar et al., 2020), word by word.

A token is predicted from a copy of its text in which it and the later tokens of its word are
masked (``within_word_l2r`` of Kauf and Ivanova, 2023, "A Better Way to Do Masked Language Model
Scoring"), so that a word of several tokens is not given away by its own end. The score of a text is
the sum over its tokens without the special ones. Words are those of the tokenizer.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from pronominal.adapters.lm.scoring.logits import Scores, add_log_probabilities, logits_at
from pronominal.adapters.lm.scoring.memory import Budget, LongestFirst
from pronominal.adapters.lm.scoring.tokens import IntArray, Sequences

BATCH_TOKENS = {"cpu": 1_024, "cuda": 65_536}
"""How many tokens go through the model at once when nothing else is asked for."""


MaskedCopies = tuple[IntArray, IntArray, IntArray, IntArray]
"""Copies of sequences of one length, one for each token to predict, [copies, tokens]; and of each
the position that is predicted, the token there, and of which sequence it is a copy, [copies]."""


def masked_copies(
    sequences: Sequences, rows: IntArray, frame: tuple[int, int], mask: int
) -> MaskedCopies:
    """Mask every token of some sequences of one length, together with the rest of its word.

    `frame` says how many special tokens are before and behind a text, `mask` is the mask's number.
    """
    length = int(sequences.lengths[rows[0]])
    ids = sequences.ids[rows, :length]
    words = np.cumsum(sequences.word_starts[rows, :length], axis=1)
    places = np.tile(np.arange(frame[0], length - frame[1]), len(rows))
    copied = np.repeat(np.arange(len(rows)), len(places) // len(rows))
    rest_of_word = words[copied] == words[copied, places][:, None]
    rest_of_word &= np.arange(length) >= places[:, None]
    copies = np.where(rest_of_word, np.int32(mask), ids[copied])
    return copies, places, ids[copied, places], rows[copied]


class CopyBatches(LongestFirst):
    """Masked copies in batches without padding; copies that are the same are fed once.

    They are the same where options differ only inside the masked word.
    """

    def __init__(self, model: Any, copies: MaskedCopies, scores: Scores) -> None:
        ids, places, tokens, sequences = copies
        inputs = np.ascontiguousarray(np.column_stack((ids, places)).astype(np.int32))
        as_bytes = inputs.view(np.dtype((np.void, inputs.itemsize * inputs.shape[1]))).ravel()
        _, first, fed_as = np.unique(as_bytes, return_index=True, return_inverse=True)
        order = np.argsort(fed_as, kind="stable")  # a batch predicts a stretch of tokens
        self._fed_as, self._tokens = fed_as[order], tokens[order]
        self._sequences = sequences[order]
        self._ids, self._places = ids[first], places[first]
        self._model, self._scores = model, scores
        super().__init__([self._ids.shape[1]] * len(first))

    def forward(self, borders: Sequence[int]) -> None:
        """Predict the masked tokens of the copies between these borders."""
        start, end = borders
        copies = torch.from_numpy(self._ids[start:end].astype(np.int64))
        logits = logits_at(
            self._model,
            np.arange(end - start) * copies.shape[1] + self._places[start:end],
            input_ids=copies.to(self._model.device),
        )
        predicted = slice(*np.searchsorted(self._fed_as, (start, end)))
        add_log_probabilities(
            self._scores,
            self._sequences[predicted],
            logits,
            self._fed_as[predicted] - start,
            self._tokens[predicted],
        )


class MaskedScorer:
    """Sums the log-probabilities of all tokens of a text, each predicted from all other words.

    Args:
        model: one of transformers' masked models.
        frame: how many special tokens are before and behind a text.
        mask: the number of the mask in the vocabulary.
        batch_tokens: how many tokens go through the model at once; see `BATCH_TOKENS`.
    """

    def __init__(
        self, model: Any, *, frame: tuple[int, int], mask: int, batch_tokens: int | None = None
    ) -> None:
        self.model = model
        self._frame, self._mask = frame, mask
        self._budget = Budget(batch_tokens, BATCH_TOKENS, model.device)

    def score(self, sequences: Sequences) -> Scores:
        """Return the pseudo-log-likelihood of each sequence in nats, [sequences]."""
        scores: Scores = np.zeros(len(sequences.lengths))
        for length in np.unique(sequences.lengths)[::-1]:
            rows = np.flatnonzero(sequences.lengths == length).astype(np.int32)
            copies = masked_copies(sequences, rows, self._frame, self._mask)
            self._budget.spend_on(CopyBatches(self.model, copies, scores))
        return scores

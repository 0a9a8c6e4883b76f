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

from pronominal.adapters.lm.scoring.elimination import Elimination
from pronominal.adapters.lm.scoring.logits import Scores, add_log_probabilities, logits_at
from pronominal.adapters.lm.scoring.memory import Budget, LongestFirst
from pronominal.adapters.lm.scoring.narrowing import narrowest
from pronominal.adapters.lm.scoring.tokens import IntArray, Sequences

BATCH_TOKENS = {"cpu": 1_024, "cuda": 65_536}
"""How many tokens go through the model at once when nothing else is asked for."""


MaskedCopies = tuple[IntArray, IntArray, IntArray]
"""Copies of sequences of one length, one for each token to predict, [copies, tokens]; and of each
the position that is predicted and the token there, [copies]."""


def masked_copies(
    sequences: Sequences, rows: IntArray, places: IntArray, mask: int
) -> MaskedCopies:
    """Mask tokens of sequences of one length, each in a copy, with the rest of its word.

    `rows` and `places` say which tokens, [copies]; `mask` is the mask's number.
    """
    length, copies = int(sequences.lengths[rows[0]]), np.arange(len(rows))
    ids = sequences.ids[rows, :length]
    words = np.cumsum(sequences.word_starts[:, :length], axis=1, dtype=np.int32)[rows]
    rest_of_word = words == words[copies, places][:, None]
    rest_of_word &= np.arange(length) >= places[:, None]
    return np.where(rest_of_word, np.int32(mask), ids), places, ids[copies, places]


class CopyBatches(LongestFirst):
    """Masked copies in batches without padding; copies that are the same are fed once.

    They are the same where options differ only inside the masked word.

    Args:
        model: what predicts.
        copies: what it reads.
        summed_in: to which sum the log-probability of each copy's token is added, [copies].
        sums: what is added to.
    """

    def __init__(self, model: Any, copies: MaskedCopies, summed_in: IntArray, sums: Scores) -> None:
        ids, places, tokens = copies
        inputs = np.ascontiguousarray(np.column_stack((ids, places)).astype(np.int32))
        as_bytes = inputs.view(np.dtype((np.void, inputs.itemsize * inputs.shape[1]))).ravel()
        _, first, fed_as = np.unique(as_bytes, return_index=True, return_inverse=True)
        order = np.argsort(fed_as, kind="stable")  # a batch predicts a stretch of tokens
        self._fed_as, self._tokens = fed_as[order], tokens[order]
        self._summed_in, self._sums = summed_in[order], sums
        self._ids, self._places = ids[first], places[first]
        self._model, self._chosen_at = model, narrowest(model)
        super().__init__([self._ids.shape[1]] * len(first))

    def forward(self, borders: Sequence[int]) -> None:
        """Predict the masked tokens of the copies between these borders."""
        start, end = borders
        copies = torch.from_numpy(self._ids[start:end].astype(np.int64))
        logits = logits_at(
            self._model,
            np.arange(end - start) * copies.shape[1] + self._places[start:end],
            self._chosen_at,
            input_ids=copies.to(self._model.device),
        )
        predicted = slice(*np.searchsorted(self._fed_as, (start, end)))
        add_log_probabilities(
            self._sums,
            self._summed_in[predicted],
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
        rows, places = np.nonzero(sequences.inside(self._frame))
        self._add(scores, rows, sequences, rows, places)
        return scores

    def best(self, sequences: Sequences) -> Scores:
        """Return the best pseudo-log-likelihood of each instance whole, [sequences].

        In place of the others stands what `Elimination` has found them to be at most.
        """

        def terms_of(rows: IntArray, places: IntArray) -> Scores:
            terms: Scores = np.zeros(len(rows))
            self._add(terms, np.arange(len(rows)), sequences, rows, places)
            return terms

        return Elimination(sequences, sequences.inside(self._frame), terms_of).scores()

    def _add(
        self,
        sums: Scores,
        summed_in: IntArray,
        sequences: Sequences,
        rows: IntArray,
        places: IntArray,
    ) -> None:
        """Add the log-probability of each of these tokens to one of the sums."""
        lengths = sequences.lengths[rows]
        for length in np.unique(lengths)[::-1]:
            alike = lengths == length
            copies = masked_copies(sequences, rows[alike], places[alike], self._mask)
            self._budget.spend_on(CopyBatches(self.model, copies, summed_in[alike], sums))

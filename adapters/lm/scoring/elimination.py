"""Which option of an instance is the best, without computing the others to their end.

A term of a pseudo-log-likelihood is the logarithm of a probability, so at most 0, and what some
terms of a text add up to is at least its score. As soon as that is less than the whole score of
another option, the text's option is certainly not the best, whatever its other terms are.
"""

from collections.abc import Callable

import numpy as np

from pronominal.adapters.lm.scoring.tokens import BoolArray, FloatArray, IntArray, Sequences

CERTAIN = 0.1
"""By how many nats an option is below the best one when it is given up: so that rounding seldom
decides, and that no margin which RUFF's scores count as close is a bound."""

_MOST_ROUNDS = 8


class Elimination:
    """Computes terms of texts' scores until one option of each instance is certainly the best.

    First come the places at which the options differ, then the other places of the option that
    leads there. Of each option that may still be better, the places follow at which the leader's
    terms are lowest, since its own are likely to be.

    Args:
        sequences: the texts; those of an instance differ in one stretch of tokens.
        inside: where their tokens are without the special ones, [sequences, positions].
        terms_of: returns log-probabilities of tokens in nats, [tokens], for the numbers of their
            texts and their places in them, [tokens] each.
    """

    def __init__(
        self,
        sequences: Sequences,
        inside: BoolArray,
        terms_of: Callable[[IntArray, IntArray], FloatArray],
    ) -> None:
        self._sequences, self._terms_of = sequences, terms_of
        self._terms: FloatArray = np.zeros(inside.shape)
        self._left = inside.copy()
        self._first_rows = sequences.first_rows()

    def scores(self) -> FloatArray:
        """Return the whole scores of the best options, [sequences].

        For an option that was given up it is a number that its score does not exceed and that is
        more than `CERTAIN` below the best one.
        """
        expected = self._terms_of_leaders()
        while (needed := self._needed(expected)).any():
            self._compute(needed)
        return np.asarray(self._terms.sum(axis=1))

    def _terms_of_leaders(self) -> FloatArray:
        """Find each instance's leader, and return its term for the same token of each option."""
        sequences, places = self._sequences, np.arange(self._terms.shape[1])
        end = (sequences.lengths - sequences.common_suffixes())[:, None]
        self._compute((places >= sequences.common_prefixes()[:, None]) & (places < end))
        # of each instance the option with the highest sum, the first of equals
        by_sum = np.lexsort((-self._terms.sum(axis=1), sequences.owners))
        leader = by_sum[self._first_rows][sequences.owners]
        # options that are cut alike stay equal where their copies are fed together
        leading = (sequences.ids == sequences.ids[leader]).all(axis=1)
        self._compute(leading[:, None])
        longer = (sequences.lengths[leader] - sequences.lengths)[:, None]
        same_token = np.clip(np.where(places < end, places, places + longer), 0, places[-1])
        return np.asarray(self._terms[leader[:, None], same_token])

    def _compute(self, wanted: BoolArray) -> None:
        rows, places = np.nonzero(wanted & self._left)
        self._terms[rows, places] = self._terms_of(rows, places)
        self._left[rows, places] = False

    def _needed(self, expected: FloatArray) -> BoolArray:
        """Say which terms come next: those that would decide if all were as expected.

        There are at least an eighth of the text's, so that a few rounds come to the end.
        """
        at_most = self._terms.sum(axis=1)
        whole = np.where(self._left.any(axis=1), -np.inf, at_most)
        best = np.maximum.reduceat(whole, self._first_rows)[self._sequences.owners]
        missing = self._left & (at_most >= best - CERTAIN)[:, None]
        lowest_first = np.argsort(np.where(missing, expected, np.inf), axis=1, kind="stable")
        terms = np.take_along_axis(np.where(missing, expected, 0), lowest_first, axis=1)
        decided = at_most[:, None] + terms.cumsum(axis=1) < (best - CERTAIN)[:, None]
        number = np.where(decided.any(axis=1), 1 + decided.argmax(axis=1), terms.shape[1])
        number = np.maximum(number, 1 + self._sequences.lengths // _MOST_ROUNDS)
        return np.asarray(missing & (np.argsort(lowest_first, axis=1) < number[:, None]))

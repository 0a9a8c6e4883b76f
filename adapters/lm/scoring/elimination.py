"""Which option of an instance is the best, without computing the others to their end.

A term of a pseudo-log-likelihood is the logarithm of a probability, so at most 0, and what some
terms of a text add up to is at least its score. As soon as that is less than the whole score of
another option, the text's option is certainly not the best, whatever its other terms are.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from pronominal.adapters.lm.scoring.tokens import BoolArray, IntArray, Sequences

CERTAIN = 0.1
"""By how many nats an option is below the best one when it is given up, so that rounding, which in
bfloat16 is about as large, does not decide."""

_MOST_ROUNDS = 8


class Elimination:
    """Asks for terms of texts' scores until it is certain which option of each instance is best.

    First come the places at which the options differ, then the other places of the option that
    leads there. Of each option that may still be better, the places follow at which the leader's
    terms are lowest, since its own are likely to be: as many as would make it certain if its terms
    were the leader's, but at least an eighth of the text.

    Args:
        sequences: the texts; those of an instance differ in one stretch of tokens.
        inside: where their tokens are without the special ones, [sequences, positions].

    Attributes:
        terms: log-probabilities in nats, 0 where none is known, [sequences, positions]. What
            `rounds` asks for is to be added here before the next round.
    """

    def __init__(self, sequences: Sequences, inside: BoolArray) -> None:
        self.terms: NDArray[np.float64] = np.zeros(inside.shape)
        self._sequences = sequences
        self._left = inside.copy()
        owners = sequences.owners
        self._first_rows = np.searchsorted(owners, np.arange(owners[-1] + 1))

    def rounds(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield which terms are needed next: the number of a text and the place of a token each."""
        sequences = self._sequences
        places = np.arange(self.terms.shape[1])
        start = sequences.common_prefixes()
        end = np.maximum(start, sequences.lengths - sequences.common_suffixes())
        yield self._ask((places >= start[:, None]) & (places < end[:, None]))
        # of each instance the option with the highest sum, the first of equals
        by_sum = np.lexsort((-self.terms.sum(axis=1), sequences.owners))
        leader = by_sum[self._first_rows][sequences.owners]
        # options that are cut alike stay equal where their copies are fed together
        leading = (sequences.ids == sequences.ids[leader]).all(axis=1)
        yield self._ask(leading[:, None])
        longer = sequences.lengths[leader] - sequences.lengths
        same_token = np.where(places < end[:, None], places, places + longer[:, None])
        expected = self.terms[leader[:, None], np.clip(same_token, 0, places[-1])]
        while (lowest := self._lowest(expected)).any():
            yield self._ask(lowest)

    def _ask(self, wanted: BoolArray) -> tuple[IntArray, IntArray]:
        rows, places = np.nonzero(wanted & self._left)
        self._left[rows, places] = False
        return rows, places

    def _lowest(self, expected: NDArray[np.float64]) -> BoolArray:
        """Say which terms of the options that may still be the best should come next."""
        at_most = self.terms.sum(axis=1)
        whole = np.where(self._left.any(axis=1), -np.inf, at_most)
        best = np.maximum.reduceat(whole, self._first_rows)[self._sequences.owners]
        enough = best - CERTAIN
        missing = self._left & (at_most >= enough)[:, None]
        terms = np.where(missing, expected, np.inf)
        order = np.argsort(terms, axis=1, kind="stable")
        then = at_most[:, None] + np.take_along_axis(terms, order, axis=1).cumsum(axis=1)
        given_up = then < enough[:, None]
        needed = np.where(given_up.any(axis=1), 1 + given_up.argmax(axis=1), terms.shape[1])
        needed = np.maximum(needed, 1 + self._sequences.lengths // _MOST_ROUNDS)
        ranks = np.argsort(order, axis=1)
        return np.asarray(missing & (ranks < needed[:, None]))

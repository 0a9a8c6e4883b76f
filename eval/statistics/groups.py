"""Consistency: a group of sentences is only as good as its worst one (WinoPron, section 4.3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from pronominal.arrow_numbers import nulls, numbers
from pronominal.eval.statistics.outcomes import (
    NONE,
    RIGHT,
    WRONG,
    BoolArray,
    FloatArray,
    IntArray,
    ratio,
    sum_by,
)

T = TypeVar("T")


def distinct(values: pa.ChunkedArray) -> tuple[list[Any], IntArray]:
    """Return the values of a column in the order of the rows, and each row's index into them."""
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    encoded = values.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # of no rows
        return [], np.zeros(0, np.int64)
    words = [*encoded.dictionary.to_pylist(), None]
    codes = numbers(encoded.indices)
    if encoded.indices.null_count:
        codes = np.where(nulls(encoded.indices), len(words) - 1, codes)
    first = np.full(len(words), len(codes), np.int32)
    # of a code that comes again, what is written last remains: its first row
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1, dtype=np.int32)
    order = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(codes))]
    places = np.zeros(len(words), np.int64)
    places[order] = np.arange(len(order))
    return [words[code] for code in order.tolist()], places[codes]


@dataclass(frozen=True, slots=True)
class Strata:
    """A division of the rows that scores are split by, such as grammatical case.

    Attributes:
        names: one for each stratum; a stratum may be empty.
        codes: index of each row's stratum, shape ``[rows]``.
    """

    names: tuple[str, ...]
    codes: IntArray

    @classmethod
    def of(cls, values: Sequence[str], known: Iterable[str] = ()) -> "Strata":
        """Divide rows by their values: the known ones, then others in the order of the rows."""
        codes = {name: code for code, name in enumerate(dict.fromkeys((*known, *values)))}
        return cls(tuple(codes), np.array([codes[value] for value in values], np.int64))

    @classmethod
    def of_column(cls, values: pa.ChunkedArray, known: Iterable[str] = ()) -> "Strata":
        """Divide rows as `of` does by a column of words, without an object for each row."""
        words, codes = distinct(values)
        strata = cls.of(words, known)
        return cls(strata.names, strata.codes[codes] if known else codes)

    @classmethod
    def whole(cls, rows: int, name: str = "overall") -> "Strata":
        """Return so many rows as one stratum."""
        return cls((name,), np.zeros(rows, np.int64))

    @property
    def sizes(self) -> IntArray:
        """Number of rows in each stratum, shape ``[strata]``."""
        return np.bincount(self.codes, minlength=len(self.names))

    def named(self, parts: Iterable[T]) -> dict[str, T]:
        """Return what was made of each stratum by the stratum's name."""
        return dict(zip(self.names, parts, strict=True))


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows that have to be right together.

    Attributes:
        codes: each row's group in ``[0, size)``, shape ``[rows]``; codes may be unused.
        size: number of codes.
    """

    codes: IntArray
    size: int

    @classmethod
    def of(cls, values: Sequence[str]) -> "Groups":
        """Group the rows that have the same value."""
        strata = Strata.of(values)
        return cls(strata.codes, len(strata.names))

    @property
    def members(self) -> IntArray:
        """Number of rows in each row's group, shape ``[rows]``."""
        return np.bincount(self.codes, minlength=self.size)[self.codes]

    def minimum(self, counts: IntArray) -> IntArray:
        """Give every answer the outcome of its group's worst answer.

        A group is right if all its answers are; it is wrong, a false positive, if any answer is;
        otherwise it abstains. Each of upstream's four indicators is so the group's minimum, false
        positives and negatives being the complements. The minimum runs over the whole group, and
        over all answers to its sentences; a filter by case or set selects rows afterwards.

        Args:
            counts: outcomes of each row's answers, shape ``[rows, OUTCOMES]``.

        Returns:
            The same shape: each row has all its answers in one column.
        """
        in_group = sum_by(self.codes, self.size, counts)
        answers = in_group.sum(axis=1)
        outcome = np.where(in_group[:, WRONG] > 0, WRONG, NONE)
        outcome[in_group[:, RIGHT] == answers] = RIGHT
        worst = np.zeros_like(counts)
        worst[np.arange(len(counts)), outcome[self.codes]] = counts.sum(axis=1)
        return worst

    def number(self, strata: Strata, rows: BoolArray) -> IntArray:
        """Count the different groups among the selected rows of each stratum."""
        present = np.zeros((len(strata.names), self.size), dtype=np.bool_)
        present[strata.codes[rows], self.codes[rows]] = True
        return np.asarray(present.sum(axis=1))

    def chance(self, strata: Strata, rows: BoolArray) -> FloatArray:
        """Return the score expected of guessing between two entities, for each stratum.

        It is 0.5 to the power of the group's size in sentences: prompts are not counted, as in
        WinoPron's Table 3. Groups of several sizes weigh as many rows as they have. NaN without
        groups.
        """
        size = len(strata.names)
        total = np.bincount(strata.codes, weights=rows * 0.5**self.members, minlength=size)
        return ratio(total, np.bincount(strata.codes, weights=rows, minlength=size))

    def expectations(
        self, strata: Strata, parts: Strata, counts: IntArray
    ) -> dict[str, FloatArray]:
        """Return the scores that groups can have, given how often each part of them is right.

        Args:
            strata: a division of the rows.
            parts: what the rows of a group differ in, such as their pronoun sets.
            counts: outcomes of each row's answer, ``[rows, OUTCOMES]``; 0 for rows without a group.

        Returns:
            ``independent``, the score if errors in the parts had nothing to do with each other
            (the product of the parts' accuracies), and ``least`` and ``most``, the scores below
            and above which these accuracies leave no room; shape ``[strata]``. NaN where groups
            have several answers to a row, or lack some parts.
        """
        size, number = len(strata.names), len(parts.names)
        answers = counts.sum(axis=1)
        both = strata.codes * number + parts.codes
        summed = sum_by(both, size * number, np.stack([counts[:, RIGHT], answers], axis=1))
        accuracy = ratio(summed[:, 0], summed[:, 1]).reshape(size, number)
        there = ~np.isnan(accuracy)
        known = np.where(there, accuracy, 1.0)
        fitting = (answers == 0) | (self.members == there.sum(axis=1)[strata.codes])
        single = answers.max(initial=0) <= 1
        whole = np.bincount(strata.codes, weights=~fitting, minlength=size) == 0
        defined = there.any(axis=1) & whole & single
        lost = (1 - known).sum(axis=1)
        found = {
            "independent": known.prod(axis=1),
            "least": np.maximum(1 - lost, 0),
            "most": known.min(axis=1, initial=1.0),
        }
        return {name: np.where(defined, values, np.nan) for name, values in found.items()}

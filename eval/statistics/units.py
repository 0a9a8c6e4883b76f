"""Rows that stand or fall together, such as all sentences about one occupation."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.intervals import CONFIDENCE
from pronominal.eval.statistics.outcomes import Counts, IntArray, sum_by
from pronominal.eval.statistics.scores import Block


@dataclass(frozen=True, slots=True)
class Units:
    """The units over which figures and their intervals sum.

    Attributes:
        name: what one unit is, such as ``occupation``.
        codes: each row's unit in ``[0, size)``, shape ``[rows]``; codes may be unused.
        size: number of codes.
    """

    name: str
    codes: IntArray
    size: int

    @classmethod
    def of(cls, name: str, values: Sequence[str]) -> "Units":
        """Take the rows that have the same value for one unit."""
        strata = Strata.of(values)
        return cls(name, strata.codes, len(strata.names))

    @classmethod
    def of_column(cls, name: str, values: pa.ChunkedArray) -> "Units":
        """Take the rows that have the same value in a column for one unit."""
        strata = Strata.of_column(values)
        return cls(name, strata.codes, len(strata.names))

    @classmethod
    def rows(cls, number: int) -> "Units":
        """Take each of so many rows for a unit of its own."""
        return cls("row", np.arange(number), number)

    def sums(self, counts: IntArray, strata: Strata) -> Counts:
        """Add up rows by stratum and unit.

        Args:
            counts: shape ``[rows, ...]``.
            strata: a division of the rows.

        Returns:
            Shape ``[strata, units, ...]``.
        """
        strata_number, shape = len(strata.names), counts.shape[1:]
        flat = counts.reshape(len(counts), int(np.prod(shape)))
        summed = sum_by(strata.codes * self.size + self.codes, strata_number * self.size, flat)
        return summed.reshape(strata_number, self.size, *shape)

    def block(self) -> Block:
        """Say over what intervals sum: the ``unit``, how many there are, and the ``level``."""
        used = int(np.count_nonzero(np.bincount(self.codes)))
        return {"unit": self.name, "units": used, "level": CONFIDENCE}

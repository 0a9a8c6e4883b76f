"""A split's rows in a random order that never changes, of which a system may answer the first."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pronominal.arrow_numbers import nulls, numbers
from pronominal.dataset_scripts.reading.split import SAMPLED, Split
from pronominal.dataset_scripts.tables.digests import content_digest
from pronominal.dataset_scripts.tables.parquet_files import batches

KEY = 29
"""Of the random numbers, whose stream is the same in every version of numpy: Philox, raw."""

DIVISION = "pronoun_set"
"""The column of which each draw has every value, where all have as many rows."""


class Draws:
    """A split's rows as they are drawn, none twice.

    A draw is one row of each pronoun set, which systems find unequally hard, so that draws differ
    less than rows; where sets have unequally many rows, or there are none, it is one row.

    Args:
        split: the rows.

    Attributes:
        split: the rows.
        order: the index of each row, as they are drawn, shape ``[rows]``.
        size: the number of rows of a draw.
    """

    def __init__(self, split: Split) -> None:
        self.split = split
        codes = _codes(split)
        found = np.lexsort((np.random.Philox(key=KEY).random_raw(len(codes)), codes))
        self.size = int(codes.max(initial=0)) + 1
        self.order: NDArray[np.int64] = found.reshape(self.size, -1).T.ravel()
        self._held: pa.Table | None = None

    def first(self, rows: int) -> Split:
        """Return the rows that are drawn first, in their order, as a split of their own."""
        if self._held is None or self._held.num_rows < rows:
            self._held = self._taken(2 * rows)  # whoever asks for some will soon ask for more
        table = self._held.slice(0, rows)
        name = f"{self.split.name}{SAMPLED}{table.num_rows}"
        return replace(self.split, name=name, in_memory=table, digest=content_digest(table))

    def _taken(self, rows: int) -> pa.Table:
        order = self.order[:rows]
        if self.split.in_memory is not None:
            return self.split.in_memory.take(order.tolist()).combine_chunks()
        wanted, parts, first = np.sort(order), [], 0
        for block in batches(self.split.files):
            start, end = np.searchsorted(wanted, (first, first + block.num_rows))
            if start < end:
                parts.append(block.take((wanted[start:end] - first).tolist()))
            first += block.num_rows
        places = np.argsort(np.argsort(order))
        return pa.concat_tables(parts).take(places.tolist()).combine_chunks()


def _codes(split: Split) -> NDArray[np.int64]:
    """Return the number of each row's pronoun set; 0 for all where sets are not as large."""
    one = np.zeros(split.num_rows, np.int64)
    if DIVISION not in split.schema.names or not split.num_rows:
        return one
    column = pa.chunked_array([
        chunk for block in split.column_blocks([DIVISION]) for chunk in block[DIVISION].chunks
    ])  # fmt: skip
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    if nulls(encoded.indices).any():
        return one
    codes = numbers(encoded.indices).astype(np.int64)
    many = np.bincount(codes)
    return codes if (many == many[0]).all() else one

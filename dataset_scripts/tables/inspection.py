"""One pass over the rows of a split, which need not be in memory at once."""

from collections.abc import Callable
from itertools import chain

import pyarrow as pa

from pronominal.dataset_scripts.tables.columns import Columns
from pronominal.dataset_scripts.tables.digests import ContentDigest
from pronominal.dataset_scripts.tables.faults import column_faults, mention_faults
from pronominal.dataset_scripts.tables.repeated_ids import (
    Fingerprints,
    fingerprints,
    repeated_ids,
    suspected_rows,
)
from pronominal.errors import InputError

Refuse = Callable[[str, int | None], InputError]
"""Makes the error about a fault and the row that has it; None for the table as a whole."""


class Inspection:
    """The content digest and the number (`rows`) of a split's rows; the first fault is raised.

    `refuse` makes the error about it; `columns` are those that the rows must have.
    """

    def __init__(self, refuse: Refuse, columns: Columns = ()) -> None:
        self.rows = 0
        self._refuse = refuse
        self._columns = columns
        self._digest = ContentDigest()
        self._ids: list[Fingerprints] = []

    def take(self, block: pa.Table) -> None:
        """Take the next block of `blocks`; raise the error about its first fault."""
        for row, fault in chain(column_faults(block, self._columns), mention_faults(block)):
            raise self._refuse(fault, None if row is None else self.rows + row)
        self._digest.update(block)
        self._ids += [fingerprints(chunk) for chunk in block["id"].chunks]
        self.rows += block.num_rows

    def finish(self, rows: Callable[[], pa.Table]) -> str:
        """Return the digest of all rows; raise the error about the first repeated id.

        The rows themselves, of which the ids are read, are asked for only where two seem alike.
        """
        if suspected := suspected_rows(self._ids):
            ids = rows()["id"].take(suspected).to_pylist()
            for row, fault in repeated_ids(zip(suspected, ids, strict=True)):
                raise self._refuse(fault, row)
        return self._digest.hexdigest()

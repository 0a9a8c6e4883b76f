"""What a stage is: a function from one record batch to another, and why rows did not pass."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pronominal.dataset_scripts.tables.columns import MENTION

DOCUMENTS = pa.schema([("source", pa.string()), ("document", pa.string()), ("body", pa.string())])
"""What is read: the file's name, the document's place in it, and its text."""

SENTENCES = pa.schema([("source", pa.string()), ("document", pa.string()), ("text", pa.string())])

PLACES = pa.list_(MENTION)


class Kept(NamedTuple):
    """What a stage lets through.

    Attributes:
        rows: the rows that passed, in their order.
        dropped: why others did not -> how many.
        noted: what was mended or cut in rows that passed -> how many.
    """

    rows: pa.RecordBatch
    dropped: Counter[str]
    noted: Mapping[str, int] = MappingProxyType({})


Stage = Callable[[pa.RecordBatch], Kept]


def sieve(rows: pa.RecordBatch, faults: Sequence[tuple[str, pa.Array]]) -> Kept:
    """Drop rows with a fault; of several the first one counts.

    Args:
        rows: the rows to look at.
        faults: why a row does not pass, and one boolean for each row that says so.
    """
    passed = np.ones(rows.num_rows, dtype=np.bool_)
    dropped: Counter[str] = Counter()
    for reason, faulty in faults:
        here = passed & faulty.to_numpy(zero_copy_only=False)
        dropped[reason] += int(here.sum())
        passed &= ~here
    return Kept(rows.filter(pa.array(passed)), +dropped)


def select(rows: pa.RecordBatch, reasons: Sequence[str | None]) -> Kept:
    """Drop the rows for which a reason is given."""
    passed = pa.array([reason is None for reason in reasons], pa.bool_())
    return Kept(rows.filter(passed), Counter(reason for reason in reasons if reason is not None))


def matches(texts: pa.Array, pattern: str) -> pa.Array:
    """Say of each text whether an RE2 pattern matches anywhere in it."""
    return pc.match_substring_regex(texts, pattern)

"""What a stage is: a function from one record batch to another, and why rows did not pass."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pronominal.dataset_scripts.tables.columns import MENTION
from pronominal.spans import Mention

Answer = TypeVar("Answer")

DOCUMENTS = pa.schema([("source", pa.string()), ("document", pa.string()), ("body", pa.string())])
"""What is read: the file's name, the document's place in it, and its text."""

SENTENCES = pa.schema([("source", pa.string()), ("document", pa.string()), ("text", pa.string())])

PLACES = pa.list_(MENTION)


class Kept(NamedTuple):
    """What a stage lets through.

    Attributes:
        rows: the rows that passed, in their order.
        rejected: why others did not -> which rows they were, ascending.
        noted: what was mended or cut in rows that passed -> how many.
    """

    rows: pa.RecordBatch
    rejected: Mapping[str, NDArray[np.intp]] = MappingProxyType({})
    noted: Mapping[str, int] = MappingProxyType({})

    @property
    def dropped(self) -> dict[str, int]:
        """Why rows did not pass -> how many."""
        return {reason: len(places) for reason, places in self.rejected.items()}


Stage = Callable[[pa.RecordBatch], Kept]


def sieve(rows: pa.RecordBatch, faults: Sequence[tuple[str, pa.Array]]) -> Kept:
    """Drop rows with a fault: why they do not pass, and one boolean for each row that says so.

    Of several faults the first one counts.
    """
    passed = np.ones(rows.num_rows, dtype=np.bool_)
    rejected = {}
    for reason, faulty in faults:
        here = passed & faulty.to_numpy(zero_copy_only=False)
        if here.any():
            rejected[reason] = np.flatnonzero(here)
            passed &= ~here
    return Kept(rows.filter(pa.array(passed)), rejected)


def select(rows: pa.RecordBatch, reasons: Sequence[str | None]) -> Kept:
    """Drop the rows for which a reason is given."""
    passed = pa.array([reason is None for reason in reasons], pa.bool_())
    return Kept(rows.filter(passed), by_reason(reasons))


def by_reason(reasons: Iterable[str | None]) -> dict[str, NDArray[np.intp]]:
    """Return each reason with the rows for which it is given."""
    rejected: dict[str, list[int]] = {}
    for place, reason in enumerate(reasons):
        if reason is not None:
            rejected.setdefault(reason, []).append(place)
    return {reason: np.array(places, np.intp) for reason, places in rejected.items()}


def answered(rows: pa.RecordBatch, answers: Sequence[Answer | str]) -> tuple[Kept, list[Answer]]:
    """Drop the rows whose answer is the reason against them; return the other rows and answers."""
    reasons = [answer if isinstance(answer, str) else None for answer in answers]
    return select(rows, reasons), [answer for answer in answers if not isinstance(answer, str)]


def with_column(
    rows: pa.RecordBatch, name: str, kind: pa.DataType, values: Sequence[object]
) -> pa.RecordBatch:
    """Add a column behind the others."""
    return rows.append_column(pa.field(name, kind), pa.array(values, kind))


def strings(schema: pa.Schema, rows: Iterable[Sequence[str]]) -> pa.RecordBatch:
    """Make a batch of rows of strings."""
    columns = [*zip(*rows, strict=True)] or [()] * len(schema)
    return pa.RecordBatch.from_arrays([pa.array(c, pa.string()) for c in columns], schema=schema)


def mention(text: str, start: int, end: int) -> dict[str, object]:
    """Return a part of a text as the columns of type ``MENTION`` have it."""
    return Mention(text[start:end], start, end)._asdict()

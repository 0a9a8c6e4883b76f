"""The list of what was rejected: where each document or sentence stood, at which stage, and why."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.atomic import new_file
from pronominal.dataset_scripts.construction.duplicates import DUPLICATE, Duplicates
from pronominal.dataset_scripts.construction.stage import Kept
from pronominal.overwriting import refuse_overwriting

Listing = Literal["places", "texts"]
"""What is listed of rejected sentences: their places, or their texts, too."""

FATES = ".fates"
"""How a file ends that says what became of the sentences of the part of the same name."""
PLACES = pa.schema(
    [
        ("document", pa.string()),
        ("sentence", pa.int32()),
        ("stage", pa.string()),
        ("reason", pa.string()),
    ]
)
SCHEMAS: dict[Listing, pa.Schema] = {
    "places": PLACES,
    "texts": PLACES.append(pa.field("text", pa.string())),
}
LINES_IN_MEMORY = 10_000
LONGEST_LINE = 1 << 20
"""Bytes of a first line that are looked at."""

FIELDS = {"file", "document", "sentence", "stage", "reason"}
"""Of a line of the list, by which an earlier one is known; some have a text, too."""


class Fates:
    """Follows a batch of documents through the stages: which of its sentences goes where, and why.

    In the order of the text there is one row for each sentence, or for a document that was dropped
    before it was split.
    """

    def __init__(self, documents: pa.RecordBatch) -> None:
        number = documents.num_rows
        nothing = {"sentence": pa.nulls(number, pa.int32()), "text": pa.nulls(number, pa.string())}
        self._rows = pa.table({"document": documents["document"], **nothing})
        self._fates = np.full((number, 2), None, dtype=np.object_)
        self._left = np.arange(number)

    def follow(self, stage: str, kept: Kept) -> None:
        """Take what a stage made of the rows that were left."""
        passed = np.ones(len(self._left), dtype=np.bool_)
        for reason, places in kept.rejected.items():
            self._fates[self._left[places]] = (stage, reason)
            passed[places] = False
        self._left = self._left[passed]
        if stage == "sentences":
            self._split(kept.rows)

    def _split(self, sentences: pa.RecordBatch) -> None:
        """Put in the place of each document that is left its sentences."""
        begins = sentences["sentence"].to_numpy() == 1
        gone = np.setdiff1d(np.arange(self._rows.num_rows), self._left)
        document = np.concatenate([gone, self._left[np.cumsum(begins) - 1]])
        order = np.argsort(document, kind="stable")
        found = pa.Table.from_batches([sentences]).select(self._rows.column_names)
        self._rows = pa.concat_tables([self._rows.take(gone), found]).take(order)
        undecided = np.full((sentences.num_rows, 2), None, dtype=np.object_)
        self._fates = np.concatenate([self._fates[gone], undecided])[order]
        self._left = np.flatnonzero(order >= len(gone))

    def table(self, listing: Listing) -> pa.Table:
        """Return the rows; those that no stage dropped have no ``stage`` and no ``reason``."""
        stages, reasons = (pa.array(column, pa.string()) for column in self._fates.T)
        rows = self._rows.append_column("stage", stages).append_column("reason", reasons)
        return rows.select(SCHEMAS[listing].names)


@contextmanager
def fates_file(part: Path, listing: Listing) -> Iterator[Callable[[Fates], None]]:
    """Give a function that writes a batch's fates to the file beside a part."""
    with (
        new_file(part.with_suffix(FATES)) as beside,
        pq.ParquetWriter(beside, SCHEMAS[listing], compression="zstd") as writer,
    ):
        yield lambda fates: writer.write_table(fates.table(listing))


def free_list(file: Path) -> None:
    """Raise `InputError` where a file stands that is no earlier list."""
    # of a corpus that lost nothing, the list is empty
    if not file.is_file() or (file.stat().st_size and not _is_list(file)):
        refuse_overwriting(file)


def _is_list(file: Path) -> bool:
    with file.open("rb") as lines, suppress(ValueError, RecursionError):
        first = json.loads(lines.readline(LONGEST_LINE))
        return isinstance(first, dict) and first.keys() >= FIELDS
    return False


def write_list(file: Path, parts: Iterable[tuple[Path, Path]]) -> None:
    """Write the list as JSONL, from the files of text and the parts made of them, in order."""
    unique = Duplicates()
    with new_file(file) as beside, beside.open("w", encoding="utf-8", newline="\n") as lines:
        for source, part in parts:
            for rejected in _rejected(part, unique):
                line = json.dumps({"file": str(source), **rejected}, ensure_ascii=False)
                lines.write(line + "\n")


def _rejected(part: Path, unique: Duplicates) -> Iterator[dict[str, object]]:
    """Yield what the stages dropped of a part, and what the last of them drops, in order."""
    repeated = _repeated(part, unique)
    with pq.ParquetFile(part.with_suffix(FATES)) as fates:
        for batch in fates.iter_batches(LINES_IN_MEMORY):
            for row in batch.to_pylist():
                if row["stage"] is not None:
                    yield row
                elif next(repeated):
                    yield row | {"stage": "duplicates", "reason": DUPLICATE}


def _repeated(part: Path, unique: Duplicates) -> Iterator[bool]:
    """Say of each row of a part whether its sentence stood there before."""
    for batch in pq.read_table(part, columns=["original"]).to_batches():
        places = {*unique(batch).rejected.get(DUPLICATE, ())}
        yield from (place in places for place in range(batch.num_rows))

"""Splits that are read block by block, because they are larger than memory should have to be."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.dataset_scripts.reading.published import (
    Instance,
    Split,
    dataset_of,
    instances_of,
    read_split,
    split_files,
    without_canary,
)
from pronominal.dataset_scripts.tables.columns import CANARY
from pronominal.dataset_scripts.tables.digests import ContentDigest, blocks, content_digest
from pronominal.dataset_scripts.tables.faults import column_faults, mention_faults, refuse_faults
from pronominal.dataset_scripts.tables.repeated_ids import (
    fingerprints,
    repeated_ids,
    suspected_rows,
)
from pronominal.errors import InputError

BATCH = 4096
"""Rows that are in memory at a time, besides what Parquet decodes for them."""


@dataclass(frozen=True, slots=True)
class StreamedSplit:
    """One split of a built dataset, on disk. It has the rows of the `Split` of its name.

    Attributes:
        dataset: the dataset's name, such as ``"ruff"``.
        config: the config's name.
        name: the split's name.
        digest: content digest of the rows.
        num_rows: how many rows there are.
        files: where they are, in order.
    """

    dataset: str
    config: str
    name: str
    digest: str
    num_rows: int
    files: tuple[Path, ...]

    def stream(self, start: int = 0, stop: int | None = None) -> Iterator[Instance]:
        """Yield the instances from row `start` up to row `stop`."""
        end = self.num_rows if stop is None else stop
        for first, batch in _batches(self.files, start, end):
            if first >= end:
                return
            skipped = min(max(0, start - first), batch.num_rows)
            yield from instances_of(batch.slice(skipped, max(0, end - first - skipped)))


MOST_IN_MEMORY = 100_000
"""Rows of the largest split that is read with its texts."""

TEXTS = ("text", "blank", "uid")
"""Columns that no score reads."""


@dataclass(frozen=True, slots=True)
class LargeSplit(Split):
    """One split of a built dataset: its texts on disk, the columns that scores read in memory.

    Attributes:
        table: the rows without `TEXTS`; words that repeat are numbers in it (dictionary arrays).
        files: where the rows are, in order.
    """

    files: tuple[Path, ...]

    def stream(self, start: int = 0, stop: int | None = None) -> Iterator[Instance]:
        """Yield the instances from row `start` up to row `stop`, texts included."""
        streamed = StreamedSplit(
            self.dataset, self.config, self.name, self.digest, self.num_rows, self.files
        )
        yield from streamed.stream(start, stop)


def read_large(where: str, config: str | None = None, split: str = "test") -> LargeSplit:
    """Read one split of a built dataset without its texts; they are gone through for its digest.

    Args and errors are those of `read_split`.
    """
    found = stream_split(where, config, split)
    schema = _open(found.files[0]).schema_arrow
    columns = [name for name in schema.names if name not in (*TEXTS, CANARY.name)]
    words = [name for name in columns if schema.field(name).type == pa.string() and name != "id"]
    tables = [pq.read_table(file, columns=columns, read_dictionary=words) for file in found.files]
    table = pa.concat_tables(tables).unify_dictionaries()
    return LargeSplit(
        found.dataset, found.config, split, table, found.digest, found.files[0], found.files
    )


def stream_split(where: str, config: str | None = None, split: str = "test") -> StreamedSplit:
    """Open one split of a built dataset, and go through it once for its digest and its faults.

    Args and errors are those of `read_split`.
    """
    config, files = split_files(where, config, split)
    dataset = dataset_of(_open(files[0]).schema_arrow, files[0])
    digest, ids, rows = ContentDigest(), [], 0
    for block in blocks(batch for _, batch in _batches(files, 0, None)):
        refuse_faults(chain(column_faults(block, dataset), mention_faults(block)), files[0], rows)
        digest.update(block)
        ids += [fingerprints(chunk) for chunk in block["id"].chunks]
        rows += block.num_rows
    if suspected := suspected_rows(ids):
        names = pa.concat_tables(pq.read_table(file, columns=["id"]) for file in files)["id"]
        repeated = repeated_ids(zip(suspected, names.take(suspected).to_pylist(), strict=True))
        refuse_faults(repeated, files[0])
    refuse_faults([(None, "the table is empty")] if not rows else [], files[0])
    return StreamedSplit(dataset, config, split, digest.hexdigest(), rows, tuple(files))


def _batches(
    files: tuple[Path, ...] | list[Path], start: int, stop: int | None
) -> Iterator[tuple[int, pa.Table]]:
    """Yield (number of its first row, table) for the batches that have rows from start to stop."""
    first = 0
    for file in files:
        parquet = _open(file)
        for group in range(parquet.num_row_groups):
            rows = parquet.metadata.row_group(group).num_rows
            if first + rows > start and (stop is None or first < stop):
                yield from _batches_of(parquet, file, group, first)
            first += rows


def _batches_of(
    parquet: pq.ParquetFile, file: Path, group: int, first: int
) -> Iterator[tuple[int, pa.Table]]:
    try:
        for batch in parquet.iter_batches(BATCH, row_groups=[group]):
            yield first, without_canary(pa.Table.from_batches([batch]))
            first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise _damaged(file) from error


def _open(file: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError) as error:
        raise _damaged(file) from error


def _damaged(file: Path) -> InputError:
    return InputError("the Parquet file is damaged", cure="build or fetch it again", file=file)


def open_split(where: str, config: str | None = None, split: str = "test") -> Split | StreamedSplit:
    """Open a split on disk, or several of them joined by ``+`` in memory (see `read_joined`)."""
    opened = read_joined if "+" in split else stream_split
    return opened(where, config, split)


def read_joined(where: str, config: str | None = None, split: str = "test") -> Split:
    """Read a split, or several joined by ``+`` such as ``seed_13+seed_17``: every row once.

    A split of more than `MOST_IN_MEMORY` rows is read as `read_large` reads it.

    Args and errors are those of `read_split`.
    """
    if "+" not in split:
        _, files = split_files(where, config, split)
        rows = sum(_open(file).metadata.num_rows for file in files)
        return (read_large if rows > MOST_IN_MEMORY else read_split)(where, config, split)
    parts = [read_split(where, config, name) for name in split.split("+")]
    joined = pa.concat_tables([part.table for part in parts])
    first: dict[str, int] = {}
    for row, name in enumerate(joined["id"].to_pylist()):
        first.setdefault(name, row)
    table = joined.take([*first.values()]).combine_chunks()
    return replace(parts[0], name=split, table=table, digest=content_digest(table))

"""Published Parquet files, read whole or block by block."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.dataset_scripts.tables.columns import CANARY
from pronominal.errors import InputError
from pronominal.json_files import parse_object
from pronominal.names import require_name

BATCH = 4096
"""Rows that are in memory at a time, besides what Parquet decodes for them."""


def facts_of(schema: pa.Schema, file: str | Path, key: bytes = b"pronominal") -> dict[str, Any]:
    """Return what a file says of itself under a key of its metadata; nothing where it says nothing.

    Raises:
        InputError: that is no JSON object.
    """
    told = (schema.metadata or {}).get(key, b"{}")
    return parse_object(told, file=file, row="metadata", cure="build or fetch it again")


def dataset_of(schema: pa.Schema, file: str | Path) -> str | None:
    """Return the name of the dataset that a file says it holds, if it says one.

    Raises:
        InputError: what it says is no JSON object, or no name.
    """
    name = facts_of(schema, file).get("dataset")
    if name is not None:
        require_name("dataset name", name, file=file)
    return name


def open_parquet(file: Path) -> pq.ParquetFile:
    """Open a file; `InputError` if it is damaged."""
    with _damage(file):
        return pq.ParquetFile(file)


def read_parquet(
    files: Sequence[Path],
    columns: Sequence[str] | None = None,
    read_dictionary: Sequence[str] | None = None,
) -> pa.Table:
    """Return the rows of several files, without the canary; `InputError` if one is damaged.

    Args:
        files: with the same columns.
        columns: which are read, in the order of the files; all without.
        read_dictionary: columns of words that repeat, which become dictionary arrays.
    """
    tables = []
    for file in files:
        # pyarrow.parquet.read_table would import pyarrow.dataset
        with _damage(file), pq.ParquetFile(file, read_dictionary=read_dictionary) as parquet:
            tables.append(parquet.read(columns=columns))
    return without_canary(pa.concat_tables(tables))


def batches(
    files: Sequence[Path],
    start: int = 0,
    stop: int | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows from `start` up to `stop` as `read_parquet` returns them, in small tables."""
    first = 0
    for file in files:
        with _damage(file):
            parquet = pq.ParquetFile(file)
            for group in range(parquet.num_row_groups):
                rows = parquet.metadata.row_group(group).num_rows
                if first + rows > start and (stop is None or first < stop):
                    part = start - first, stop and stop - first
                    yield from _rows_of(parquet, group, *part, columns)
                first += rows


def row_groups(files: Sequence[Path]) -> Iterator[pa.Table]:
    """Yield the rows as `read_parquet` returns them, in tables as large as they were written."""
    for file in files:
        with _damage(file), pq.ParquetFile(file) as parquet:
            for group in range(parquet.num_row_groups):
                yield without_canary(parquet.read_row_group(group, use_threads=False))
                pa.default_memory_pool().release_unused()  # else every group before stays, too


def _rows_of(
    parquet: pq.ParquetFile,
    group: int,
    start: int,
    stop: int | None,
    columns: Sequence[str] | None,
) -> Iterator[pa.Table]:
    for batch in parquet.iter_batches(BATCH, row_groups=[group], columns=columns):
        table = without_canary(pa.Table.from_batches([batch]))
        skipped = max(0, start)
        wanted = table.slice(skipped, None if stop is None else max(0, stop - skipped))
        if wanted.num_rows:
            yield wanted
        start, stop = start - batch.num_rows, None if stop is None else stop - batch.num_rows
        if stop is not None and stop <= 0:
            return


@contextmanager
def _damage(file: Path) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        cause = "the Parquet file is damaged"
        raise InputError(cause, cure="build or fetch it again", file=file) from error


def without_canary(table: pa.Table) -> pa.Table:
    """Return a table without the column that every published file has besides its own."""
    # by places, as a damaged file may have the name twice
    own = [place for place, name in enumerate(table.column_names) if name != CANARY.name]
    return table if len(own) == table.num_columns else table.select(own)

"""A user's own resolution rows in JSONL and Parquet files: read, and checked row by row."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.dataset_scripts.own_rows.jsonl import read_json_lines
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError
from pronominal.located_rows import located_row

BATCH = 10_000


def read_own_rows(path: Path) -> Iterator[tuple[RowLocation, dict[str, Any]]]:
    """Yield every row of a JSONL or Parquet file as it is, and where; `InputError` for others."""
    if path.suffix == ".jsonl":
        for line, row in read_json_lines(path):
            yield RowLocation(path, f"line {line}"), row
        return
    number = 0
    with open_parquet(path) as file, _parquet_errors(path):
        for batch in file.iter_batches(BATCH):
            for row in batch.to_pylist():
                yield RowLocation(path, f"row {number}"), row
                number += 1


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a Parquet file; `InputError` if it is none, or two columns have one name."""
    if path.suffix != ".parquet":
        raise InputError("the format is unknown", cure="give a .jsonl or .parquet file", file=path)
    with _parquet_errors(path):
        file = pq.ParquetFile(path)
    names = file.schema_arrow.names
    for name in names:
        if names.count(name) > 1:
            cause = f"two columns are called {name!r}"
            raise InputError(cause, cure="rename one of them", file=path)
    return file


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OverflowError as error:
        cause = "a date or time is out of Python's range"
        raise InputError(cause, cure="leave its column out", file=path) from error
    except (pa.ArrowException, OSError) as error:
        # pyarrow raises a bare OSError for damaged data
        reason = getattr(error, "strerror", None) or "the Parquet data are damaged"
        cause = f"cannot be read ({reason})"
        raise InputError(cause, cure="check the path, or write it again", file=path) from error


def checked_row(
    row: Mapping[str, Any], location: RowLocation, *, may_be_absent: bool
) -> dict[str, Any]:
    """Return a row with an id (a string), and what `located_row` makes of the rest."""
    if row.get("id") is None:
        raise location.refuse("there is no id", "add it")
    if not isinstance(row["id"], str):
        raise location.refuse("the id is no string", "write a string")
    return located_row(row, location.refuse, may_be_absent=may_be_absent)

"""``pronominal switch``: antecedent switching of a user's own file, one row after the other."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.atomic import new_file
from pronominal.dataset_scripts.own_rows.rows import BATCH, checked_row, open_parquet, read_own_rows
from pronominal.dataset_scripts.tables.columns import MENTION
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError
from pronominal.switching import Unswitchable, switch_row

REPORTED = 1_000
"""Rows between two reports of progress."""

Write = Callable[[RowLocation, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class SwitchedFile:
    """What became of a file.

    Attributes:
        rows: number of rows written.
        left_out: every other row with the reason why it cannot be switched.
    """

    rows: int
    left_out: list[tuple[RowLocation, str]]


def switch_file(
    source: Path,
    target: Path,
    *,
    repair_case: bool = False,
    skip_unswitchable: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> SwitchedFile:
    """Write the switchable rows of a file, switched, in order; the file appears whole or not.

    Args:
        source: JSONL or Parquet with resolution rows; see `checked_row` for what they may be.
        target: a file of the same format; may be `source` if no row is left out.
        repair_case: see `switch`.
        skip_unswitchable: whether to leave out a row whose candidate, given without offsets, does
            not occur in its text; such a row is an error otherwise.
        progress: called with the number of rows read so far.

    Raises:
        InputError: a row is malformed, there is none, or a file cannot be read or written.
    """
    if target.suffix != source.suffix:
        raise InputError(
            f"the input is {source.suffix or 'a file without suffix'}",
            cure=f"give the output the suffix {source.suffix or '.jsonl, as the input'}",
            file=target,
        )
    left_out: list[tuple[RowLocation, str]] = []
    written = 0
    with _writer(source, target) as write:
        for number, (place, row) in enumerate(read_own_rows(source), start=1):
            checked = checked_row(row, place, may_be_absent=skip_unswitchable)
            try:
                write(place, switch_row(checked, repair_case=repair_case))
                written += 1
            except Unswitchable as refusal:
                left_out.append((place, refusal.reason))
            if number % REPORTED == 0:
                progress(number)
        if not written and not left_out:
            raise InputError("it has no rows", cure="give a file with rows", file=source)
        if left_out and target.resolve() == source.resolve():
            raise InputError(
                f"{len(left_out)} of its rows cannot be switched and would be lost",
                cure="give the output another name",
                file=source,
            )
    return SwitchedFile(written, left_out)


@contextmanager
def _writer(source: Path, target: Path) -> Iterator[Write]:
    try:
        with new_file(target) as beside:
            kind = _parquet_writer if source.suffix == ".parquet" else _json_writer
            with kind(source, beside) as write:
                yield write
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", cure="check the path", file=target
        ) from error


@contextmanager
def _json_writer(source: Path, path: Path) -> Iterator[Write]:
    with path.open("wb") as lines:

        def write(place: RowLocation, row: dict[str, Any]) -> None:
            try:
                lines.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            except UnicodeEncodeError as error:
                raise place.refuse("a text holds half a character", "mend its escape") from error

        yield write


@contextmanager
def _parquet_writer(source: Path, path: Path) -> Iterator[Write]:
    with open_parquet(source) as original:
        schema = _with_mentions(original.schema_arrow)
    waiting: list[dict[str, Any]] = []
    with pq.ParquetWriter(path, schema, compression="zstd") as file:

        def write(place: RowLocation, row: dict[str, Any]) -> None:
            waiting.append(row)
            if len(waiting) == BATCH:
                file.write_table(pa.Table.from_pylist(waiting, schema=schema))
                waiting.clear()

        yield write
        file.write_table(pa.Table.from_pylist(waiting, schema=schema))


def _with_mentions(schema: pa.Schema) -> pa.Schema:
    """Return the schema with mentions of three fields, without saying that it is our dataset."""
    for name, kind in (("pronoun", MENTION), ("candidates", pa.list_(MENTION))):
        if name in schema.names:
            schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
    metadata = {
        key: value for key, value in (schema.metadata or {}).items() if key != b"pronominal"
    }
    return schema.with_metadata(metadata)

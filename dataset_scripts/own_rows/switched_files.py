"""``pronominal switch``: antecedent switching of a user's own file, one row after the other."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.atomic import new_file
from pronominal.dataset_scripts.own_rows.rows import BATCH, checked_row, open_parquet, read_own_rows
from pronominal.dataset_scripts.tables.columns import MENTION
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError, os_errors
from pronominal.overwriting import refuse_overwriting
from pronominal.switching import Unswitchable, switch_row

REPORTED = 1_000
"""Rows between two reports of progress."""

Located = tuple[RowLocation, dict[str, Any]]
"""A row, and where it was read."""


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
        InputError: a row is malformed, there is none, a file cannot be read or written, or another
            file than `source` is there already.
    """
    if target.suffix != source.suffix:
        cause = f"the input is {source.suffix or 'a file without suffix'}"
        cure = f"give the output the suffix {source.suffix or '.jsonl, as the input'}"
        raise InputError(cause, cure=cure, file=target)
    if target.resolve() != source.resolve():
        refuse_overwriting(target)
    left_out: list[tuple[RowLocation, str]] = []

    def switched() -> Iterator[Located]:
        for number, (location, row) in enumerate(read_own_rows(source), start=1):
            checked = checked_row(row, location, may_be_absent=skip_unswitchable)
            try:
                yield location, switch_row(checked, repair_case=repair_case)
            except Unswitchable as refusal:
                left_out.append((location, refusal.reason))
            if number % REPORTED == 0:
                progress(number)

    write = _write_parquet if source.suffix == ".parquet" else _write_json
    with os_errors(target, "check the path", "cannot be written"), new_file(target) as temporary:
        written = write(switched(), source, temporary)
        if not written and not left_out:
            raise InputError("it has no rows", cure="give a file with rows", file=source)
        if left_out and target.resolve() == source.resolve():
            cause = f"{len(left_out)} of its rows cannot be switched and would be lost"
            raise InputError(cause, cure="give the output another name", file=source)
    return SwitchedFile(written, left_out)


def _write_json(rows: Iterator[Located], source: Path, path: Path) -> int:
    written = 0
    with path.open("wb") as lines:
        for location, row in rows:
            try:
                lines.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
            except UnicodeEncodeError as error:
                cure = "mend its escape"
                raise location.refuse("a text holds half a character", cure) from error
            written += 1
    return written


def _write_parquet(rows: Iterator[Located], source: Path, path: Path) -> int:
    with open_parquet(source) as original:
        schema = _with_mentions(original.schema_arrow)
    written = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        while batch := [row for _, row in islice(rows, BATCH)]:
            file.write_table(pa.Table.from_pylist(batch, schema=schema))
            written += len(batch)
    return written


def _with_mentions(schema: pa.Schema) -> pa.Schema:
    """Return the schema with mentions of three fields, without saying that it is our dataset."""
    for name, kind in (("pronoun", MENTION), ("candidates", pa.list_(MENTION))):
        if name in schema.names:
            schema = schema.set(schema.get_field_index(name), pa.field(name, kind))
    metadata = {**(schema.metadata or {})}
    metadata.pop(b"pronominal", None)
    return schema.with_metadata(metadata)

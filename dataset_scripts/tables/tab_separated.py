"""Tab-separated tables, each row with its place in the file."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError
from pronominal.text_files import decoded

Row = TypeVar("Row")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableRow(RowLocation):
    """One row of a table.

    Attributes:
        line: its line in the file; the header is line 1.
        cells: column -> cell, which no log prints.
    """

    line: int
    cells: Mapping[str, str] = field(compare=False, repr=False)


def read_table(content: bytes, columns: tuple[str, ...], file: str) -> list[TableRow]:
    """Parse a table; line ends may be CRLF or LF, further columns are left out.

    Args:
        content: the file's bytes.
        columns: those that every row must have.
        file: its name, for errors.

    Raises:
        InputError: the text is not UTF-8, is empty, lacks a column, or a row is cut short.
    """
    text = decoded(content, file=file, cure="fetch it again")
    reader = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        lines = list(reader)
    except csv.Error as error:
        at = RowLocation(file, f"line {reader.line_num}")
        raise at.refuse(f"the table is damaged ({error})", "fetch it again") from error
    if len(lines) < 2:
        raise InputError("the table is empty", cure="fetch it again from upstream", file=file)
    missing = [column for column in columns if column not in lines[0]]
    if missing:
        cure = f"restore the header: {', '.join(columns)}"
        raise RowLocation(file, "line 1").refuse(f"the column '{missing[0]}' is missing", cure)
    positions = {column: lines[0].index(column) for column in columns}
    rows, last = [], max(positions.values())
    for number, cells in enumerate(lines[1:], start=2):
        row = f"line {number}"
        if len(cells) <= last:
            raise RowLocation(file, row).refuse("the row is cut short", "fetch it again")
        picked = {column: cells[position] for column, position in positions.items()}
        rows.append(TableRow(file, row, number, picked))
    return rows


def parse_each(
    parse: Callable[[Row], T], rows: Iterable[Row]
) -> tuple[tuple[T, ...], list[InputError]]:
    """Return what could be parsed, in order, and the errors about the other rows."""
    parsed, errors = [], []
    for row in rows:
        try:
            parsed.append(parse(row))
        except InputError as error:
            errors.append(error)
    return tuple(parsed), errors

"""Sheets for annotators, as CSV or JSONL: written for spreadsheets, read back as they save them."""

import csv
import hashlib
import io
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from pronominal.dataset_scripts.own_rows.jsonl import read_json_lines
from pronominal.errors import InputError
from pronominal.text_files import read_text

ITEM, ANSWER = "item", "answer"
DELIMITERS = ",;\t"
FORMULA = ("=", "+", "-", "@")
"""How a cell begins that a spreadsheet would compute."""

Record = Mapping[str, str]
"""One line of a sheet: heading, in small letters -> cell."""


class Format(StrEnum):
    """How a sheet is written."""

    CSV = "csv"
    JSONL = "jsonl"


def write_sheet(path: Path, headings: Sequence[str], records: Iterable[Record]) -> None:
    """Write a sheet with an empty column of answers; its suffix says in which `Format`."""
    if path.suffix == ".jsonl":
        lines = (json.dumps({**one, ANSWER: ""}, ensure_ascii=False) + "\n" for one in records)
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        return
    # spreadsheets take a file for UTF-8 only where it begins with a mark
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        sheet = csv.writer(file)
        sheet.writerow([ITEM, *headings, ANSWER])
        for record in records:
            cells = [record[name] for name in (ITEM, *headings)]
            sheet.writerow([*(f"'{c}" if c.startswith(FORMULA) else c for c in cells), ""])


def read_sheet(path: Path) -> Iterator[tuple[str, Record]]:
    """Yield (place, record) for every line of a sheet that was filled in.

    A byte-order mark, other line ends, semicolons or tabs for commas, moved or added columns and
    empty lines change nothing. `InputError` if the file has another format or encoding, is damaged,
    or lacks a column.
    """
    if path.suffix == ".jsonl":
        for number, fields in read_json_lines(path):
            record = {str(name).strip().lower(): cell for name, cell in fields.items()}
            yield _checked(path, f"line {number}", record)
    elif path.suffix in (".csv", ".tsv", ".txt"):
        yield from _read_csv(path)
    else:
        cure = "save it as CSV in UTF-8, or give a .jsonl file"
        raise InputError("the format is unknown", cure=cure, file=path)


def shown_digest(cells: Iterable[str]) -> str:
    """Return a digest of what an annotator was shown; blanks and encodings change nothing."""
    plain = (" ".join(unicodedata.normalize("NFC", cell).lstrip("'").split()) for cell in cells)
    return hashlib.sha256("\x1f".join(plain).encode("utf-8")).hexdigest()[:12]


def one_line(cell: str) -> str:
    """Return a cell without line breaks, so that a line of the sheet is a line of the file."""
    return " ".join(cell.splitlines())


def _read_csv(path: Path) -> Iterator[tuple[str, Record]]:
    # some spreadsheets say which delimiter they use
    text = read_text(path, cure="save it as CSV in UTF-8").removeprefix("sep=;\r\n")
    delimiter = max(DELIMITERS, key=text.partition("\n")[0].count)
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    headings: list[str] | None = None
    try:
        for cells in lines:
            place = f"line {lines.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if headings is None:
                headings = [cell.strip().lower() for cell in cells]
                _refuse_headings(headings, path, place)
            elif len(cells) != len(headings):
                cause = f"there are {len(cells)} cells under {len(headings)} headings"
                cure = "restore the line from the sheet that was given out"
                raise InputError(cause, cure=cure, file=path, row=place)
            else:
                yield _checked(path, place, dict(zip(headings, cells, strict=True)))
    except csv.Error as error:
        cause, place = f"the line is not valid CSV ({error})", f"line {lines.line_num}"
        raise InputError(cause, cure="save the sheet again", file=path, row=place) from error


def _refuse_headings(headings: list[str], path: Path, place: str) -> None:
    for name in (ITEM, ANSWER):
        if headings.count(name) != 1:
            cause = f"{headings.count(name)} columns are called '{name}'"
            cure = "keep the headings of the sheet that was given out"
            raise InputError(cause, cure=cure, file=path, row=place)


def _checked(path: Path, place: str, record: Mapping[str, object]) -> tuple[str, Record]:
    answers: dict[str, str] = {}
    for name, cell in record.items():
        if not isinstance(cell, str):
            cause = f"the {name} is no string"
            raise InputError(cause, cure="write a string", file=path, row=place)
        answers[name] = cell
    for name in (ITEM, ANSWER):
        if name not in answers:
            raise InputError(f"there is no '{name}'", cure="add it", file=path, row=place)
    return place, answers

"""Documents as JSON, one a line or one after the other."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.errors import InputError
from pronominal.eval.exchange.documents import ExportedText, PredictedDocument
from pronominal.eval.exchange.text_files import numbered_lines

Record = Callable[[ExportedText], Mapping[str, Any]]
"""Makes the JSON object of a text, with its clusters if it has some."""

Reader = Callable[[str, Mapping[str, Any]], PredictedDocument]
"""Takes a place in the file and its JSON object."""

Write = Callable[[Iterable[ExportedText], Path], None]
Read = Callable[[Path], Iterator[PredictedDocument]]


def json_format(record: Record, document: Reader, fields: str) -> tuple[Write, Read]:
    """Return what writes and reads a format of JSON documents; see `read_json_documents`."""

    def write(texts: Iterable[ExportedText], out: Path) -> None:
        write_json_documents(map(record, texts), out)

    def read(file: Path) -> Iterator[PredictedDocument]:
        return read_json_documents(file, document, fields)

    return write, read


def write_json_documents(records: Iterable[Mapping[str, Any]], out: Path) -> None:
    """Write one JSON object a line, whole or not at all."""
    with new_file(out) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def read_json_documents(file: Path, read: Reader, fields: str) -> Iterator[PredictedDocument]:
    """Yield a document for each JSON object of a file.

    A line has one object or several: coref-hoi's ``predict.py`` writes no line ends. Where an
    object lacks one of the `fields`, `read` may fail with any of the errors that are caught here;
    the `InputError` names the fields.
    """
    for place, record in _records(file):
        try:
            yield read(place, record)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            cause = f"no document with an answer ({missing})"
            cure = f"give what the system has written: {fields}"
            raise InputError(cause, cure=cure, file=file, row=place) from error


def _records(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    decoder = json.JSONDecoder()
    for number, line in numbered_lines(file):
        rest, count = line.strip(), 0
        while rest:
            count += 1
            place = f"line {number}" if count == 1 else f"line {number}, document {count}"
            try:
                record, end = decoder.raw_decode(rest)
            except (ValueError, RecursionError):
                record, end = None, 0
            if not isinstance(record, dict):
                raise InputError("not a JSON object", cure="mend the line", file=file, row=place)
            yield place, record
            rest = rest[end:].lstrip()

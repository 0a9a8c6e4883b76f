"""JSONL files of users: one JSON object a line."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pronominal.errors import InputError


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object of a JSONL file; see `parse_json_lines`.

    Raises:
        InputError: the file cannot be read, or a line is no JSON object in UTF-8.
    """
    try:
        with path.open("rb") as lines:
            yield from parse_json_lines(lines, path)
    except OSError as error:
        cause = f"cannot be read ({error.strerror})"
        raise InputError(cause, cure="give a JSONL file", file=path) from error


def parse_json_lines(lines: Iterable[bytes], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object with its line (the first is 1); blank lines are passed by.

    Raises:
        InputError: a line is no JSON object in UTF-8.
    """
    for number, line in enumerate(lines, start=1):
        if line.isspace():
            continue
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise InputError(
                "the text is not UTF-8", cure="save it in UTF-8", file=path, row=f"line {number}"
            ) from error
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            cause = "not a JSON object"
            raise InputError(cause, cure="mend the line", file=path, row=f"line {number}")
        yield number, record

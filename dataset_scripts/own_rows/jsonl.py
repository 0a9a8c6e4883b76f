"""JSONL files of users: one JSON object a line."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pronominal.errors import os_errors
from pronominal.json_files import parse_object


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object of a JSONL file; `InputError` as `parse_json_lines`, or if it is gone."""
    with os_errors(path, "give a JSONL file"), path.open("rb") as lines:
        yield from parse_json_lines(lines, path)


def parse_json_lines(lines: Iterable[bytes], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each object with its line (the first is 1); blank lines are passed by.

    Raises:
        InputError: a line is no JSON object in UTF-8.
    """
    for number, line in enumerate(lines, start=1):
        if line.isspace():
            continue
        yield number, parse_object(line, file=path, row=f"line {number}", cure="mend the line")

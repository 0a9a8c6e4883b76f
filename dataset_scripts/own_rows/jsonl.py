"""JSONL files of users: one JSON object a line."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import os_errors


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
        at = RowLocation(path, f"line {number}")
        try:
            record = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise at.refuse("the text is not UTF-8", "save it in UTF-8") from error
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise at.refuse("not a JSON object", "mend the line")
        yield number, record

"""Gold documents as JSON, one a line."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pronominal.dataset_scripts.own_rows.jsonl import read_json_lines
from pronominal.errors import InputError
from pronominal.spans import AnnotatedDocument


def read_gold_json(
    path: Path, read: Callable[[Mapping[str, Any]], AnnotatedDocument], fields: str
) -> list[AnnotatedDocument]:
    """Read a document from each line; `read` may fail with any of the errors that are caught here.

    `InputError` names file, line and the fields where a line is no such document.
    """
    found = []
    for number, record in read_json_lines(path):
        try:
            found.append(read(record))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            cause = f"no document with gold clusters ({type(error).__name__}: {error})"
            raise InputError(
                cause, cure=f"give {fields}", file=path, row=f"line {number}"
            ) from error
    return found

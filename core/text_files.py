"""Text in UTF-8 that a person gave; what is not UTF-8 is named by its line."""

import tomllib
from pathlib import Path
from typing import Any

from pronominal.errors import InputError, os_errors


def decoded(content: bytes, *, file: str | Path, cure: str) -> str:
    """Return the text of a file's bytes, without the mark that spreadsheets begin UTF-8 with.

    Raises:
        InputError: they are not UTF-8, with the line and the `cure`.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        cause = "the text is not UTF-8"
        raise InputError(cause, cure=cure, file=file, row=f"line {line}") from error


def read_text(path: Path, *, cure: str) -> str:
    """Return what `decoded` makes of a file; `InputError` also if it cannot be read."""
    with os_errors(path, "check the path"):
        content = path.read_bytes()
    return decoded(content, file=path, cure=cure)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Return the tables of a TOML file; `InputError` that says `what` cannot be read from it."""
    try:
        return tomllib.loads(read_text(path, cure="save it as UTF-8"))
    except tomllib.TOMLDecodeError as error:
        cause = f"no {what} could be read ({error})"
        raise InputError(cause, cure="give a TOML file", file=path) from error

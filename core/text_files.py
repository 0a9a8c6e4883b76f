"""Text in UTF-8 that a person gave; what is not UTF-8 is named by its line."""

import tomllib
from pathlib import Path
from typing import Any

from pronominal.errors import InputError, os_errors


def decoded(content: bytes, *, file: str | Path, cure: str, row: str | None = None) -> str:
    """Return the text of a file's bytes, without the mark that spreadsheets begin UTF-8 with.

    Raises:
        InputError: they are not UTF-8, with the `cure` and the line, or the `row` that they are.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        where = row or f"line {line}"
        raise InputError("the text is not UTF-8", cure=cure, file=file, row=where) from error


def read_text(path: Path, *, cure: str) -> str:
    """Return what `decoded` makes of a file; `InputError` also if it cannot be read."""
    with os_errors(path, "check the path"):
        content = path.read_bytes()
    return decoded(content, file=path, cure=cure)


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """Return the tables of a TOML file; `InputError` that says `what` cannot be read from it."""
    text = read_text(path, cure="save it as UTF-8")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        # numbers of thousands of digits and deeply nested lists are no TOMLDecodeError
        plain = isinstance(error, tomllib.TOMLDecodeError)
        reason = str(error) if plain else "a number is too long, or lists are too deep"
        cause = f"no {what} could be read ({reason})"
        cure = "give a TOML file" if plain else "take out what is too long or too deep"
        raise InputError(cause, cure=cure, file=path) from error

"""Files that are there already: kept, unless an earlier report of ours is replaced."""

from pathlib import Path

from pronominal.errors import InputError, os_errors

LOOKED_AT = 4096
"""Bytes at the beginning of a file in which its mark stands."""


def refuse_overwriting(file: Path, mark: str | None = None) -> None:
    """Raise `InputError` for a file that is there, unless it is an earlier report.

    Args:
        file: where something is to be written.
        mark: words near the beginning of a report's file; None for what nobody may replace.
    """
    if not file.exists():
        return
    if mark is not None and file.is_file():
        with os_errors(file, "choose another file"), file.open("rb") as content:
            if mark.encode() in content.read(LOOKED_AT):
                return
    cause = "there is a file already" if mark is None else "there is a file that no report wrote"
    raise InputError(cause, cure="remove it, or choose another file", file=file)

"""Files that are there already: kept, unless an earlier report of ours is replaced."""

from pathlib import Path

from pronominal.errors import InputError, os_errors


def refuse_overwriting(file: Path, mark: str | None = None) -> None:
    """Raise `InputError` for a file that is there, unless it is an earlier report.

    Args:
        file: where something is to be written.
        mark: the whole first line of a report's file; None for what nobody may replace.
    """
    if not file.exists():
        return
    if mark is not None and file.is_file():
        with os_errors(file, "choose another file"), file.open("rb") as content:
            if content.readline(len(mark) + 3).rstrip(b"\r\n") == mark.encode():
                return
    cause = "there is a file already" if mark is None else "there is a file that no report wrote"
    raise InputError(cause, cure="remove it, or choose another file", file=file)

"""Text in UTF-8 that a person gave; what is not UTF-8 is named by its line."""

from pathlib import Path

from pronominal.errors import InputError


def decoded(content: bytes, *, file: str | Path, cure: str) -> str:
    """Return the text of a file's bytes, without the mark that spreadsheets begin UTF-8 with.

    Args:
        content: the bytes.
        file: where they stand, for an error.
        cure: what to do if they are not UTF-8.

    Raises:
        InputError: they are not UTF-8.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        cause = "the text is not UTF-8"
        raise InputError(cause, cure=cure, file=file, row=f"line {line}") from error


def read_text(path: Path, *, cure: str) -> str:
    """Return what `decoded` makes of a file; `InputError` also if it cannot be read."""
    try:
        content = path.read_bytes()
    except OSError as error:
        cause = f"cannot be read ({error.strerror})"
        raise InputError(cause, cure="check the path", file=path) from error
    return decoded(content, file=path, cure=cure)

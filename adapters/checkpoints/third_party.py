"""Errors of other people's packages, told as the error of what the user gave."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import IO

from pronominal.errors import InputError

STDERR = 2
"""Its file descriptor."""


@contextmanager
def input_error_on(
    *errors: type[Exception],
    cause: str,
    cure: str,
    file: str | Path | None = None,
    quoted: bool = True,
) -> Iterator[None]:
    """Turn what a package or the file system raises into an `InputError`.

    Args:
        errors: what is turned into one; `Exception` for packages that fail in many ways. An
            `InputError` stays as it is.
        cause: what is wrong.
        cure: what the user can do about it.
        file: the file or checkpoint at fault.
        quoted: whether the cause ends with what the package says, in brackets.
    """
    try:
        yield
    except InputError:
        raise
    except errors as error:
        said = f"{cause} ({first_line(error)})" if quoted else cause
        raise InputError(said, cure=cure, file=file) from error


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Turn panics of packages that are written in Rust, such as tokenizers, into a `ValueError`.

    A panic is no `Exception`, and Rust writes it to stderr by itself, which is dropped.
    """
    with _stderr_held_back() as said:
        try:
            yield
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            said.truncate(0)
            raise ValueError(str(error)) from None


@contextmanager
def _stderr_held_back() -> Iterator[IO[bytes]]:
    """Give the file to which all goes that is meant for stderr; write it there in the end."""
    with tempfile.TemporaryFile() as said:
        if sys.__stderr__ is None:  # it is closed, and its number may be another file's
            yield said
            return
        stderr = os.dup(STDERR)
        os.dup2(said.fileno(), STDERR)
        try:
            yield said
        finally:
            os.dup2(stderr, STDERR)
            os.close(stderr)
            said.seek(0)
            os.write(STDERR, said.read())


def first_line(error: BaseException) -> str:
    r"""Return what a package's error says, as an `InputError` may quote it.

    >>> first_line(ValueError("no such key.\nTry another one."))
    'no such key'
    >>> first_line(KeyError())
    'KeyError'
    """
    if isinstance(error, UnpicklingError | EOFError):
        # torch's own words advise to run what is in the file
        return "the pickle is damaged, or holds more than tensors"
    text = f"no {error}" if isinstance(error, KeyError) and error.args else str(error)
    lines = text.strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(".: ")

"""Errors of other people's packages, told as the error of what the user gave."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError

from pronominal.errors import InputError


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
def extra_needed(extra: str, user: str) -> Iterator[None]:
    """Name the extra to install where a package that belongs to it is missing; `user` needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        cure = f'pip install "pronominal[{extra}]"'
        raise InputError(f"{user} needs the package {error.name}", cure=cure) from error


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

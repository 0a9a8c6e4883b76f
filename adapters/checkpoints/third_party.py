"""Errors of other people's packages, told as the error of what the user gave."""

import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
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
def contained_rust() -> Iterator[None]:
    """Turn panics of a package that is written in Rust, such as tokenizers, into a `ValueError`.

    A panic is no `Exception`. What Rust writes to stdout and stderr by itself is dropped: it quotes
    files, and stdout may be JSON.
    """
    with _streams_dropped():
        try:
            yield
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            raise ValueError(str(error)) from None


@contextmanager
def _streams_dropped() -> Iterator[None]:
    with ExitStack() as stack:
        nothing = stack.enter_context(open(os.devnull, "wb"))
        for number, stream in ((1, sys.__stdout__), (2, sys.__stderr__)):
            if stream is None:  # it is closed, and its number may be another file's
                continue
            with suppress(OSError):  # nobody reads it any more
                stream.flush()
            kept = os.dup(number)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, number)
            os.dup2(nothing.fileno(), number)
        yield


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

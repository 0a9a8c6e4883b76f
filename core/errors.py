"""The one error that a user meets, and what becomes one."""

import copyreg
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LONGEST = 1_000
"""Characters of a cause, a cure or a row that an error shows."""


class InputError(Exception):
    """Something the user gave is wrong; the command line prints it as one line and exits with 2.

    Args:
        cause: what is wrong, without evaluation text.
        cure: what the user can do about it, as an imperative.
        file: the file or folder at fault, if there is one.
        row: where it is in the file, as the user finds it, such as ``"line 7"`` or ``"id x"``.
    """

    def __init__(
        self, cause: str, *, cure: str, file: str | Path | None = None, row: str | None = None
    ) -> None:
        self.cause = _clipped(cause)
        self.cure = _clipped(cure)
        self.file = file
        self.row = None if row is None else _clipped(row)
        location = ", ".join(_clipped(str(part)) for part in (file, row) if part is not None)
        said = f"{self.cause}; {self.cure}"
        message = f"{location}: {said}" if location else said
        super().__init__(printable(" ".join(message.split())))

    def __reduce__(self) -> tuple[Any, ...]:
        """Let worker processes send it home: exceptions leave keywords out of their pickles."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


def together(cause: str, errors: Sequence[InputError]) -> InputError:
    """Return one error for several, in one line that has room for each of them; the one alone.

    >>> print(together("2 names are wrong", [InputError(c, cure="give b") for c in "ac"]))
    2 names are wrong: (1) a; give b (2) c; give b
    """
    if len(errors) == 1:
        return errors[0]
    one = InputError(cause, cure="; ".join(error.cure for error in errors))
    told = " ".join(f"({place}) {error}" for place, error in enumerate(errors, start=1))
    one.args = (f"{one.cause}: {told}",)
    return one


def _clipped(words: str) -> str:
    """Return words as a line of an error has room for them: a name in a file may be endless."""
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}…"


def printable(text: str) -> str:
    r"""Escape what could steer a terminal: strangers write names, labels and answers.

    >>> printable("Zoë\x1b[2J")
    'Zoë\\x1b[2J'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def redacted(value: str) -> str:
    """Return a cell as an error may quote it: one short word, or only its length.

    A table whose columns moved has evaluation sentences in any column.

    >>> redacted("$DAT_PRONOUN"), redacted("Ann met Eve.")
    ("'$DAT_PRONOUN'", 'a text of 12 characters')
    """
    if len(value) <= 24 and len(value.split()) == 1:
        return f"'{value}'"
    return f"a text of {len(value)} characters"


@contextmanager
def extra_needed(extra: str, user: str) -> Iterator[None]:
    """Name the extra to install where a package that belongs to it is missing; `user` needs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        cause = f"{user} needs the package {error.name}"
        raise InputError(cause, cure=f'pip install "pronominal[{extra}]"') from error


@contextmanager
def os_errors(file: Path, cure: str, cause: str = "cannot be read") -> Iterator[None]:
    """Turn what the system says of a file, such as *No such file*, into an `InputError`.

    So is a pipe or a device in its place, which may never end; users may name one in ``/dev``,
    but for ``/dev/shm``, which holds their files.
    """
    special = file.exists() and not (file.is_file() or file.is_dir())
    if special and (file.parts[:2] != ("/", "dev") or file.parts[2] == "shm"):
        raise InputError(f"{cause} (it is a pipe or a device)", cure=cure, file=file)
    try:
        yield
    except OSError as error:
        raise InputError(f"{cause} ({error.strerror})", cure=cure, file=file) from error


THIRD_PARTY_ERRORS = (Exception, SystemExit)
"""What third-party code may raise: some libraries end the process where they should raise."""


def raised(error: BaseException) -> str:
    """Say what third-party code raised and where, without its words, which may quote a text.

    >>> try:
    ...     {}["She left."]
    ... except KeyError as error:
    ...     raised(error).partition(" (")[0]
    'KeyError was raised'
    """
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__} was raised{where}"

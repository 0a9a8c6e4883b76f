"""What may be wrong with a file, each thing with its place, and without evaluation text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pronominal.errors import InputError

FEW = 5
"""Rows up to which a fault of many rows is reported for each of them."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that `validate` found: where, and what, without evaluation text."""

    file: str | Path
    row: str | None
    message: str

    def __str__(self) -> str:
        location = f"{self.file}, {self.row}" if self.row else str(self.file)
        return f"{location}: {self.message}"

    @classmethod
    def of(cls, error: InputError) -> "Violation":
        """Return what an error says is wrong."""
        return cls(str(error.file), error.row, error.cause)


@dataclass(frozen=True, slots=True)
class RowLocation:
    """Where a row is: its file, and its line (text, from 1), row (tables, from 0) or id."""

    file: str | Path
    row: str

    def __str__(self) -> str:
        return f"{self.file}, {self.row}"

    def refuse(self, cause: str, cure: str = "fetch it again from upstream") -> InputError:
        """Return the error about this row."""
        return InputError(cause, cure=cure, file=self.file, row=self.row)

    def violation(self, message: str) -> Violation:
        """Return what is wrong with this row."""
        return Violation(self.file, self.row, message)


def summarise_repeats(violations: Iterable[Violation]) -> Iterator[Violation]:
    """Report what is wrong with more than `FEW` rows at the first of them, with their number.

    A row too many moves every later one, and a renamed key is missing in all of them. Messages
    that differ in numbers only are of one kind.
    """
    kinds: dict[tuple[str, str], list[Violation]] = {}
    for violation in violations:
        kind = (str(violation.file), re.sub(r"\d+", "0", violation.message))
        kinds.setdefault(kind, []).append(violation)
    for alike in kinds.values():
        if len(alike) <= FEW:
            yield from alike
        else:
            first = alike[0]
            message = f"{first.message} (the first of {len(alike)} rows like it)"
            yield Violation(first.file, first.row, message)

"""Warnings of a system: ours as they are, others without their words, which may quote a text."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def redacted_warnings() -> Iterator[None]:
    """Show of a warning that is not ours in the block only its kind and place, and only once."""
    show = warnings.showwarning
    shown: set[str] = set()

    def show_redacted(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not type(message).__module__.startswith("pronominal."):
            place = f"{category.__name__} ({Path(filename).name}, line {lineno})"
            if place in shown:
                return
            shown.add(place)
            told = f"the system warns: {place}; its words are left out, for they may quote a text"
            message = UserWarning(told)
        show(message, category, filename, lineno, file, line)

    # catch_warnings would forget which warnings of other packages were shown already
    warnings.showwarning = show_redacted
    try:
        yield
    finally:
        warnings.showwarning = show

"""What a system warns of or logs: ours as it is, the rest without words, which may quote a text."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

LEFT_OUT = "its words are left out, for they may quote a text"


@contextmanager
def redacted_warnings() -> Iterator[None]:
    """Show only the kind and place of what others warn of, once each, or log in the block."""
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
            message = UserWarning(f"the system warns: {place}; {LEFT_OUT}")
        show(message, category, filename, lineno, file, line)

    # catch_warnings would forget which warnings of other packages were shown already
    warnings.showwarning = show_redacted
    make = logging.getLogRecordFactory()
    logging.setLogRecordFactory(lambda *given, **named: _redacted(make(*given, **named)))
    try:
        yield
    finally:
        warnings.showwarning = show
        logging.setLogRecordFactory(make)


def _redacted(record: logging.LogRecord) -> logging.LogRecord:
    """Return a record without its words, arguments and traceback, unless it is ours."""
    if record.name.partition(".")[0] != "pronominal":
        place = f"{record.levelname} of {record.name} ({record.filename}, line {record.lineno})"
        record.msg, record.args = f"the system logs: {place}; {LEFT_OUT}", None
        record.exc_info = record.exc_text = record.stack_info = None
    return record

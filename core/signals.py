"""Signals that end a process, as exceptions: what must be undone is undone first."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = ("SIGTERM", "SIGHUP")
"""Names of the signals; Windows lacks the second."""


@contextmanager
def signals_as_exits() -> Iterator[None]:
    """Raise `SystemExit` (128 + the signal's number) in the block; only the first signal counts.

    Signals that the process ignores, as under nohup, stay ignored. Outside the main thread, where
    Python handles no signals, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    handled = [number for number in numbers if before[number] is signal.SIG_DFL]

    def stop(number: int, _: FrameType | None) -> NoReturn:
        for other in handled:
            # a second signal must not stop what undoes the work
            signal.signal(other, signal.SIG_IGN)
        raise SystemExit(128 + number)

    try:
        for number in handled:
            signal.signal(number, stop)
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])

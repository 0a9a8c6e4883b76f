"""What long work says on stderr: warnings, and a progress bar, or a line a minute in a job."""

import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pronominal.errors import printable

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

MINUTE = 60.0
"""Seconds between two lines of a job without a terminal."""


def _columns(total: int | None) -> tuple["ProgressColumn", ...]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    task = TextColumn("[progress.description]{task.description}")
    if total is None:
        return SpinnerColumn(), task, TextColumn("{task.completed:,}")
    return task, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()


@contextmanager
def _minutely(task: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Print a line a minute, where nobody looks at a bar: a job without a terminal.

    A thread prints it, as one call of a system may take longer than a minute.
    """
    told: list[tuple[float, int, int | None]] = [(time.monotonic(), 0, total)]
    ended = threading.Event()

    def tell(done: int, total: int | None = total) -> None:
        told.append((time.monotonic(), done, total))
        del told[2:-1]  # the first that was told, and the last

    def print_every_minute() -> None:
        while not ended.wait(MINUTE):
            print(printable(_line(task, told)), file=sys.stderr, flush=True)

    thread = threading.Thread(target=print_every_minute, daemon=True)
    thread.start()
    try:
        yield tell
    finally:
        ended.set()
        thread.join()


def _line(task: str, told: Sequence[tuple[float, int, int | None]]) -> str:
    """Say how many units of a task are done, and how many minutes are left by the pace so far.

    `told` are when it was told, what was done and of how many: at the start, and first and last.
    """
    (start, first, _), (now, done, total) = told[:2][-1], told[-1]
    if not total:
        return f"pronominal: {task}: {done:,} done"
    line = f"pronominal: {task}: {done:,} of {total:,} done"
    if done > first:
        left = (now - start) / (done - first) * (total - done) / MINUTE
        line += f", about {max(1, round(left)):,} min left"
    return line


@contextmanager
def progress_bar(
    task: str, total: int | None = None, *columns: "ProgressColumn"
) -> Iterator[Callable[..., None]]:
    """Show how far a task is, by what takes how many units are done.

    It also takes of how many, where that shows only on the way. Columns are shown instead of the
    usual ones. Where stderr is no terminal, a line a minute says the same.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        with _minutely(task, total) as tell:
            yield tell
        return
    from rich.progress import Progress

    with Progress(
        *(columns or _columns(total)),
        console=console,
        transient=True,
        # what is printed goes to a pipe or file as it is, and above the bar on a terminal
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        number = bar.add_task(task, total=total)
        yield lambda done, total=None: bar.update(number, completed=done, total=total)


@contextmanager
def loud_warnings() -> Iterator[None]:
    """Print every warning of ours as one line on stderr."""
    from pronominal.adapters.contract.systems import AnswerWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", AnswerWarning)  # texts of two chunks may read alike
        warnings.showwarning = lambda message, *_: print(
            f"pronominal: {printable(str(message))}", file=sys.stderr
        )
        yield

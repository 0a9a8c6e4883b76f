"""One progress bar for all long work: on stderr, and only when that is a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich import progress as rich_progress
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class Progress(Protocol):
    """Moves a bar."""

    def __call__(self, done: int, total: int | None = None, /) -> None:
        """Take how many units are done, and of how many where that shows only on the way."""


_TASK = "[progress.description]{task.description}"


def _columns(total: int | None) -> tuple[ProgressColumn, ...]:
    if total is None:
        return SpinnerColumn(), TextColumn(_TASK), TextColumn("{task.completed:,}")
    times = TimeElapsedColumn(), TimeRemainingColumn()
    return TextColumn(_TASK), BarColumn(), MofNCompleteColumn(), *times


@contextmanager
def progress_bar(
    task: str, total: int | None = None, *columns: ProgressColumn
) -> Iterator[Progress]:
    """Show how far a task is.

    Args:
        task: what is being done.
        total: how many units there are; None where that is not known.
        columns: shown instead of the usual ones.
    """
    console = Console(stderr=True)
    with rich_progress.Progress(
        *(columns or _columns(total)),
        console=console,
        disable=not console.is_terminal,
        transient=True,
        # what is printed goes to a pipe or file as it is, and above the bar on a terminal
        redirect_stdout=sys.stdout.isatty(),
    ) as bar:
        number = bar.add_task(task, total=total)
        yield lambda done, total=None: bar.update(number, completed=done, total=total)

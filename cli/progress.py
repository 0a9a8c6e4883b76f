"""What long work says on stderr: warnings, and a progress bar where that is a terminal."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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

from pronominal.errors import printable


def _columns(total: int | None) -> tuple[ProgressColumn, ...]:
    task = TextColumn("[progress.description]{task.description}")
    if total is None:
        return SpinnerColumn(), task, TextColumn("{task.completed:,}")
    return task, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()


@contextmanager
def progress_bar(
    task: str, total: int | None = None, *columns: ProgressColumn
) -> Iterator[Callable[..., None]]:
    """Show how far a task is, by what takes how many units are done.

    It also takes of how many, where that shows only on the way. Columns are shown instead of the
    usual ones.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        # rich before 14.3 ends a bar that is disabled with an empty line
        yield lambda done, total=None: None
        return
    with rich_progress.Progress(
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

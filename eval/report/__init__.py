"""The report: one self-contained page about runs, and its tables and plots as files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pronominal.eval.report.page import write_report
from pronominal.eval.scores import as_task
from pronominal.eval.task import Task

FILES = ("markdown", "latex", "csv", "svg", "scores")
"""The options of `write_report` that are places of further files."""


def report(
    runs: Path | str | Sequence[Path | str],
    path: Path | str,
    *,
    datasets: Path | str | Iterable[Path | str] = (),
    task: Task | str | Sequence[Task | str] | None = None,
    **options: Any,
) -> Path:
    """Write the page about the runs in some folders.

    Args:
        runs: a folder of runs made by ``pronominal evaluate``, or several.
        path: the HTML file.
        datasets: a dataset's folder or Hub id, or several; see `write_report`.
        task: a task of your own by which runs were scored, or its place, ``module:attribute``;
            several where there are several.
        options: further ones of `write_report`, such as ``svg``, a folder for the charts.

    Returns:
        The HTML file.

    Raises:
        InputError: there is no run, one is damaged, or was scored by an unknown task.
    """
    options |= {name: Path(options[name]) for name in FILES if options.get(name) is not None}
    write_report(
        [Path(folder) for folder in _several(runs)],
        Path(path),
        datasets=[str(place) for place in _several(datasets)],
        tasks=own_tasks(task),
        **options,
    )
    return Path(path)


def own_tasks(task: Task | str | Sequence[Task | str] | None) -> list[Task]:
    """Return tasks that were given, one or several, as they are or by their places."""
    return [own for one in _several(task) if (own := as_task(one)) is not None]


def _several(given: Any) -> Sequence[Any]:
    return [*given] if isinstance(given, Iterable) and not isinstance(given, str) else [given]


__all__ = ["own_tasks", "report", "write_report"]

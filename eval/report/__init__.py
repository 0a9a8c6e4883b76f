"""The report: one self-contained page about runs, and its tables and plots as files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pronominal.eval.report.page import write_report


def report(runs: Path | str | Sequence[Path | str], path: Path | str, **options: Any) -> Path:
    """Write the page about the runs in some folders.

    Args:
        runs: a folder of runs made by ``pronominal evaluate``, or several.
        path: the HTML file.
        options: those of `write_report`, such as ``svg``, a folder for the charts.

    Returns:
        The HTML file.

    Raises:
        InputError: there is no scored run, or one is damaged.
    """
    folders = [runs] if isinstance(runs, str | Path) else runs
    write_report([Path(folder) for folder in folders], Path(path), **options)
    return Path(path)


__all__ = ["report", "write_report"]

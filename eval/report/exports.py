"""The report's tables and plots as files."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from pronominal.atomic import new_file, new_folder
from pronominal.errors import InputError
from pronominal.eval.report.charts.drawings import Drawing
from pronominal.eval.report.charts.svg import standalone
from pronominal.eval.report.charts.whole_figure import whole_figure
from pronominal.eval.report.scored import Comparison
from pronominal.eval.tables.table import LATEX_NEEDS, Table, slug
from pronominal.eval.tables.tidy import tidy_scores, tidy_table, write_tidy
from pronominal.overwriting import refuse_overwriting

TABLE, CHART = r"[^.]+\.[^.]+\.csv", r"[^.]+(\.[^.]+){1,4}\.svg"
"""How the files are named that `write_csv` and `write_svg` write, by what they hold."""


WRITTEN = "written by pronominal report"
IN_MARKUP, IN_LATEX, IN_YAML = f"<!-- {WRITTEN} -->", f"% {WRITTEN}", f"# {WRITTEN}"
"""The first lines of our files, by which a later report may replace them."""


def refuse_other_files(
    markdown: Path | None, latex: Path | None, csv: Path | None, svg: Path | None
) -> None:
    """Refuse files that no report wrote, and folders that hold some, since both are replaced."""
    for file, mark in ((markdown, IN_MARKUP), (latex, IN_LATEX)):
        if file is not None:
            refuse_overwriting(file, mark)
    for folder, ours in ((csv, TABLE), (svg, CHART)):
        if folder is None or not folder.exists():
            continue
        if not folder.is_dir():
            raise InputError("it is a file", cure="give a folder", file=folder)
        for file in sorted(folder.iterdir()):
            if not re.fullmatch(ours, file.name):
                cause = f"the folder would be replaced, and it holds {file.name}, of no report"
                raise InputError(cause, cure="give a new folder", file=folder)


def write_markdown(tables: Sequence[tuple[str, Table]], file: Path) -> None:
    """Write all tables to one Markdown file, under the titles of what they are about."""
    parts, about = [f"{IN_MARKUP}\n"], ""
    for title, table in tables:
        if title != about:
            parts.append(f"## {title}\n")
        parts.append(table.to_markdown())
        about = title
    _write(file, "\n".join(parts))


def write_latex(tables: Sequence[tuple[str, Table]], file: Path) -> None:
    """Write all tables to one LaTeX file."""
    parts = (f"% {title}\n{table.to_latex(f'{title} {table.title}')}" for title, table in tables)
    _write(file, "\n".join((IN_LATEX, LATEX_NEEDS, *parts)))


def write_csv(tables: Sequence[tuple[str, Table]], folder: Path) -> None:
    """Write a CSV file for each table, named by its titles; a folder there is replaced."""
    with new_folder(folder) as beside:
        for title, table in tables:
            name = f"{slug(title)}.{slug(table.title)}.csv"
            _write_once(beside / name, table.to_csv())


def write_scores(comparisons: Iterable[Comparison], folder: Path) -> None:
    """Write the tidy scores of all runs as ``scores.parquet`` and ``scores.csv``."""
    rows = (
        row
        for one in comparisons
        for row in tidy_scores(
            one.task.measures,
            one.task.units,
            one.scores,
            {label: run.system.name for label, run in one.runs.items()},
            dataset=one.dataset,
            config=one.config,
            split=one.split,
            digest=one.digest,
        )
    )
    write_tidy(tidy_table(rows), folder)


def write_all_systems(comparisons: Iterable[Comparison], folder: Path) -> None:
    """Write the tables of all systems, two of which are not compared, as CSV files."""
    tables = [
        (f"{one.title} / {one.digest[:8]}", table)
        for one in comparisons
        for table in one.task.comparison_tables(one.scores, tests=False)
    ]
    write_csv(tables, folder)


def write_svg(figures: Sequence[tuple[str, Drawing]], folder: Path) -> None:
    """Write an SVG file for each figure, with its legend; a folder that is there is replaced."""
    with new_folder(folder) as beside:
        for title, figure in figures:
            name = f"{slug(title)}.{figure.name}.svg"
            _write_once(beside / name, standalone(whole_figure(figure)))


def _write_once(file: Path, content: str) -> None:
    """Write a file of a folder; `InputError` where another one of its name holds something else."""
    if file.exists() and file.read_text(encoding="utf-8") != content:
        cause = f"two tables or charts would be called {file.name}"
        raise InputError(cause, cure="report them apart, or give a system another label")
    file.write_text(content, encoding="utf-8", newline="\n")


def _write(file: Path, content: str) -> None:
    with new_file(file) as beside:
        beside.write_text(content, encoding="utf-8", newline="\n")

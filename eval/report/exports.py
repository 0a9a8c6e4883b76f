"""The report's tables and plots as files."""

import re
from collections.abc import Sequence
from pathlib import Path

from pronominal.atomic import new_file, new_folder
from pronominal.errors import InputError
from pronominal.eval.report.charts.drawings import Drawing
from pronominal.eval.report.charts.svg import standalone
from pronominal.eval.tables.table import Table
from pronominal.overwriting import refuse_overwriting

TABLE, CHART = r"\d{3}-.+\.csv", r".+\.\d{2}\.svg"
"""How the files are named that `write_csv` and `write_svg` write."""


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
    parts = (f"% {title}\n{table.to_latex()}" for title, table in tables)
    _write(file, "\n".join((IN_LATEX, *parts)))


def write_csv(tables: Sequence[tuple[str, Table]], folder: Path) -> None:
    """Write a CSV file for each table, named by number and title; a folder there is replaced."""
    with new_folder(folder) as beside:
        for number, (title, table) in enumerate(tables, start=1):
            name = f"{number:03}-{slug(f'{title} {table.title}')}.csv"
            (beside / name).write_text(table.to_csv(), encoding="utf-8", newline="\n")


def write_svg(figures: Sequence[tuple[str, Drawing]], folder: Path) -> None:
    """Write an SVG file for each chart; a folder that is there is replaced."""
    with new_folder(folder) as beside:
        for title, figure in figures:
            for number, (_, drawn) in enumerate(figure.panels, start=1):
                name = f"{slug(title)}.{figure.name}.{number:02}.svg"
                (beside / name).write_text(standalone(drawn), encoding="utf-8", newline="\n")


def slug(title: str) -> str:
    """Return a name for files and links: letters and digits, with hyphens between."""
    kept = "".join(letter if letter.isalnum() else " " for letter in title.lower())
    return "-".join(kept.split())


def _write(file: Path, content: str) -> None:
    with new_file(file) as beside:
        beside.write_text(content, encoding="utf-8", newline="\n")

"""The page: opens offline, prints well, and holds no evaluation text unless that is asked for."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from pronominal.atomic import new_file
from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.errors import InputError
from pronominal.eval.failures import comparison_tables
from pronominal.eval.report import exports
from pronominal.eval.report.charts import SHAPES
from pronominal.eval.report.dataset_figures import curves, figures
from pronominal.eval.report.disagreements import Disagreement, disagreements
from pronominal.eval.report.figures import Figure, Keys, point
from pronominal.eval.report.matrices import bias_maps, paired_tests
from pronominal.eval.report.scored import AGAIN, Comparison, add_tests, read_comparisons, rows_of
from pronominal.eval.tables import UNDEFINED, Table, percent

HEADLINES: dict[str, tuple[str, Keys]] = {
    "gap": ("F1", ("overall", "f1")),
    "knowref": ("task-specific accuracy", ("task_specific_accuracy",)),
    "ruff": ("accuracy", ("accuracy",)),
    "winonb": ("accuracy on singular they", ("by_source", "all", "singular", "accuracy")),
}
"""Dataset -> the number that stands for it, and where it is; others have their accuracy."""

ACCURACY: tuple[str, Keys] = ("accuracy", ("overall", "accuracy"))

INTERVAL = re.compile(r"( \[[^]]*\]| ±\S+)$")


@dataclass(frozen=True, slots=True)
class Section:
    """What the page shows about one split.

    Attributes:
        comparison: the runs.
        tables: what ``pronominal evaluate`` prints.
        figures: the charts.
        run_table: what was run.
        disagreements: rows that systems answer differently, if text was asked for.
        differing: how many such rows there are.
    """

    comparison: Comparison
    tables: list[Table]
    figures: list[Figure]
    run_table: Table
    disagreements: list[Disagreement]
    differing: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a page shows.

    Attributes:
        overview: one number for each system and split.
        sections: dataset -> its splits.
        across: dataset -> charts over several of its configs.
    """

    overview: Table
    sections: dict[str, list[Section]]
    across: dict[str, list[Figure]]

    @property
    def systems(self) -> list[str]:
        """The labels of all runs."""
        parts = (part for parts in self.sections.values() for part in parts)
        return list(dict.fromkeys(label for part in parts for label in part.comparison.scores))

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Yield every table with the title of what it is about."""
        yield "Overview", self.overview
        for dataset, parts in self.sections.items():
            for figure in self.across[dataset]:
                yield dataset, figure.table
            for part in parts:
                title = part.comparison.title
                for table in (*part.tables, *(f.table for f in part.figures), part.run_table):
                    yield title, table

    def charts(self) -> Iterator[tuple[str, Figure]]:
        """Yield every figure with the title of what it is about."""
        for dataset, parts in self.sections.items():
            yield from ((dataset, figure) for figure in self.across[dataset])
            for part in parts:
                yield from ((part.comparison.title, figure) for figure in part.figures)


def write_report(  # noqa: PLR0913 - each one is an option of the command
    runs: Path | Sequence[Path],
    out: Path,
    *,
    datasets: Iterable[str] = (),
    include_text: bool = False,
    markdown: Path | None = None,
    latex: Path | None = None,
    csv: Path | None = None,
    svg: Path | None = None,
) -> int:
    """Write the page, and its tables and plots as files where asked, and count the runs.

    Args:
        runs: folders of runs made by ``pronominal evaluate``.
        out: the HTML file.
        datasets: built datasets (folders or Hub ids) whose rows the runs answered, for their text
            and for paired tests of runs that have no stored units.
        include_text: show rows that systems answer differently; they are evaluation text.
        markdown: a file for all tables.
        latex: a file for all tables.
        csv: a folder with a file for each table.
        svg: a folder with a file for each chart.

    Raises:
        InputError: there is no scored run, one is damaged, or a dataset has the rows of none.
    """
    comparisons = read_comparisons([runs] if isinstance(runs, Path) else runs)
    report = _report(comparisons, [*datasets], include_text=include_text)
    with new_file(out) as beside:
        beside.write_text(_render(report), encoding="utf-8")
    tables = list(report.tables())
    if markdown is not None:
        exports.write_markdown(tables, markdown)
    if latex is not None:
        exports.write_latex(tables, latex)
    if csv is not None:
        exports.write_csv(tables, csv)
    if svg is not None:
        exports.write_svg(list(report.charts()), svg)
    return sum(len(comparison.runs) for comparison in comparisons)


def _report(comparisons: list[Comparison], datasets: list[str], *, include_text: bool) -> Report:
    sections, across, rows = {}, {}, rows_of(comparisons, datasets)
    for dataset, group in groupby(comparisons, key=lambda one: one.dataset):
        parts = list(group)
        sections[dataset] = [_section(one, rows.get(one.digest), include_text) for one in parts]
        by_config = {part.config: part.scores for part in parts}
        across[dataset] = [*curves(by_config)] if len(by_config) == len(parts) else []
    return Report(_overview(comparisons), sections, across)


def _section(comparison: Comparison, split: PublishedSplit | None, include_text: bool) -> Section:
    shown: tuple[list[Disagreement], int] = ([], 0)
    add_tests(comparison, split)
    if split is not None and include_text:
        shown = disagreements(comparison, split)
    scores = comparison.scores
    try:
        made = [*figures(comparison.dataset, scores), *bias_maps(scores), *paired_tests(scores)]
        tables = comparison_tables(comparison.dataset, scores)
    except KeyError as error:
        raise InputError(
            f"its scores, or those of a run beside it, have no {error}",
            cure=AGAIN,
            file=next(iter(comparison.folders.values())),
        ) from error
    drawn = {title for figure in made for title in (figure.table.title, *figure.holds)}
    tables = [table for table in tables if table.title not in drawn]
    return Section(comparison, tables, made, _run_table(comparison), *shown)


def _overview(comparisons: list[Comparison]) -> Table:
    systems = dict.fromkeys(label for one in comparisons for label in one.scores)
    columns: dict[str, dict[str, str]] = {}
    notes: dict[str, None] = {}
    for one in comparisons:
        name, path = HEADLINES.get(one.dataset, ACCURACY)
        points = {s: point(score, path, s) for s, score in one.scores.items()}
        if any(found.value is not None for found in points.values()):
            heading = f"{one.dataset} {one.config}"
            heading += f" ({one.digest[:8]})" if heading in columns else ""
            columns[heading] = {s: percent(found.value) for s, found in points.items()}
            numbers = sorted({found.n for found in points.values() if found.n is not None})
            counted = " to ".join(dict.fromkeys(f"{n:,}" for n in (*numbers[:1], *numbers[-1:])))
            notes[f"{heading}: {name}, n = {counted}"] = None
    rows = (
        (system, *(cells.get(system, UNDEFINED) for cells in columns.values()))
        for system in systems
    )
    return Table(
        "At a glance, in percent", ("System", *columns), tuple(rows), ("; ".join(notes) + ".",)
    )


def _run_table(comparison: Comparison) -> Table:
    columns = ("System", "Checkpoint", "Reading", "Settings", "Rows", "Seconds", "Versions")
    rows = tuple(_run_row(label, run) for label, run in comparison.runs.items())
    notes = [f"Rows of {comparison.title}, digest {comparison.digest}."]
    for label, run in comparison.runs.items():
        notes += [f"{label}: {message}" for message in run["self_check"]]
        if failed := run["counts"].get("failed"):
            notes.append(f"{label}: {failed:,} rows failed and have no answer.")
    return Table("What was run", columns, rows, tuple(notes))


def _run_row(label: str, run: dict[str, Any]) -> tuple[str, ...]:
    own = {k: v for k, v in run["settings"].items() if k not in ("reading", "chunk")}
    own |= run["seeds"]
    checkpoint = f"{run.get('checkpoint_name') or ''} {(run['checkpoint'] or '')[:12]}".strip()
    return (
        label,
        checkpoint or UNDEFINED,
        str(run["settings"].get("reading", UNDEFINED)),
        ", ".join(f"{key} = {value}" for key, value in own.items()) or UNDEFINED,
        f"{run['dataset']['rows']:,}",
        f"{run['times']['seconds']:,}",
        ", ".join(f"{package} {number}" for package, number in run["versions"].items()),
    )


def _render(report: Report) -> str:
    folder = files("pronominal.eval.report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"cell": _cell, "json": json.dumps, "slug": exports.slug}
    systems = report.systems
    page = environment.get_template("page.html")
    return page.render(
        report=report,
        about=lambda cells: _about(cells, systems),
        shapes=SHAPES,
        version=version("pronominal"),
        with_text=any(part.disagreements for parts in report.sections.values() for part in parts),
    )


def _cell(content: str) -> Markup:
    """Set the interval in a cell apart."""
    found = INTERVAL.search(content)
    if found is None:
        return escape(content)
    number, interval = content[: found.start()], found.group()
    return escape(number) + Markup('<span class="ends">{}</span>').format(interval)


def _about(names: Iterable[str], systems: Sequence[str]) -> str:
    """Return as JSON which systems a row is about, whose first cell may name a pair of them."""
    first = next(iter(names), "")
    parts = [first] if first in systems else re.split(" [–/] ", first)
    return json.dumps(parts if all(part in systems for part in parts) else [])

"""The page: opens offline, prints well, and holds no evaluation text unless that is asked for."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.report import exports
from pronominal.eval.report.charts.drawings import Drawing
from pronominal.eval.report.charts.kinds import shape_of
from pronominal.eval.report.charts.of_task import curves, task_drawings
from pronominal.eval.report.disagreements import Disagreement, disagreements
from pronominal.eval.report.overview import overview
from pronominal.eval.report.scored import Comparison, add_tests, read_comparisons, rows_of
from pronominal.eval.runs.record import RunRecord
from pronominal.eval.runs.scored import AGAIN
from pronominal.eval.tables.table import UNDEFINED, Table
from pronominal.eval.task import Task

Progress = Callable[[int, int], None]

INTERVAL = re.compile(r"((?: ±\S+)?(?: \[[^]]*\])?)$")


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
    figures: list[Drawing]
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
    across: dict[str, list[Drawing]]

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
                title = self._title(part)
                for table in (*part.tables, *(f.table for f in part.figures), part.run_table):
                    yield title, table

    def charts(self) -> Iterator[tuple[str, Drawing]]:
        """Yield every figure with the title of what it is about."""
        for dataset, parts in self.sections.items():
            yield from ((dataset, figure) for figure in self.across[dataset])
            for part in parts:
                yield from ((self._title(part), figure) for figure in part.figures)

    def _title(self, part: Section) -> str:
        """Name a split, with its rows' digest where there are two builds of it."""
        one = part.comparison
        titles = [other.comparison.title for other in self.sections[one.dataset]]
        return one.title if titles.count(one.title) == 1 else f"{one.title} / {one.digest[:8]}"


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
    task: Task | None = None,
    margin: float | None = None,
    progress: Progress = lambda done, total: None,
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
        task: of runs on datasets that have none of ours.
        margin: how far apart equivalent systems may be, in (0, 1).
        progress: told how many splits are done, and of how many; the paired tests of one may take
            a minute.

    Raises:
        InputError: there is no scored run, one is damaged, a dataset has the rows of none, or a
            folder for tables or charts holds other files.
    """
    exports.refuse_other_files(csv, svg)
    comparisons = read_comparisons([runs] if isinstance(runs, Path) else runs, task)
    sections = _sections(comparisons, [*datasets], progress, margin, include_text=include_text)
    across = {name: [*_curves([p.comparison for p in parts])] for name, parts in sections.items()}
    report = Report(overview(comparisons), sections, across)
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


def _sections(
    comparisons: list[Comparison],
    datasets: list[str],
    progress: Progress,
    margin: float | None,
    *,
    include_text: bool,
) -> dict[str, list[Section]]:
    sections: dict[str, list[Section]] = {}
    rows = rows_of(comparisons, datasets)
    for done, one in enumerate(comparisons):
        progress(done, len(comparisons))
        split = rows.get(one.digest)
        add_tests(one, split, margin)
        sections.setdefault(one.dataset, []).append(_section(one, split, include_text))
    return sections


def _curves(parts: Sequence[Comparison]) -> Iterator[Drawing]:
    """Draw the curves over the configs of each split; two builds of one config are no curve."""
    for split in dict.fromkeys(part.split for part in parts):
        of_it = [part for part in parts if part.split == split]
        by_config = {part.config: part.scores for part in of_it}
        task = of_it[0].task
        if task.curves is not None and len(by_config) == len(of_it):
            yield from curves(task, task.curves, split, by_config)


def _section(comparison: Comparison, split: Split | None, include_text: bool) -> Section:
    shown: tuple[list[Disagreement], int] = ([], 0)
    if split is not None and include_text:
        shown = disagreements(comparison, split)
    task, scores = comparison.task, comparison.scores
    rows = next(iter(comparison.runs.values())).dataset.rows
    try:
        made = [*task_drawings(task, scores, rows)]
        # the map of paired tests has their numbers as a table
        tables = task.comparison_tables(scores, tests=False)
    except KeyError as error:
        raise InputError(
            f"its scores, or those of a run beside it, have no {error}",
            cure=AGAIN,
            file=next(iter(comparison.folders.values())),
        ) from error
    return Section(comparison, tables, made, _run_table(comparison), *shown)


def _run_table(comparison: Comparison) -> Table:
    columns = ("System", "Checkpoint", "Reading", "Settings", "Rows", "Seconds", "Versions")
    rows = tuple((label, *_run_cells(run)) for label, run in comparison.runs.items())
    notes = [f"Rows of {comparison.title}, digest {comparison.digest}."]
    for label, run in comparison.runs.items():
        notes += [f"{label}: {message}" for message in run.self_check]
        if failed := run.counts.get("failed"):
            notes.append(f"{label}: {failed:,} rows failed and have no answer.")
    return Table("What was run", columns, rows, tuple(notes))


def _run_cells(run: RunRecord) -> tuple[str, ...]:
    own = {**run.settings, **run.seeds}
    settings = [f"{k} = {value}" for k, value in own.items() if k not in ("reading", "chunk")]
    checkpoint = f"{run.checkpoint_name or ''} {(run.checkpoint or '')[:12]}".strip()
    return (
        checkpoint or UNDEFINED,
        str(run.settings.get("reading", UNDEFINED)),
        ", ".join(settings) or UNDEFINED,
        f"{run.dataset.rows:,}",
        f"{run.times.seconds:,}",
        ", ".join(f"{package} {number}" for package, number in run.versions.items()),
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
    return environment.get_template("page.html").render(
        report=report,
        about=partial(_about, systems=report.systems),
        shape_of=shape_of,
        version=version("pronominal"),
        with_text=any(part.disagreements for parts in report.sections.values() for part in parts),
    )


def _cell(content: str) -> Markup:
    """Set the interval in a cell apart."""
    number, ends, _ = INTERVAL.split(content, maxsplit=1)
    ends = Markup('<span class="ends">{}</span>').format(ends) if ends else Markup()
    return escape(number) + ends


def _about(names: Iterable[str], systems: Sequence[str]) -> str:
    """Return as JSON which systems a row is about, whose first cell may name a pair of them."""
    first = next(iter(names), "")
    parts = [first] if first in systems else re.split(" [–/] ", first)
    return json.dumps(parts if all(part in systems for part in parts) else [])

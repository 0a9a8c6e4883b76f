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
from pronominal.eval.planning.plan import Plan, read_plan
from pronominal.eval.report import exports
from pronominal.eval.report.charts.drawings import Drawing
from pronominal.eval.report.charts.kinds import shape_of
from pronominal.eval.report.charts.of_task import curves, task_drawings
from pronominal.eval.report.disagreements import Disagreement, disagreements
from pronominal.eval.report.overview import overview
from pronominal.eval.report.scored import Comparison, add_tests, read_comparisons, rows_of
from pronominal.eval.report.unscored import UnscoredRun, unscored_runs
from pronominal.eval.runs.record import RunRecord
from pronominal.eval.tables.table import UNDEFINED, Table, slug
from pronominal.eval.task import Task
from pronominal.overwriting import refuse_overwriting

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
        unscored: runs that have no scores yet; None where there are none.
    """

    overview: Table
    sections: dict[str, list[Section]]
    across: dict[str, list[Drawing]]
    unscored: Table | None

    @property
    def systems(self) -> list[str]:
        """The labels of all runs."""
        parts = (part for parts in self.sections.values() for part in parts)
        return list(dict.fromkeys(label for part in parts for label in part.comparison.scores))

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Yield every table with the title of what it is about."""
        if self.overview.rows:
            yield "Overview", self.overview
        if self.unscored is not None:
            yield "Overview", self.unscored
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
    scores: Path | None = None,
    tasks: Sequence[Task] = (),
    margin: float | None = None,
    plan: Path | str | None = None,
    progress: Progress = lambda done, total: None,
) -> int:
    """Write the page, and its tables and plots as files where asked, and count the runs.

    Runs without scores are named there, with the command that goes on, also where all are such.

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
        scores: a folder for ``scores.parquet`` and ``scores.csv``: tidy scores, a row a figure.
        tasks: of a user's own, by which some of the runs were scored.
        margin: how far apart equivalent systems may be, in (0, 1).
        plan: a file that ``pronominal plan`` wrote; its comparisons come first, and all others of
            its rows are exploratory. Without it, the plan that lies with the runs.
        progress: told how many splits are done, and of how many; the paired tests of one may take
            a minute.

    Raises:
        InputError: there is no run, one is damaged or was changed, or was scored by an unknown
            task, a dataset has the rows of none, or there are files in the way that no report
            wrote.
    """
    refuse_overwriting(out, exports.IN_MARKUP)
    exports.refuse_other_files(markdown, latex, csv, svg)
    folders = [runs] if isinstance(runs, Path) else runs
    comparisons = read_comparisons(folders, tasks)
    planned = None if plan is None else _plan_of(comparisons, Path(plan))
    if planned is not None:
        planned.refuse_other_margin(margin)
    sections = _sections(
        comparisons, [*datasets], progress, margin, planned, include_text=include_text
    )
    across = {name: [*_curves([p.comparison for p in parts])] for name, parts in sections.items()}
    unscored = _unscored([*unscored_runs(folders, tasks)])
    report = Report(overview(comparisons), sections, across, unscored)
    with new_file(out) as temporary:
        temporary.write_text(
            f"{exports.IN_MARKUP}\n{_render(report)}", encoding="utf-8", newline="\n"
        )
    tables, charts = list(report.tables()), list(report.charts())
    for where, write in (
        (markdown, partial(exports.write_markdown, tables)),
        (latex, partial(exports.write_latex, tables)),
        (csv, partial(exports.write_csv, tables)),
        (svg, partial(exports.write_svg, charts)),
        (scores, partial(exports.write_scores, comparisons)),
    ):
        if where is not None:
            write(where)
    return sum(len(comparison.runs) for comparison in comparisons)


def _plan_of(comparisons: Sequence[Comparison], file: Path) -> Plan:
    plan = read_plan(file)
    if not any(plan.is_of(*one.rows) for one in comparisons):
        cause = "the plan is for other rows than these runs answered"
        raise InputError(cause, cure="report the runs of the plan", file=file)
    return plan


def _sections(
    comparisons: list[Comparison],
    datasets: list[str],
    progress: Progress,
    margin: float | None,
    plan: Plan | None,
    *,
    include_text: bool,
) -> dict[str, list[Section]]:
    sections: dict[str, list[Section]] = {}
    rows = rows_of(comparisons, datasets)
    for done, one in enumerate(comparisons):
        progress(done, len(comparisons))
        split = rows.get(one.digest)
        add_tests(one, split, margin, plan if plan is not None and plan.is_of(*one.rows) else None)
        sections.setdefault(one.dataset, []).append(_section(one, split, include_text))
    return sections


def _unscored(runs: Sequence[UnscoredRun]) -> Table | None:
    rows = [
        (one.record.label, str(one.record.dataset), f"{one.done:,} of {one.rows:,}", one.command)
        for one in runs
    ]
    columns = ("System", "Split", "Rows done", "The command that goes on")
    return Table("Runs without scores", columns, tuple(rows)) if rows else None


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
    figures = [*task_drawings(task, scores, rows)]
    # the map of paired tests has their numbers as a table
    tables = task.comparison_tables(scores, tests=False)
    return Section(comparison, tables, figures, _run_table(comparison), *shown)


def _run_table(comparison: Comparison) -> Table:
    columns = ("System", "Checkpoint", "Reading", "Settings", "Rows", "Seconds", "Versions")
    rows = tuple((label, *_run_cells(run)) for label, run in comparison.runs.items())
    notes = [f"Rows of {comparison.title}, digest {comparison.digest}.", *comparison.notes]
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
    environment.filters |= {"cell": _cell, "json": json.dumps, "slug": slug}
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

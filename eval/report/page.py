"""The page: opens offline, prints well, and holds no evaluation text unless that is asked for."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from pronominal.atomic import new_file
from pronominal.errors import InputError
from pronominal.eval.planning.plan import Plan, read_plan
from pronominal.eval.report import exports
from pronominal.eval.report.charts.drawings import Drawing
from pronominal.eval.report.charts.kinds import shape_of
from pronominal.eval.report.chosen import chosen, refuse_unknown
from pronominal.eval.report.overview import overview
from pronominal.eval.report.profiles import profiles
from pronominal.eval.report.published import published_systems
from pronominal.eval.report.scored import (
    Comparison,
    add_tests,
    kept_plan,
    read_comparisons,
    rows_of,
)
from pronominal.eval.report.sections import Section, curves_of, section
from pronominal.eval.report.unscored import UnscoredRun, unscored_runs
from pronominal.eval.statistics.paired_tests import refuse_no_margin
from pronominal.eval.tables.table import Table, slug
from pronominal.eval.task import Task
from pronominal.overwriting import refuse_overwriting

Progress = Callable[[int, int], None]

INTERVAL = re.compile(r"((?: ±\S+)?(?: \[[^]]*\])?)$")

OPEN = 40
"""Rows of the overview that are shown unfolded."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a page shows.

    Attributes:
        overview: one number for each system and split.
        sections: dataset -> its splits.
        profiles: each model over all datasets.
        across: dataset -> charts over several of its configs.
        unscored: runs that have no scores yet; None where there are none.
        beside: the folder with the figures of all systems; None where the page has all.
    """

    overview: Table
    sections: dict[str, list[Section]]
    profiles: list[Drawing]
    across: dict[str, list[Drawing]]
    unscored: Table | None
    beside: Path | None

    @property
    def parts(self) -> list[Section]:
        """The splits of all datasets."""
        return [part for parts in self.sections.values() for part in parts]

    @property
    def systems(self) -> list[str]:
        """The labels of all runs that are compared."""
        labels = (label for part in self.parts for label in part.comparison.scores)
        return list(dict.fromkeys(labels))

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Yield every table with the title of what it is about."""
        if self.overview.rows:
            yield "Overview", self.overview
        if self.unscored is not None:
            yield "Overview", self.unscored
        yield from (("Profiles", figure.table) for figure in self.profiles)
        for dataset, parts in self.sections.items():
            for figure in self.across[dataset]:
                yield dataset, figure.table
            for part in parts:
                title = self._title(part)
                for table in (*part.tables, *(f.table for f in part.figures), part.run_table):
                    yield title, table

    def charts(self) -> Iterator[tuple[str, Drawing]]:
        """Yield every figure with the title of what it is about."""
        yield from (("Profiles", figure) for figure in self.profiles)
        for dataset, parts in self.sections.items():
            yield from ((dataset, figure) for figure in self.across[dataset])
            for part in parts:
                figures = (*part.first.figures, *part.figures)
                yield from ((self._title(part), figure) for figure in figures)

    def _title(self, part: Section) -> str:
        """Name a split, with its digest where the page has several builds of it."""
        one = part.comparison
        titles = [other.comparison.title for other in self.sections[one.dataset]]
        return one.title if titles.count(one.title) == 1 else f"{one.title} / {one.digest[:8]}"


def write_report(  # noqa: PLR0913 - each one is an option of the command
    runs: Path | Sequence[Path],
    out: Path,
    *,
    datasets: Iterable[str] = (),
    systems: Sequence[str] = (),
    papers: bool = False,
    released: Mapping[str, str] | None = None,
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
        out: the HTML file. Where it compares some of the systems only, a folder beside it,
            ``NAME.all-systems``, has the tables of all.
        datasets: built datasets (folders or Hub ids) whose rows the runs answered, for outcomes
            and text of rows, and for paired tests of runs that have no stored units.
        systems: labels of the runs to compare; without any, the best of each split.
        papers: show what papers published of the same rows, as reference marks.
        released: label -> when the model came out, as ``2025``, ``2025-01`` or ``2025-01-31``.
        include_text: show the text of rows; it is evaluation text.
        markdown: a file for all tables.
        latex: a file for all tables.
        csv: a folder with a file for each table.
        svg: a folder with a file for each figure.
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
    if not out.name or out.is_dir():
        cause = "the page is one file, and this is a folder"
        raise InputError(cause, cure="add a name, such as report.html", file=out)
    refuse_no_margin(margin)
    beside = out.with_name(f"{out.stem}.all-systems")
    refuse_overwriting(out, exports.IN_MARKUP)
    exports.refuse_other_files(markdown, latex, csv, svg)
    folders = [runs] if isinstance(runs, Path) else runs
    comparisons = read_comparisons(folders, tasks)
    refuse_unknown(comparisons, systems)
    planned = None if plan is None else _plan_of(comparisons, Path(plan))
    if planned is not None:
        planned.refuse_other_margin(margin)
    asked = _Asked([*datasets], systems, papers, include_text, margin, planned)
    sections = asked.sections(comparisons, progress)
    shown = [part.comparison for parts in sections.values() for part in parts]
    left_out = any(len(a.scores) < len(b.scores) for a, b in zip(shown, comparisons, strict=True))
    if left_out:
        exports.refuse_other_files(None, None, beside, None)
    report = Report(
        overview(comparisons),
        sections,
        [*profiles(shown, released or {})],
        {name: [*curves_of([p.comparison for p in parts])] for name, parts in sections.items()},
        _unscored([*unscored_runs(folders, tasks)]),
        beside if left_out else None,
    )
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
        (report.beside, partial(exports.write_all_systems, comparisons)),
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


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked of the page; see `write_report`."""

    datasets: Sequence[str]
    systems: Sequence[str]
    papers: bool
    include_text: bool
    margin: float | None
    plan: Plan | None

    def sections(
        self, comparisons: list[Comparison], progress: Progress
    ) -> dict[str, list[Section]]:
        """Return the sections of the page, by their datasets."""
        made: dict[str, list[Section]] = {}
        rows = rows_of(comparisons, self.datasets)
        for done, one in enumerate(comparisons):
            progress(done, len(comparisons))
            of_rows = self.plan is not None and self.plan.is_of(*one.rows)
            plan = self.plan if of_rows else kept_plan(one)
            split = rows.get(one.digest)
            part = chosen(one, self.systems, () if plan is None else [*plan.systems])
            add_tests(part, split, self.margin, plan)
            published = published_systems(part) if self.papers else ()
            text = self.include_text
            made.setdefault(one.dataset, []).append(
                section(part, split, published, include_text=text)
            )
        return made


def _unscored(runs: Sequence[UnscoredRun]) -> Table | None:
    rows = [
        (one.record.label, str(one.record.dataset), f"{one.done:,} of {one.rows:,}", one.command)
        for one in runs
    ]
    columns = ("System", "Split", "Rows done", "The command that goes on")
    return Table("Runs without scores", columns, tuple(rows)) if rows else None


@cache
def page_templates(package: str) -> jinja2.Environment:
    """Return the templates of a package; what they are given is escaped, and has to be there."""
    folder = files(package)
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (folder / name).read_text(encoding="utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _render(report: Report) -> str:
    environment = page_templates("pronominal.eval.report")
    environment.filters |= {"cell": _cell, "slug": slug}
    return environment.get_template("page.html").render(
        report=report,
        about=partial(_about, systems={*report.systems}),
        shape_of=shape_of,
        version=version("pronominal"),
        unfolded=len(report.overview.rows) <= OPEN,
        with_text=any(part.rows.with_text for part in report.parts),
    )


def _cell(content: str) -> Markup:
    """Set the interval in a cell apart."""
    number, ends, _ = INTERVAL.split(content, maxsplit=1)
    ends = Markup('<span class="ends">{}</span>').format(ends) if ends else Markup()
    return escape(number) + ends


def _about(names: Iterable[str], systems: set[str]) -> list[str]:
    """Return which systems a row is about, whose first cell may name a pair of them."""
    first = next(iter(names), "")
    parts = [first] if first in systems else re.split(" [–/] ", first)
    return parts if all(part in systems for part in parts) else []

"""What the page shows of each split, after its first screen: tables, charts and rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.report.charts.drawings import Drawing
from pronominal.eval.report.charts.of_task import curves, task_drawings
from pronominal.eval.report.first_screen import FirstScreen, first_screen
from pronominal.eval.report.published import PublishedSystem
from pronominal.eval.report.rows import RowBrowser, row_browser
from pronominal.eval.report.scored import Comparison
from pronominal.eval.runs.record import RunRecord
from pronominal.eval.tables.table import UNDEFINED, Table


@dataclass(frozen=True, slots=True)
class Section:
    """What the page shows about one split.

    Attributes:
        comparison: the runs.
        first: what is shown first.
        tables: what ``pronominal evaluate`` prints.
        figures: the charts.
        run_table: what was run.
        rows: the rows and what systems answered to them.
    """

    comparison: Comparison
    first: FirstScreen
    tables: list[Table]
    figures: list[Drawing]
    run_table: Table
    rows: RowBrowser


def section(
    comparison: Comparison,
    split: Split | None,
    published: Sequence[PublishedSystem],
    *,
    include_text: bool,
) -> Section:
    """Return what the page shows of runs, and of the rows that they answered, if they are given."""
    task, scores = comparison.task, comparison.scores
    rows = next(iter(comparison.runs.values())).dataset.rows
    return Section(
        comparison,
        first_screen(comparison, published),
        # the map of paired tests has their numbers as a table
        tables=task.comparison_tables(scores, tests=False),
        figures=[*task_drawings(task, scores, rows)],
        run_table=_run_table(comparison),
        rows=row_browser(comparison, split, include_text=include_text),
    )


def curves_of(parts: Sequence[Comparison]) -> Iterator[Drawing]:
    """Draw the curves over the configs of each split; two builds of one config are no curve."""
    for split in dict.fromkeys(part.split for part in parts):
        of_it = [part for part in parts if part.split == split]
        by_config = {part.config: part.scores for part in of_it}
        task = of_it[0].task
        if task.curves is not None and len(by_config) == len(of_it):
            yield from curves(task, task.curves, split, by_config)


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

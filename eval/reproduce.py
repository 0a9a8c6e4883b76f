"""``pronominal reproduce``: a paper's figures, ours from the given runs, and the difference."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pronominal.errors import unknown_name
from pronominal.eval.bias import between_systems
from pronominal.eval.data_figures import DATA_FIGURES, folders_of
from pronominal.eval.paper_figures import Figure, PaperRow, PaperTable
from pronominal.eval.scored_runs import Run, by_label
from pronominal.eval.tables import UNDEFINED, Table


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one row: the paper's, ours, and the difference, in the paper's unit.

    Attributes:
        row: key of the row; the label of a run that stands in no row of the paper.
        name: the row as the paper calls it.
        figure: name of the figure.
        paper: None where the paper has no such figure.
        ours: mean over the runs; None without a run that has it.
        sd: standard deviation over the runs (n - 1); None with fewer than two.
        difference: ours minus the paper's.
        runs: labels of the runs.
        why: the known reason for a difference.
    """

    row: str
    name: str
    figure: str
    paper: float | None
    ours: float | None
    sd: float | None
    difference: float | None
    runs: tuple[str, ...]
    why: str | None


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A table of a paper beside ours.

    Attributes:
        table: the paper's.
        lines: row by row, and in a row figure by figure.
    """

    table: PaperTable
    lines: tuple[Line, ...]

    @property
    def unexplained(self) -> list[Line]:
        """Figures about the data alone that differ from the paper's, no one knows why."""
        if self.table.name not in DATA_FIGURES:
            return []
        return [line for line in self.lines if line.why is None and self._differs(line)]

    def _differs(self, line: Line) -> bool:
        decimals = self.table.figures[line.figure].decimals
        # an empty figure is missing, not different
        return line.difference is not None and round(abs(line.difference), decimals) > 0

    def to_json(self) -> dict[str, Any]:
        """Return it as ``--json`` prints it."""
        return {
            "table": self.table.name,
            "paper": self.table.paper,
            "title": self.table.title,
            "dataset": f"{self.table.dataset}/{self.table.config}/{self.table.split}",
            "lines": [asdict(line) for line in self.lines],
            "notes": list(self.table.notes),
        }

    def to_table(self) -> Table:
        """Return it as a table: one row for each figure that the paper or a run has."""
        shown = [line for line in self.lines if (line.paper, line.ours) != (None, None)]
        why = {line.name: line.why for line in shown if line.why and line.difference is not None}
        counts = {line.name: len(line.runs) for line in shown if len(line.runs) > 1}
        return Table(
            f"{self.table.paper}, {self.table.place}: {self.table.title}",
            ("Row", "Figure", "Paper", "Ours", "Difference"),
            tuple(self._cells(line) for line in shown),
            (
                *(
                    f"{name}: mean and standard deviation of {n} runs."
                    for name, n in counts.items()
                ),
                *(f"{name}: {reason}" for name, reason in why.items()),
                *self.table.notes,
            ),
        )

    def _cells(self, line: Line) -> tuple[str, ...]:
        figure = self.table.figures[line.figure]
        spread = "" if line.sd is None else f" ± {line.sd:.{_finer(figure)}f}"
        return (
            line.name,
            figure.heading,
            UNDEFINED if line.paper is None else f"{line.paper:.{figure.decimals}f}",
            UNDEFINED if line.ours is None else f"{line.ours:.{_finer(figure)}f}{spread}",
            UNDEFINED if line.difference is None else f"{line.difference:+.{_finer(figure)}f}",
        )


def reproduce(
    tables: Sequence[PaperTable],
    runs: Sequence[Run] = (),
    named: Mapping[str, Sequence[Run]] | None = None,
    datasets: Sequence[str] = (),
) -> list[Reproduction]:
    """Put our figures beside a paper's; a row without a run stays empty.

    A run stands in a row whose key is its label, or in the one that `named` puts it in; every
    other run of a table's rows comes after the paper's, so that floors stand in every table.

    Args:
        tables: the paper's.
        runs: scored runs.
        named: key of a row -> its runs; of several, mean and spread.
        datasets: folders of built datasets, for the tables about the data alone.

    Raises:
        InputError: `named` has a row that is in no table, two runs of the same rows have one
            label, or no table is about the data of a folder.
    """
    given = {key: list(chosen) for key, chosen in (named or {}).items()}
    rows = {key for table in tables for key in table.rows}
    rows |= {row.baseline for table in tables for row in table.rows.values() if row.baseline}
    rows |= {key for table in tables for key in table.between}
    for key in given:
        if key not in rows:
            raise unknown_name("row", key, rows)
    for label, labelled in by_label(runs).items():
        given.setdefault(label, labelled)
    folders = folders_of(tables, datasets)
    return [
        Reproduction(table, tuple(_data_lines(table, folders)))
        if table.name in DATA_FIGURES
        else Reproduction(table, tuple(_run_lines(table, given)))
        for table in tables
    ]


def _data_lines(table: PaperTable, folders: Mapping[str, str]) -> list[Line]:
    ours: dict[str, Mapping[str, float]] = {name: {} for name in table.figures}
    for name, figure in table.figures.items():
        if table.dataset_of(figure) in folders:
            folder = folders[table.dataset_of(figure)]
            ours[name] = DATA_FIGURES[table.name](folder, table, figure)
    return [
        _line(key, row, name, figure, [ours[name][key]] if key in ours[name] else [], ())
        for key, row in table.rows.items()
        for name, figure in table.figures.items()
    ]


def _run_lines(table: PaperTable, given: Mapping[str, Sequence[Run]]) -> list[Line]:
    if table.between:
        given = {key: _compared(table, given) for key in table.rows}
    baselines = {row.baseline for row in table.rows.values()}
    others = {
        key: PaperRow(key, {})
        for key, runs in given.items()
        if key not in table.rows
        and key not in baselines
        and any(_fitting(table, figure, runs) for figure in table.figures.values())
    }
    lines = []
    for key, row in {**table.rows, **others}.items():
        for name, figure in table.figures.items():
            runs = _fitting(table, figure, given.get(key, ()))
            values = _values(figure, runs)
            if figure.gain:
                before = _values(figure, _fitting(table, figure, given.get(row.baseline or "", ())))
                values = [value - statistics.fmean(before) for value in values] if before else []
            lines.append(_line(key, row, name, figure, values, tuple(run.label for run in runs)))
    return lines


def _fitting(table: PaperTable, figure: Figure, runs: Sequence[Run]) -> list[Run]:
    place = (table.dataset_of(figure), table.config_of(figure), table.split)
    return [run for run in runs if run.rows == place]


def _compared(table: PaperTable, given: Mapping[str, Sequence[Run]]) -> list[Run]:
    """Return the comparison of the biases of a table's two systems, as the scores of one run."""
    place = (table.dataset, table.config, table.split)
    found = [[run for run in given.get(key, ()) if run.rows == place] for key in table.between]
    return [
        Run(
            f"{one.label} / {other.label}",
            place,
            {"between_systems": between_systems(one.scores["bias"], other.scores["bias"])},
            one.folder,
        )
        for one, other in zip(*found, strict=False)
        if one.scores.get("bias") and other.scores.get("bias")
    ]


def _values(figure: Figure, runs: Sequence[Run]) -> list[float]:
    found = []
    for run in runs:
        # of a prompted model the papers count the answers to all prompts, not the first one's
        value: Any = run.scores.get("prompts", {}).get("every_answer", run.scores)
        for step in figure.path.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None:
            found.append(float(value))
    return found


def _line(
    key: str,
    row: PaperRow,
    name: str,
    figure: Figure,
    values: Sequence[float],
    runs: tuple[str, ...],
) -> Line:
    paper = row.paper.get(name)
    ours = figure.scale * statistics.fmean(values) if values else None
    return Line(
        row=key,
        name=row.name,
        figure=name,
        paper=paper,
        ours=ours,
        sd=figure.scale * statistics.stdev(values) if len(values) > 1 else None,
        difference=None if paper is None or ours is None else ours - paper,
        runs=runs,
        why=row.why,
    )


def _finer(figure: Figure) -> int:
    """Return how many decimals our figure has: one more than the paper's, unless it counts."""
    return figure.decimals + (figure.unit != "count")

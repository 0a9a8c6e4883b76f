"""What ``pronominal reproduce`` shows: a paper's table beside ours, as a table and as JSON."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

from pronominal.eval.papers.data_figures import DATA_FIGURES
from pronominal.eval.papers.figures import PaperFigure, PaperTable, Value
from pronominal.eval.papers.pair_outcomes import OUTCOMES, PairOutcome
from pronominal.eval.scores.winopron.bias_tables import NO_ESTIMATE, OVERLAP_NOTES
from pronominal.eval.tables.table import UNDEFINED, Table, p_value

UNSIGNED = ("Jaccard", "by chance", "p (more)")

OF_DIFFERENCE = (
    "No interval for Difference: how certain the paper's figure is, is not known; the interval of "
    "ours says which of its values fit our run."
)

NOT_CORRECTED = "The p-values over models are not corrected for their number."

NO_P = {
    "welch": "no p by Welch's t-test, for the models' figures do not vary",
    "paired": "no p by the paired one, for all models differ alike",
}
"""Why a test over models has no p-value."""

SHOWN = 3
"""How many rows of each outcome a table names; ``--json`` has all."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure of one row: the paper's, ours, and the difference, in the paper's unit.

    Attributes:
        row: key of the row; the label of a run that stands in no row of the paper.
        name: the row as the paper calls it.
        figure: name of the figure.
        paper: None where the paper has no such figure.
        ours: mean over the runs, or the occupations that all of them have; None without a run
            that has it.
        sd: standard deviation over the runs (n - 1); of a gain, that of one run over one of the
            row's baseline. None with fewer than two.
        difference: ours minus the paper's, or the paper's occupations that ours lacks.
        chance: what chance gives on the same rows, in the paper's unit: to a coin, or to a system
            with these accuracies, or to two sets of this size; None where nobody says.
        runs: labels of the runs.
        why: the known reason for a difference.
        parameters: of the row's model in millions, where the paper gives them.
        ends: of a figure over models, the lowest and the highest of theirs, in the paper's unit.
        tests: of a difference over models, p-values by ``welch`` and ``paired``
            (`pronominal.eval.papers.across_models.Tests`).
        overlap: of an index of two sets, what `overlap` says of it, ``signed`` and ``unsigned``.
        interval: both ends of that of `ours`, in the paper's unit, as the run's scores have it.
        interval_missing: why there is none; None where there is one, or no number of ours.
    """

    row: str
    name: str
    figure: str
    paper: Value | None
    ours: Value | None
    sd: float | None
    difference: Value | None
    chance: float | None
    runs: tuple[str, ...]
    why: str | None
    parameters: float | None = None
    ends: tuple[float, float] | None = None
    tests: Mapping[str, float | None] | None = None
    interval: tuple[float, float] | None = None
    interval_missing: str | None = None
    overlap: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A table of a paper beside ours.

    Attributes:
        table: the paper's.
        lines: row by row, and in a row figure by figure.
        pairs: of a table about rows, what each system made of each row and its switched version.
    """

    table: PaperTable
    lines: tuple[Line, ...]
    pairs: Mapping[str, Sequence[PairOutcome]] = field(default_factory=dict)

    @property
    def unexplained(self) -> list[Line]:
        """Figures about the data alone that differ from the paper's, no one knows why."""
        if self.table.name not in DATA_FIGURES:
            return []
        return [line for line in self.lines if line.why is None and self._differs(line)]

    def _differs(self, line: Line) -> bool:
        decimals = self.table.figures[line.figure].decimals
        # an empty figure is missing, not different
        return isinstance(line.difference, float) and round(abs(line.difference), decimals) > 0

    def to_json(self) -> dict[str, Any]:
        """Return it as ``--json`` prints it."""
        return {
            "table": self.table.name,
            "paper": self.table.paper,
            "title": self.table.title,
            "dataset": f"{self.table.dataset}/{self.table.config}/{self.table.split}",
            "lines": [asdict(line) for line in self.lines],
            "notes": list(self.table.notes),
            **({"pairs": self._pairs()} if self.pairs else {}),
        }

    def _pairs(self) -> dict[str, list[dict[str, Any]]]:
        return {
            system: [{k: v for k, v in asdict(pair).items() if v is not None} for pair in pairs]
            for system, pairs in self.pairs.items()
        }

    def tables(self) -> Iterator[Table]:
        """Yield it as tables: its figures, and its rows where it lists some."""
        yield self.to_table()
        if self.pairs:
            title = f"{self.table.paper}, {self.table.place}: rows by outcome"
            yield Table(title, ("System", "Outcome", "Rows", "First"), self._by_outcome())

    def _by_outcome(self) -> tuple[tuple[str, ...], ...]:
        found = []
        for system, pairs in self.pairs.items():
            for outcome in OUTCOMES:
                held = [pair for pair in pairs if pair.outcome == outcome]
                shown = ", ".join(" / ".join((p.id, *(p.texts or ()))) for p in held[:SHOWN])
                found.append((system, outcome, str(len(held)), shown))
        return tuple(found)

    def to_table(
        self,
        more: Mapping[str, Callable[[Line], str]] = MappingProxyType({}),
        notes: Sequence[str] = (),
    ) -> Table:
        """Return it as a table: one row for each figure that the paper or a run has.

        Args:
            more: headings of further columns, and what writes their cells.
            notes: sentences below it, before the table's own.
        """
        shown = [line for line in self.lines if (line.paper, line.ours) != (None, None)]
        why = {line.name: line.why for line in shown if line.why and line.difference is not None}
        reasons: tuple[str, ...] = (*_spreads(shown), *self._without_interval(shown))
        columns = ["Row", "Figure", "Paper", "Ours", "Difference"]
        cells = [self._cells(line) for line in shown]
        if any(line.chance is not None for line in shown):
            columns.append("By chance")
            cells = [(*row, self._by_chance(line)) for row, line in zip(cells, shown, strict=True)]
            reasons = (*reasons, f"No interval for By chance: {NO_ESTIMATE}.")
        columns += more
        cells = [
            (*row, *(write(line) for write in more.values()))
            for row, line in zip(cells, shown, strict=True)
        ]
        if any(line.overlap for line in shown):
            columns += ["p (more)", *(f"Unsigned: {name}" for name in UNSIGNED)]
            cells = [(*row, *_overlap_cells(line)) for row, line in zip(cells, shown, strict=True)]
            reasons = (*reasons, *OVERLAP_NOTES)
        if any(line.tests for line in shown):
            reasons = (*reasons, NOT_CORRECTED)
        if any(isinstance(line.difference, float) for line in shown):
            reasons = (*reasons, OF_DIFFERENCE)
        return Table(
            f"{self.table.paper}, {self.table.place}: {self.table.title}",
            tuple(columns),
            tuple(cells),
            (
                *reasons,
                *(self._tested(line) for line in shown if line.tests),
                *(f"{name}: {reason}" for name, reason in why.items()),
                *notes,
                *self.table.notes,
            ),
        )

    def _without_interval(self, shown: Sequence[Line]) -> Iterator[str]:
        missing: dict[str, list[str]] = {}
        for line in shown:
            if line.interval_missing is not None:
                heading = self.table.figures[line.figure].heading
                missing.setdefault(line.interval_missing, []).append(heading)
        for reason, names in missing.items():
            yield f"No interval for {', '.join(dict.fromkeys(names))}: {reason}."

    def _tested(self, line: Line) -> str:
        heading, tests = self.table.figures[line.figure].heading, line.tests or {}
        by = {"welch": "by Welch's t-test", "paired": "by the paired one"}
        found = (
            NO_P[name] if tests[name] is None else f"p = {tests[name]:.2g} {how}"
            for name, how in by.items()
        )
        return f"{line.name}, {heading}: over {len(line.runs)} models, {' and '.join(found)}."

    def _by_chance(self, line: Line) -> str:
        return _written(line.chance, f".{_finer(self.table.figures[line.figure])}f")

    def _ends(self, line: Line) -> str:
        form = f".{_finer(self.table.figures[line.figure])}f"
        if line.ends is not None:
            return f" ({' to '.join(_written(end, form) for end in line.ends)})"
        if line.interval is None:
            return ""
        return f" [{', '.join(_written(end, form) for end in line.interval)}]"

    def _cells(self, line: Line) -> tuple[str, ...]:
        figure = self.table.figures[line.figure]
        spread = "" if line.sd is None else f" ± {line.sd:.{_finer(figure)}f}"
        missing = "" if isinstance(line.difference, float) or not line.difference else "without "
        return (
            line.name,
            figure.heading,
            _written(line.paper, f".{figure.decimals}f"),
            _written(line.ours, f".{_finer(figure)}f") + spread + self._ends(line),
            missing + _written(line.difference, f"+.{_finer(figure)}f"),
        )


def _spreads(shown: Sequence[Line]) -> Iterator[str]:
    several = {line.name: line for line in shown if len(line.runs) > 1}
    for name, line in several.items():
        ends = "" if line.ends is None else ", the lowest and the highest in brackets"
        yield f"{name}: mean and standard deviation of {len(line.runs)} runs{ends}."


def _overlap_cells(line: Line) -> tuple[str, ...]:
    if not line.overlap:
        return (UNDEFINED,) * (1 + len(UNSIGNED))
    found = line.overlap["unsigned"]
    indices = (_written(found[name], ".3f") for name in ("jaccard", "expected"))
    return p_value(line.overlap["signed"]["p_more"]), *indices, p_value(found["p_more"])


def _written(value: Value | None, form: str) -> str:
    if value is None:
        return UNDEFINED
    return (", ".join(value) or "none") if isinstance(value, tuple) else f"{value:{form}}"


def _finer(figure: PaperFigure) -> int:
    """Return how many decimals our figure has: one more than the paper's, unless it counts."""
    return figure.decimals + (figure.unit != "count")

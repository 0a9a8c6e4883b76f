"""What is printed first of scores: what it is, one table, and a sentence on what matters in it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from textwrap import wrap

from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.best import best_row
from pronominal.eval.tables.findings import comparisons, findings
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import BELOW_CHANCE, OF_FEW, UNDEFINED, Table

WIDTH, LINES = 80, 12
"""What the table has room for: letters of a line, and lines with its two headings and the rule."""

_CELL = 'style="white-space: nowrap"'

SHORTEST = 12
"""To how many letters a label may be clipped before a column is left out."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What is printed first of the scores of some systems.

    Attributes:
        about: which rows, and how they were decided.
        table: one row for each system.
        heads: its headings in a terminal.
        groups: what stands above them there.
        sentences: on the comparisons that matter, and on what stands out.
        notes: what the signs mean.
        rest: where all else is.
    """

    about: str
    table: Table
    heads: tuple[str, ...]
    groups: tuple[str, ...]
    sentences: tuple[str, ...]
    notes: tuple[str, ...]
    rest: str

    def __str__(self) -> str:
        table = replace(self.table, columns=self.heads)
        words = (self.sentences, (*self.notes, self.rest))
        blocks = ([*_wrapped([self.about])], [*_fitted(table, self.groups)],
                  *([*_wrapped(lines)] for lines in words))  # fmt: skip
        return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"

    def to_markdown(self) -> str:
        """Return table and sentences as Markdown."""
        sentences = "\n".join(f"- {sentence}" for sentence in self.sentences)
        return "\n".join((self.about, "", self._noted().to_markdown(), sentences)).rstrip() + "\n"

    def to_latex(self) -> str:
        """Return the table for LaTeX, with what it is about as its caption."""
        return self._noted().to_latex(self.about.partition(":")[0])

    def to_html(self) -> str:
        """Return table and sentences as HTML."""
        table = self.table
        head, *body = ((table.columns, "th"), *((row, "td") for row in table.rows))
        rows = "".join(
            f"<tr>{''.join(f'<{tag} {_CELL}>{escape(cell)}</{tag}>' for cell in row)}</tr>"
            for row, tag in (head, *body)
        )
        said = "<br>".join(map(escape, (*self.sentences, *self.notes)))
        return f"<p>{escape(self.about)}</p><table>{rows}</table><p>{said}</p>"

    def _noted(self) -> Table:
        return replace(self.table, title=self.about, notes=self.notes)


def summarised(  # noqa: PLR0913 - what a summary is made of
    about: str,
    headline: Measure,
    columns: Sequence[SummaryColumn],
    scores: Mapping[str, Scores],
    *,
    units: str | None,
    remarks: Iterable[str],
    notes: Iterable[str],
    rest: str,
) -> Summary:
    """Return what is printed first of scores.

    Args:
        about: which rows these are, and how they were decided.
        headline: the measure that stands for the task.
        columns: beside it.
        scores: system -> scores.
        units: what intervals sum over, in words.
        remarks: what a task says beyond what follows from the columns.
        notes: on the runs, such as rows that failed.
        rest: where all else is.
    """
    table, heads, groups = summary_table(headline, columns, scores)
    said = (*comparisons(headline, scores), *findings(headline, columns, scores), *remarks)
    told = (*summary_notes(headline, scores, units), *notes)
    return Summary(about, table, heads, groups, said, told, rest)


def summary_table(
    headline: Measure, beside: Sequence[SummaryColumn], scores: Mapping[str, Scores]
) -> tuple[Table, tuple[str, ...], tuple[str, ...]]:
    """Return the first table, whose best figures are marked where they are beyond chance.

    Returns:
        The table, in which only the headline has its interval; its headings in a terminal, and
        what stands above them.
    """
    shown = [
        part
        for column in beside
        for part in column.expanded([*scores.values()])
        if any(map(part.measure.counts_in, scores.values()))
    ]
    rows = tuple(
        (label, headline.cell(one), *(_short(part.measure, one) for part in shown))
        for label, one in scores.items()
    )
    measures = [headline, *(part.measure for part in shown)]
    best = frozenset(
        (row, place)
        for place, measure in enumerate(measures, start=1)
        if (row := best_row(measure, scores)) is not None
    )
    columns = ("System", *(measure.heading for measure in measures))
    heads = ("System", headline.heading, *(part.name for part in shown))
    groups = ("", "", *(part.group for part in shown))
    return Table("Summary", columns, rows, best=best), heads, groups


def summary_notes(
    headline: Measure, scores: Mapping[str, Scores], units: str | None
) -> Iterator[str]:
    """Say once what brackets and signs mean."""
    intervals = next((one["intervals"] for one in scores.values() if one.get("intervals")), None)
    if intervals:
        over = f"{intervals['units']:,} {units or intervals['unit'] + 's'}"
        level = f"{100 * intervals['level']:g}%"
        yield f"In percent. [ ]: {level} interval over {over}. p: after Holm's correction."
    cells = [headline.cell(one) for one in scores.values()]
    if any(OF_FEW in cell for cell in cells):
        yield f"{OF_FEW} Of too few independent units for a verdict."
    if any(BELOW_CHANCE in cell for cell in cells):
        yield f"{BELOW_CHANCE} The whole interval is below what guessing gets."


def _short(measure: Measure, scores: Scores) -> str:
    figure = measure.of(scores)
    return UNDEFINED if figure is None else measure.write(figure.value)


def _wrapped(lines: Iterable[str]) -> Iterator[str]:
    """Break lines that are longer than `WIDTH` at words."""
    for line in lines:
        yield from wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False)


def _fitted(table: Table, groups: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a table that has no more room than `WIDTH` and `LINES`."""
    room = LINES - 3
    rows = [*table.rows]
    left = len(rows) - room + 1 if len(rows) > room else 0
    rows = rows[: room - 1] if left else rows
    shown, widths = len(table.columns), _widths(table.columns, rows, groups)
    while sum(widths[1:]) + shown - 1 + min(widths[0], SHORTEST) > WIDTH:
        shown -= 1
        widths = _widths(table.columns[:shown], [row[:shown] for row in rows], groups[:shown])
    gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= WIDTH else 1
    widths[0] = min(widths[0], WIDTH - sum(widths[1:]) - gap * (len(widths) - 1))

    def line(cells: Sequence[str]) -> str:
        label = _clipped(cells[0], widths[0])
        others = (cell.rjust(n) for cell, n in zip(cells[1:], widths[1:], strict=False))
        return (" " * gap).join((label.ljust(widths[0]), *others)).rstrip()

    if any(groups[:shown]):
        yield _group_line(groups, widths, gap)
    yield line(table.columns)
    yield "─" * (sum(widths) + gap * (len(widths) - 1))
    yield from map(line, rows)
    if left:
        yield f"… and {left} more systems"


def _clipped(label: str, width: int) -> str:
    """Cut a label in the middle: labels often differ at their ends only.

    >>> _clipped("lingmess-seed-13", 9)
    'ling…d-13'
    """
    end = (width - 1) // 2
    return label if len(label) <= width else f"{label[: width - 1 - end]}…{label[-end:]}"


def _widths(
    columns: Sequence[str], rows: Sequence[Sequence[str]], groups: Sequence[str]
) -> list[int]:
    """Return how wide columns are, the last one of a group so that its name has room above."""
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for name, of_it in groupby(range(len(widths)), key=lambda place: groups[place]):
        places = [*of_it]
        room = sum(widths[place] for place in places) + len(places) - 1
        widths[places[-1]] += max(0, len(name) - room)
    return widths


def _group_line(groups: Sequence[str], widths: Sequence[int], gap: int) -> str:
    """Write each group above its columns, over their last letters."""
    written, end = "", 0
    for name, places in groupby(range(len(widths)), key=lambda place: groups[place]):
        end += sum(widths[place] + (gap if place else 0) for place in places)
        written = written.ljust(end - len(name)) + name if name else written
    return written

"""Comparison tables: several systems' scores for the terminal, Markdown, LaTeX and CSV."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from pronominal.eval.statistics.intervals import FEW
from pronominal.eval.statistics.scores import units_of

UNDEFINED, VACUOUS, BELOW_CHANCE, OF_FEW, SPREAD = "–", "†", "↓", "‡", "±"

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that a spreadsheet computes."""

NUMBER = re.compile(r"[+-]?[\d.,]+[%\s†↓‡]*(?:\[[-+\d.,\s–]*\])?(?:\s\([<\s\d.]*\))?$")
"""A number with its sign, mark and interval, which begins so, too."""

FEW_UNITS = f"{OF_FEW} Of fewer than {FEW} independent units: too few for a verdict."
"""What stands below a table with the mark."""

BOLD = (
    "Bold: better than the same figure of every other system beyond chance, by a paired test, or "
    "where there is none by intervals that do not overlap."
)
"""What stands below a table in Markdown or LaTeX that has bold figures."""

LATEX_NEEDS = r"% Needs \usepackage{booktabs} and \usepackage{adjustbox}."
"""What stands before tables for LaTeX."""

LATEX_LETTERS, LATEX_GAP = 74, 3
"""Digits of 9 pt in a line of 345 pt, LaTeX's article in one column; and the gap of two columns."""

Score = Mapping[str, Any]
"""What a score function returns, or one of its blocks."""

Cell = Callable[[Any], str]
"""Writes one cell for a system."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of strings, ready to be rendered.

    Attributes:
        title: what the table shows.
        columns: headings; the first column names the rows.
        rows: cells, as many in each row as there are columns.
        notes: sentences below the table, such as what a mark means; `FEW_UNITS` comes by itself.
        best: row and column of cells that are better than the same figure of all other systems,
            bold in Markdown and LaTeX.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    best: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        marked = any(OF_FEW in cell for row in self.rows for cell in row[1:])
        if marked and not any(OF_FEW in note for note in self.notes):
            object.__setattr__(self, "notes", (*self.notes, FEW_UNITS))

    def to_rich(self) -> RenderableType:
        """Render for a terminal: columns that do not fit go below, beside what names the rows."""
        return _Fitted(self)

    def to_markdown(self) -> str:
        """Render as a Markdown table under its title in bold."""
        plain = [[cell.replace("|", r"\|") for cell in row] for row in self.rows]
        rows = [[cell.replace("|", r"\|") for cell in self.columns], *self._bold(plain, "**{}**")]
        head, *body = (f"| {' | '.join(row)} |" for row in rows)
        rule = f"| --- |{' ---: |' * (len(self.columns) - 1)}"
        notes = [f"- {note}" for note in self._notes_on_bold()]
        return "\n".join([f"**{self.title}**", "", head, rule, *body, "", *notes]).rstrip() + "\n"

    def _notes_on_bold(self) -> tuple[str, ...]:
        return (*self.notes, BOLD) if self.best else self.notes

    def _bold(self, rows: Sequence[Sequence[str]], form: str) -> list[list[str]]:
        """Return the rows with the number of each best cell in bold, and not its interval."""

        def written(cell: str) -> str:
            number, bracket, ends = cell.partition(" [")
            return f"{form.format(number)}{bracket}{ends}"

        return [
            [written(cell) if (row, place) in self.best else cell for place, cell in enumerate(of)]
            for row, of in enumerate(rows)
        ]

    def to_latex(self, label: str = "") -> str:
        """Render as a LaTeX table no wider than the text; `LATEX_NEEDS` are its packages.

        Where rows are wider than a line of text, headings have two lines, and intervals stand in a
        smaller row below their figures. What is too wide even so is shrunk to fit.
        `label` is the title without it, which a document may have several times.
        """
        escaped = [[cell.translate(_LATEX) for cell in row] for row in self.rows]
        heads = [cell.translate(_LATEX) for cell in self.columns]
        rows = self._bold(escaped, _BOLD)
        if self._is_wide:
            heads, rows = [*map(_in_two_lines, heads)], [*_intervals_below(rows)]
        head, *body = (" & ".join(row) + r" \\" for row in (heads, *rows))
        lines = [
            r"\begin{table}",
            r"\centering\small",
            rf"\caption{{{self.title.translate(_LATEX)}}}",
            rf"\label{{tab:{slug(label or self.title)}}}",
            *([r"\setlength{\tabcolsep}{3pt}"] if self._is_wide else ()),
            r"\begin{adjustbox}{max width=\textwidth}",
            rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{adjustbox}",
            *(rf"\par\footnotesize {note.translate(_LATEX)}" for note in self._notes_on_bold()),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    @property
    def _is_wide(self) -> bool:
        """Whether a line of LaTeX's text has no room for a row."""
        cells = zip(self.columns, *self.rows, strict=True)
        widths = [max(map(len, column)) + LATEX_GAP for column in cells]
        return sum(widths) - LATEX_GAP > LATEX_LETTERS

    def to_csv(self) -> str:
        """Render as CSV: headings and rows, without title and notes; no cell is a formula."""
        text = io.StringIO()
        rows = [map(no_formula, row) for row in (self.columns, *self.rows)]
        csv.writer(text, lineterminator="\n").writerows(rows)
        return text.getvalue()


def slug(title: str) -> str:
    """Return a name for files, labels and links: letters and digits, with hyphens between.

    >>> slug("sample / double: Accuracy")
    'sample-double-accuracy'
    """
    kept = "".join(letter if letter.isalnum() else " " for letter in title.lower())
    return "-".join(kept.split())


def no_formula(cell: str) -> str:
    """Return a cell that a spreadsheet shows and does not compute: labels come from strangers.

    >>> no_formula("=1+1"), no_formula("-1.5"), no_formula("−1.5 †"), no_formula("+0.3")
    ("'=1+1", '-1.5', '−1.5 †', '+0.3')
    >>> no_formula("-1.5‡ [-9.5, +0.5]"), no_formula("+0.3 [+0.1, +0.5] (< 0.001)")
    ('-1.5‡ [-9.5, +0.5]', '+0.3 [+0.1, +0.5] (< 0.001)')
    """
    return f"'{cell}" if cell.startswith(FORMULA) and not NUMBER.match(cell) else cell


def table(
    title: str, columns: Mapping[str, Cell], scores: Mapping[str, Score], notes: Iterable[str]
) -> Table:
    """Write one row for each system.

    Columns say how the cells below a heading are written; a note that comes twice is shown once.
    """
    rows = tuple(
        (system, *(cell(score) for cell in columns.values())) for system, score in scores.items()
    )
    return Table(title, ("System", *columns), rows, tuple(dict.fromkeys(notes)))


def percent(value: float | None) -> str:
    """Write a fraction as a percentage with one decimal."""
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def p_value(value: float | None) -> str:
    """Write a p-value with three decimals."""
    if value is None:
        return UNDEFINED
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def written_p(value: float) -> str:
    """Write a p-value in a sentence.

    >>> written_p(0.0004), written_p(0.012)
    ('p < 0.001', 'p = 0.012')
    """
    written = p_value(value)
    return f"p {written}" if written.startswith("<") else f"p = {written}"


def points(difference: float | None) -> str:
    """Write a difference of fractions in percentage points, with its sign."""
    return UNDEFINED if difference is None else f"{100 * difference:+.1f}"


def count_of(name: str) -> Cell:
    """Return what writes a count of a block."""
    return lambda block: f"{block.get(name, 0):,}"


def share_of(name: str, *path: str) -> Cell:
    """Return what writes a fraction of a block with its interval, or of one that keys lead to."""

    def cell(score: Score) -> str:
        block = reduce(getitem, path, score)
        ends = (block.get("interval") or {}).get(name)
        interval = f" [{percent(ends[0])}, {percent(ends[1])}]" if ends else ""
        units = units_of(block, name)
        few = OF_FEW if ends and units is not None and units < FEW else ""
        return f"{percent(block.get(name))}{few}{interval}"

    return cell


def percent_of(name: str, *path: str) -> Cell:
    """Return what writes a fraction of a block, or of one that keys lead to."""
    return lambda block: percent(reduce(getitem, path, block).get(name))


def interval_notes(scores: Iterable[Score], units: str | None = None) -> Iterator[str]:
    """Say over what the intervals of scores sum; `units` are what one of them is, in words."""
    for summed in (score.get("intervals") for score in scores):
        if summed:
            yield f"[ ]: {written_interval(summed, units)}."


def written_interval(summed: Score, units: str | None = None) -> str:
    """Say what intervals sum over, by the block ``intervals`` of scores.

    >>> written_interval({"level": 0.95, "units": 1, "unit": "occupation"}, "occupations")
    '95% interval over 1 occupation'
    """
    one = summed["units"] == 1
    words = summed["unit"] if one else units or f"{summed['unit']}s"
    return f"{100 * summed['level']:g}% interval over {summed['units']:,} {words}"


_BOLD = r"\textbf{{{}}}"

_LATEX = str.maketrans(
    {character: "\\" + character for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {
        UNDEFINED: "--",
        VACUOUS: r"$^\dagger$",
        BELOW_CHANCE: r"$^\downarrow$",
        OF_FEW: r"$^\ddagger$",
        "…": r"\ldots{}",
    }
    # the first three stand for other signs in LaTeX's own fonts, and they have none of the others
    | {"<": "$<$", ">": "$>$", "|": "$|$", "−": "$-$", "±": r"$\pm$", "≈": r"$\approx$"}
    | {"▲": r"$\bigtriangleup$", "▼": r"$\bigtriangledown$"}
)


def _in_two_lines(heading: str) -> str:
    r"""Break a heading of LaTeX's at its first blank.

    >>> print(_in_two_lines("Pronoun consistency"))
    \shortstack[r]{Pronoun\\consistency}
    """
    first, blank, second = heading.partition(" ")
    return rf"\shortstack[r]{{{first}\\{second}}}" if blank else heading


def _intervals_below(rows: Iterable[Sequence[str]]) -> Iterator[list[str]]:
    """Yield rows for LaTeX, and after each one a row with its intervals, if it has any."""
    for row in rows:
        parts = [cell.partition(" [") for cell in row]
        yield [figure for figure, *_ in parts]
        if any(ends for *_, ends in parts):
            yield [rf"\scriptsize [{ends}" if ends else "" for *_, ends in parts]


WIDEST = 40
"""Letters in a line of a column; a cell with more holds words and is wrapped."""


@dataclass(frozen=True, slots=True)
class _Fitted:
    table: Table

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        yield Text(self.table.title, style="bold")
        for columns in self._parts(options.max_width):
            part = RichTable(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
            for index in columns:
                heading, words = Text(self.table.columns[index]), self._widths[index] > WIDEST
                part.add_column(
                    heading,
                    justify="right" if index and not words else "left",
                    no_wrap=index > 0 and not words,
                    max_width=WIDEST if index else None,
                )
            for row in self.table.rows:
                part.add_row(*(Text(row[index]) for index in columns))
            yield part
            yield Text()
        if self.table.notes:
            yield Text("\n".join((*self.table.notes, "")), style="dim")

    @property
    def _widths(self) -> list[int]:
        cells = zip(self.table.columns, *self.table.rows, strict=True)
        return [max(map(cell_len, column)) for column in cells]

    def _parts(self, width: int) -> Iterator[list[int]]:
        needed = [min(cell, WIDEST) + 2 for cell in self._widths]  # the blanks between columns
        heads = [*range(self._heads)]
        room_beside = width - self._widths[0] - sum(needed[1 : self._heads])
        part, room = heads, room_beside
        for index in range(self._heads, len(needed)):
            if needed[index] > room and len(part) > len(heads):
                yield part
                part, room = heads, room_beside
            part = [*part, index]
            room -= needed[index]
        yield part

    @property
    def _heads(self) -> int:
        """How many first columns of words are needed to tell the rows apart."""
        rows, every = self.table.rows, range(1, len(self.table.columns))
        numbers = (index for index in every if any(NUMBER.match(row[index]) for row in rows))
        words = range(1, next(numbers, 1) + 1)
        return next((n for n in words if len({row[:n] for row in rows}) == len(rows)), 1)

"""What is printed first of scores: what it is, one table, and a sentence on what matters in it."""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from shutil import get_terminal_size
from textwrap import wrap

from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.best import best_row
from pronominal.eval.tables.comparison import OVER_SEEDS, no_interval_notes
from pronominal.eval.tables.findings import (
    below_chance,
    better_than_chance,
    comparisons,
    findings,
    of_same_weights,
    planned_comparisons,
)
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.paired_tests import TOO_OFTEN
from pronominal.eval.tables.summary_column import SummaryColumn
from pronominal.eval.tables.table import (
    BELOW_CHANCE,
    OF_FEW,
    SPREAD,
    VACUOUS,
    Table,
    written_interval,
)

WIDTH, LINES = 80, 12
"""What there is room for: letters of a line, and lines of the table with two headings and the rule.

A terminal that is wider shows more of the table and of the first line; sentences stay as wide.
"""

COMMAND, NO_BREAK = re.compile(r"'pronominal [^']+'"), "\N{NO-BREAK SPACE}"
"""A command in a sentence, and what stands for its spaces while lines are broken."""

_CELL = 'style="white-space: nowrap"'

SHORTEST = 12
"""To how many letters a label may be clipped before a column is left out."""


CORRECTED = " p: corrected (Holm)."
"""What p-values of the sentences are."""

VERDICT = (
    "A difference is claimed where p < 0.05, corrected over all such pairs, and the interval, not "
    "corrected, is without 0."
)
"""Why a sentence claims a difference or none."""

GUESSING = "What is said of guessing, and ↓, rests on each interval alone, without correction."
"""What sentences such as ``Better than guessing`` are."""

EXPLORATORY = "Exploratory: "
"""What stands before sentences that a plan does not name."""

FIGURES = "Exploratory: all figures here, and every comparison that the plan does not name."

WITHIN = f"Within: whether the 90% interval, which is shown, lies within the margin; {TOO_OFTEN}."

OF_SENTENCES = {WITHIN: " within ±", VERDICT: "o difference was found between"}
"""What is said below the table -> the words of a sentence that call for it."""

IN_FULL = {VERDICT: "(p ", GUESSING: " guessing"}
"""The same of what only ``--full`` says."""

SIGNS = {
    SPREAD: OVER_SEEDS,
    OF_FEW: f"{OF_FEW} Of too few independent units for a verdict.",
    BELOW_CHANCE: f"{BELOW_CHANCE} The whole interval is below what guessing gets.",
    VACUOUS: f"{VACUOUS} Nothing was chosen; precision is 100 by upstream's convention.",
}

P_VALUE = re.compile(r"\bp [<=] ")


@dataclass(frozen=True, slots=True)
class Summary:
    """What is printed first of the scores of some systems.

    Attributes:
        about: which rows, and how they were decided.
        planned: sentences on the comparisons of a plan; all else is exploratory then.
        table: one row for each system, each figure with its interval.
        short: the same rows without intervals.
        heads: the table's headings in a terminal.
        groups: what stands above them there.
        comparisons: sentences on which systems are better.
        findings: sentences on where they fail by the headline.
        remarks: sentences on what else stands out in them.
        notes: over what intervals sum, and on the runs.
        rest: where all else is.
        details: what is said of the sentences where all tables follow.
        tables_follow: whether they do, as with ``--full``.
    """

    about: str
    planned: tuple[str, ...]
    table: Table
    short: tuple[tuple[str, ...], ...]
    heads: tuple[str, ...]
    groups: tuple[str, ...]
    comparisons: tuple[str, ...]
    findings: tuple[str, ...]
    remarks: tuple[str, ...]
    notes: tuple[str, ...]
    rest: str
    details: tuple[str, ...] = ()
    tables_follow: bool = False

    def __str__(self) -> str:
        return f"{self.opening}\n{self.body}"

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences on the systems, those of a plan apart."""
        return (*self.comparisons, *self.findings, *self.remarks)

    @property
    def opening(self) -> str:
        """What it is about, and what was planned, as a terminal shows them."""
        return _blocks([*_wrapped([self.about], terminal_width())], [*_wrapped(self.planned)])

    @property
    def body(self) -> str:
        """All after the `opening`: the table, sentences and notes."""
        width = terminal_width()
        table, first = self.in_terminal(width), [FIGURES] if self.planned else []
        details = self.details if self.tables_follow else ()
        words = (self.sentences, (*table.notes, *details, self.rest))
        said = ([*_wrapped(lines)] for lines in words)
        return _blocks(first, [*_fitted(table, self.groups, width)], *said)

    def in_terminal(self, width: int = WIDTH) -> Table:
        """Return the table as a terminal shows it, with the intervals that it has room for.

        They are those of the first columns; that of the headline always is. What has a shorter
        heading there is said to be what all other tables call it.
        """
        fits = (wide for wide in range(len(self.heads), 2, -1) if self._fits(wide, width))
        wide = next(fits, 2)
        rows = self._rows(wide)
        shown = _shown(replace(self.table, columns=self.heads, rows=rows), self.groups, width)
        table = replace(
            self.table, columns=self.heads[:shown], rows=tuple(row[:shown] for row in rows)
        )
        names = [*zip(self.heads, self.table.columns, self.groups, strict=True)]
        cut = [
            self.heads[place]
            for place in range(wide, shown)
            if any("[" in row[place] for row in self.table.rows)
        ]
        left_out = [name for _, name, _ in names[shown:]]
        others = [
            f"'{head}' is {name}"
            for head, name, group in names[:shown]
            if name.lower() not in (head.lower(), f"{group} {head}".lower())
        ]
        in_full = "the tables below" if self.tables_follow else "--full"
        notes = {
            f"No interval for {{}}: no room; see {in_full}.": ", ".join(cut),
            f"Left out: {{}}: see {in_full}.": ", ".join(left_out),
            "Elsewhere {}.": ", ".join(others),
        }
        return self._noted(table, [note.format(them) for note, them in notes.items() if them])

    @property
    def full(self) -> Table:
        """The table with every interval."""
        return self._noted(self.table)

    def to_markdown(self, planned: Iterable[Table] = ()) -> str:
        """Return table and sentences as Markdown, after the tables of a plan."""
        tables = [table.to_markdown() for table in planned]
        before = [*_bullets(self.planned), "", *tables, FIGURES, ""]
        # without a plan the table's own title is the first line
        lines = (*((self.about, "", *before) if self.planned else ()), self.full.to_markdown())
        return "\n".join((*lines, *_bullets(self.sentences))).rstrip() + "\n"

    def to_latex(self) -> str:
        """Return the table for LaTeX, with what it is about as its caption."""
        table = self.full
        kept = (note for note in table.notes if note not in OF_SENTENCES)
        notes = tuple(note.removesuffix(CORRECTED) for note in kept)
        return replace(table, notes=notes).to_latex(self.about.partition(":")[0])

    def to_html(self) -> str:
        """Return table and sentences as HTML."""
        table = self.full
        head, *body = ((table.columns, "th"), *((row, "td") for row in table.rows))
        rows = "".join(
            f"<tr>{''.join(f'<{tag} {_CELL}>{escape(cell)}</{tag}>' for cell in row)}</tr>"
            for row, tag in (head, *body)
        )
        first = "<br>".join(map(escape, (*self.planned, *([FIGURES] if self.planned else []))))
        said = "<br>".join(map(escape, (*self.sentences, *table.notes)))
        opening = f"<p>{escape(self.about)}</p>{first and f'<p>{first}</p>'}"
        return f"{opening}<table>{rows}</table><p>{said}</p>"

    def _rows(self, wide: int) -> tuple[tuple[str, ...], ...]:
        """Return the rows with the intervals of the first columns, so many."""
        both = zip(self.table.rows, self.short, strict=True)
        return tuple((*full[:wide], *short[wide:]) for full, short in both)

    def _fits(self, wide: int, width: int) -> bool:
        """Whether a terminal has room for the intervals of so many columns, no group parted."""
        after = self.groups[wide] if wide < len(self.groups) else ""
        widths = _widths(self.heads, self._rows(wide), self.groups)
        parted = after != "" and after == self.groups[wide - 1]
        return not parted and sum(widths) + len(widths) - 1 <= width

    def _noted(self, table: Table, more: Sequence[str] = ()) -> Table:
        """Add what the table is about, what its signs mean, and the other notes."""
        cells = "".join(cell for row in table.rows for cell in row[1:])
        signs = (note for sign, note in SIGNS.items() if sign in cells)
        title = f"{EXPLORATORY}{self.about}" if self.planned else self.about
        return replace(table, title=title, notes=(*self.notes, *signs, *more))


def summarised(  # noqa: PLR0913 - what a summary is made of
    about: str,
    headline: Measure,
    columns: Sequence[SummaryColumn],
    scores: Mapping[str, Scores],
    *,
    measures: Sequence[Measure] = (),
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
        measures: by which a plan may compare.
        units: what intervals sum over, in words.
        remarks: what a task says beyond what follows from the columns.
        notes: on the runs, such as rows that failed.
        rest: where all else is.
    """
    shown = [*_expanded(columns, scores)]
    of_measures = [headline, *(part.measure for part in shown)]
    planned = tuple(planned_comparisons(headline, measures, scores))
    prefix = EXPLORATORY if planned else ""
    compared = (*comparisons(headline, scores), *of_same_weights(scores))
    better = tuple(f"{prefix}{one}" for one in (*compared, *better_than_chance(headline, scores)))
    found = tuple(f"{prefix}{one}" for one in findings(headline, columns, scores))
    others = tuple(f"{prefix}{one}" for one in (*below_chance(columns, scores), *remarks))
    sentences = (*planned, *better, *found, *others)
    called_for = [*_called_for(OF_SENTENCES, sentences)]
    reasons = no_interval_notes(of_measures, [*scores.values()])
    return Summary(
        *(about, planned, _table(of_measures, scores)),
        short=tuple(
            (label, *(measure.short(one) for measure in of_measures))
            for label, one in scores.items()
        ),
        heads=("System", headline.heading, *(part.name for part in shown)),
        groups=("", "", *(part.group for part in shown)),
        comparisons=better,
        findings=found,
        remarks=others,
        notes=(*_notes(scores, units, sentences), *called_for, *reasons, *notes),
        rest=rest,
        details=tuple(one for one in _called_for(IN_FULL, sentences) if one not in called_for),
    )


def _expanded(
    columns: Iterable[SummaryColumn], scores: Mapping[str, Scores]
) -> Iterator[SummaryColumn]:
    """Yield the columns, and those of parts, that some system has a number for."""
    for column in columns:
        for part in column.expanded([*scores.values()]):
            if any(map(part.measure.counts_in, scores.values())):
                yield part


def _table(measures: Sequence[Measure], scores: Mapping[str, Scores]) -> Table:
    """Return the first table, whose best figures are marked where they are beyond chance."""
    rows = tuple(
        (label, *(measure.cell(one) for measure in measures)) for label, one in scores.items()
    )
    best = frozenset(
        (row, place)
        for place, measure in enumerate(measures, start=1)
        if (row := best_row(measure, scores)) is not None
    )
    return Table("Summary", ("System", *(one.heading for one in measures)), rows, best=best)


def _notes(
    scores: Mapping[str, Scores], units: str | None, sentences: Sequence[str]
) -> Iterator[str]:
    """Say once what brackets and p-values are."""
    intervals = next((one["intervals"] for one in scores.values() if one.get("intervals")), None)
    corrected = any(map(P_VALUE.search, sentences))
    if intervals:
        p = CORRECTED if corrected else ""
        yield f"In percent. [ ]: {written_interval(intervals, units)}.{p}"


def _called_for(notes: Mapping[str, str], sentences: Sequence[str]) -> Iterator[str]:
    """Yield the notes whose words some sentence has."""
    return (note for note, words in notes.items() if words in " ".join(sentences))


def _bullets(lines: Iterable[str]) -> Iterator[str]:
    return (f"- {line}" for line in lines)


def _blocks(*blocks: Sequence[str]) -> str:
    """Join blocks of lines with an empty line between; one without lines is none."""
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _wrapped(lines: Iterable[str], width: int = WIDTH) -> Iterator[str]:
    """Break lines that are longer than `width` at words, but not inside a command to copy."""
    for line in lines:
        kept = COMMAND.sub(lambda found: found[0].replace(" ", NO_BREAK), line)
        parts = wrap(
            kept, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        yield from (part.replace(NO_BREAK, " ") for part in parts)


def terminal_width() -> int:
    """Return how many letters a line has room for: `WIDTH`, or more in a wider terminal."""
    return max(WIDTH, get_terminal_size().columns) if sys.stdout.isatty() else WIDTH


def _fitted(table: Table, groups: Sequence[str], width: int) -> Iterator[str]:
    """Yield the lines of a table that has no more room than `width` and `LINES`."""
    rows = _first_rows(table)
    left = len(table.rows) - len(rows)
    groups = groups[: len(table.columns)]
    widths = _widths(table.columns, rows, groups)
    gap = 2 if sum(widths) + 2 * (len(widths) - 1) <= width else 1
    widths[0] = min(widths[0], width - sum(widths[1:]) - gap * (len(widths) - 1))

    def line(cells: Sequence[str]) -> str:
        label = _clipped(cells[0], widths[0])
        others = (cell.rjust(n) for cell, n in zip(cells[1:], widths[1:], strict=False))
        return (" " * gap).join((label.ljust(widths[0]), *others)).rstrip()

    if any(groups):
        yield _group_line(groups, widths, gap)
    yield line(table.columns)
    yield "─" * (sum(widths) + gap * (len(widths) - 1))
    yield from map(line, rows)
    if left:
        yield f"… and {left} more systems"


def _first_rows(table: Table) -> Sequence[tuple[str, ...]]:
    """Return the rows that there is room for, the last line being for how many more there are."""
    room = LINES - 3
    return table.rows if len(table.rows) <= room else table.rows[: room - 1]


def _shown(table: Table, groups: Sequence[str], width: int) -> int:
    """Return how many columns, from the left, there is room for where labels are clipped."""
    rows = _first_rows(table)
    for shown in range(len(table.columns), 0, -1):
        of_it = [row[:shown] for row in rows]
        widths = _widths(table.columns[:shown], of_it, groups[:shown])
        if sum(widths[1:]) + shown - 1 + min(widths[0], SHORTEST) <= width:
            return shown
    return 1


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

"""Comparison tables: several systems' scores for the terminal, Markdown, LaTeX and CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from pronominal.pronouns import CASES

UNDEFINED, VACUOUS, BELOW_CHANCE = "–", "†", "↓"

CONSISTENCIES = {"PronounC": "pronoun_consistency", "DisambigC": "disambiguation_consistency"}
"""Heading, as in WinoPron's Table 3 -> block of a score."""

Score = Mapping[str, Any]
"""What `pronominal.eval.winopron.score` returns, or one of its blocks."""

Cell = Callable[[Score], str]
"""Writes one cell for a system."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of strings, ready to be rendered.

    Attributes:
        title: what the table shows.
        columns: headings; the first column names the rows.
        rows: cells, as many in each row as there are columns.
        notes: sentences below the table, such as what a mark means.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def to_rich(self) -> RenderableType:
        """Render for a terminal: columns that do not fit go below, beside the systems' names."""
        return _Fitted(self)

    def to_markdown(self) -> str:
        """Render as a Markdown table under its title in bold."""
        rows = [[cell.replace("|", r"\|") for cell in row] for row in (self.columns, *self.rows)]
        head, *body = (f"| {' | '.join(row)} |" for row in rows)
        rule = f"| --- |{' ---: |' * (len(self.columns) - 1)}"
        notes = [f"- {note}" for note in self.notes]
        return "\n".join([f"**{self.title}**", "", head, rule, *body, "", *notes]).rstrip() + "\n"

    def to_latex(self) -> str:
        """Render as a LaTeX table; it needs the package ``booktabs``."""
        head, *body = (
            " & ".join(cell.translate(_LATEX) for cell in row) + r" \\"
            for row in (self.columns, *self.rows)
        )
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{self.title.translate(_LATEX)}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(self.columns) - 1)}}}",
            r"\toprule",
            head,
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
            *(rf"\par\footnotesize {note.translate(_LATEX)}" for note in self.notes),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_csv(self) -> str:
        """Render as CSV: headings and rows, without title and notes."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.columns, *self.rows])
        return text.getvalue()


def comparison(scores: Mapping[str, Score]) -> list[Table]:
    """Compare systems: how well they resolve pronouns, which ones, and how consistently.

    Values are percentages with one decimal, as in WinoPron's tables 2 and 3; one table with
    everything would not fit 120 columns.

    Args:
        scores: system -> its `score`; with ``readings_differ`` (a number of rows) in a score,
            the first table has a column for it.
    """
    return [_performance(scores), _by_form(scores), _consistency(scores)]


_LATEX = str.maketrans(
    {character: "\\" + character for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {UNDEFINED: "--", VACUOUS: r"$^\dagger$", BELOW_CHANCE: r"$^\downarrow$"}
)


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
                heading = Text(self.table.columns[index])
                part.add_column(heading, justify="right" if index else "left", no_wrap=index > 0)
            for row in self.table.rows:
                part.add_row(*(Text(row[index]) for index in columns))
            yield part
            yield Text()
        if self.table.notes:
            yield Text("\n".join((*self.table.notes, "")), style="dim")

    def _parts(self, width: int) -> Iterator[list[int]]:
        cells = zip(self.table.columns, *self.table.rows, strict=True)
        first, *others = (max(map(cell_len, column)) for column in cells)
        part, room = [0], width - first
        for index, cell in enumerate(others, start=1):
            needed = cell + 2  # the blanks between columns
            if needed > room and len(part) > 1:
                yield part
                part, room = [0], width - first
            part.append(index)
            room -= needed
        yield part


def _performance(scores: Mapping[str, Score]) -> Table:
    columns: dict[str, Cell] = {
        "n": lambda score: f"{score['n']:,}",
        "Accuracy": lambda score: _with_interval(score["overall"], "accuracy"),
        "Precision": lambda score: _precision(score["overall"]),
        "Recall": lambda score: _percent(score["overall"]["recall"]),
        "F1": lambda score: _with_interval(score["overall"], "f1"),
        "None": lambda score: _percent(score["overall"]["none"]),
        "Both": lambda score: _percent(score["overall"]["both"]),
    }
    notes = ["None, Both: answers that name neither entity, or both; they are not right."]
    if any("readings_differ" in score for score in scores.values()):
        columns["Differ"] = lambda score: str(score.get("readings_differ", UNDEFINED))
        notes.append("Differ: rows that the offset reading and upstream's decide differently.")
    if any(score["overall"]["precision_is_vacuous"] for score in scores.values()):
        notes.append(f"{VACUOUS} Nothing was chosen; precision is 100 by upstream's convention.")
    return _table("Performance", columns, scores, [*notes, *_interval_notes(scores.values())])


def _by_form(scores: Mapping[str, Score]) -> Table:
    sets = dict.fromkeys(
        name
        for score in scores.values()
        for name, block in score["by_pronoun_set"].items()
        if block["n"]
    )
    columns: dict[str, Cell] = {
        **{case.capitalize(): _accuracy("by_case", case) for case in CASES},
        **{name: _accuracy("by_pronoun_set", name) for name in sets},
    }
    return _table("Accuracy by grammatical case and pronoun set", columns, scores, [])


def _consistency(scores: Mapping[str, Score]) -> Table:
    columns: dict[str, Cell] = {}
    for head, name in CONSISTENCIES.items():
        columns[head] = _against_chance(name)
        columns[f"{head} F1"] = _consistency_f1(name)
    notes = [
        "PronounC: right with every pronoun set. DisambigC: right in both sentences of a pair.",
        *_group_notes(scores.values()),
        *_interval_notes(scores.values()),
    ]
    return _table("Consistency (WinoPron, section 4.3)", columns, scores, notes)


def _table(
    title: str, columns: Mapping[str, Cell], scores: Mapping[str, Score], notes: Iterable[str]
) -> Table:
    rows = (
        (system, *(cell(score) for cell in columns.values())) for system, score in scores.items()
    )
    # systems have most notes in common
    return Table(title, ("System", *columns), tuple(rows), tuple(dict.fromkeys(notes)))


def _accuracy(split: str, name: str) -> Cell:
    return lambda score: _percent(score[split].get(name, {}).get("accuracy"))


def _against_chance(name: str) -> Cell:
    def cell(score: Score) -> str:
        block = score[name]
        below = block["groups"] and block["score"] < block["chance"]
        return _with_interval(block, "score", BELOW_CHANCE if below else "")

    return cell


def _consistency_f1(name: str) -> Cell:
    return lambda score: _with_interval(score[name], "f1")


def _percent(value: float | None) -> str:
    return UNDEFINED if value is None else f"{100 * value:.1f}"


def _precision(block: Score) -> str:
    mark = VACUOUS if block["precision_is_vacuous"] else ""
    return _percent(block["precision"]) + mark


def _with_interval(block: Score, name: str, mark: str = "") -> str:
    interval = block["interval"][name]
    ends = f" [{_percent(interval[0])}, {_percent(interval[1])}]" if interval else ""
    return f"{_percent(block[name])}{mark}{ends}"


def _group_notes(scores: Iterable[Score]) -> Iterator[str]:
    for head, name in CONSISTENCIES.items():
        for block in (score[name] for score in scores):
            if block["groups"]:
                yield f"{head}: chance is {100 * block['chance']:g}; {BELOW_CHANCE} is below."
            if block["left_out"]:
                yield f"{head}: {block['left_out']} groups of one sentence are left out."


def _interval_notes(scores: Iterable[Score]) -> Iterator[str]:
    for drawn in (score["bootstrap"] for score in scores):
        if drawn["resamples"]:
            yield (
                f"[ ]: {100 * drawn['level']:g}% percentile intervals, {drawn['resamples']:,} "
                f"resamples of {drawn['units']:,} template pairs ({drawn['unit']}), "
                f"seed {drawn['seed']}."
            )

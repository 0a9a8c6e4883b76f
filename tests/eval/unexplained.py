"""Finds shares, ratios and differences without an interval, in JSON, in tables and in files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from pronominal.eval.tables.table import Table

AGAINST_WHAT = {
    *("chance", "expected", "independent", "least", "most"),
    *("p", "p_holm", "p_more", "p_less", "direction_p", "t", "df", "statistic", "significant"),
    *("sd", "level", "margin", "minimum_detectable_effect"),
}
"""Numbers that estimate nothing: what chance gives, tests, standard deviations."""

NO_BLOCKS = {
    "interval",  # the intervals themselves, and what they say
    "interval_missing",
    "units_of",
    "intervals",  # over what they sum
    "spread",  # standard deviations alone
    "margins",  # quartiles in nats, and counts of rows
}
"""Keys of mappings in which there are no shares."""


def of_scores(block: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Yield what is against section 6 of the contract in what ``score --json`` prints.

    Every block, which is what holds a number of its own, has ``n``; every share, ratio or
    difference, be it undefined, has its key in ``interval``, and where that is None also in
    ``interval_missing``. A mapping of such numbers may have one reason for all.
    """
    intervals, reasons = block.get("interval", {}), block.get("interval_missing", {})
    own = [value for value in block.values() if isinstance(value, int | float)]
    if own and not isinstance(block.get("n"), int):
        yield f"{place} has no n"
    for key, value in block.items():
        if key in NO_BLOCKS or (intervals.get(key, 0) is None and key in reasons):
            continue
        if isinstance(value, Mapping):
            yield from of_scores(value, f"{place}.{key}")
        elif isinstance(value, float) and key not in AGAINST_WHAT and not intervals.get(key):
            yield f"{place}.{key} has neither an interval nor a reason"
    for key, ends in intervals.items():
        if ends is None and not reasons.get(key):
            yield f"{place}.{key} has no interval, and no reason"
        if ends is not None and not ends[0] <= ends[1]:
            yield f"{place}.{key} has an interval upside down"
    yield from (f"{place}.{key} has a reason and no None" for key in reasons.keys() - intervals)


NUMBER = re.compile(r"\d+\.\d+|[-+−±]\d+|\d+ ?%")
"""A number that is no count: with decimals, with a sign, or in percent."""

MARKS = ("†", "↓", "‡", r"^\dagger", r"^\downarrow", r"^\ddagger")
"""Of cells, in text and in LaTeX."""

ENDS = re.compile(r"\[[^]]*\d[^]]*\]")

NO_ESTIMATE = re.compile(
    r"(^|[, ])(p|p \(.*\)|sd( \d+)?|Visible from|Paper|Figure|t|Statistic|Versions|Settings|Seconds"
    r"|Checkpoint|Weights|pronominal|Day|Source)$"
)
"""Columns that show no estimate of ours; what they are is in AGAINST_WHAT."""


def of_table(table: Table) -> Iterator[str]:
    """Yield the cells that show a number and neither an interval nor, in a note, why there is none.

    A note ``No interval for A, B: reason.`` is about the columns, or the rows, A and B. Nor has a
    cell a mark that no note explains.
    """
    cells, notes = ("".join(cell for row in table.rows for cell in row[1:]), "".join(table.notes))
    yield from (
        f"{table.title}: {one} is not explained"
        for one in MARKS
        if one in cells and one not in notes
    )
    told = {name for note in table.notes for name in _without_interval(note)}
    for row in table.rows:
        for column, cell in zip(table.columns[1:], row[1:], strict=True):
            names = (column, column.rpartition(", ")[2], row[0], row[1])
            explained = told & {name.lower() for name in names}
            bare = NUMBER.search(cell) and not ENDS.search(cell)
            if bare and not explained and not NO_ESTIMATE.search(column):
                yield f"{table.title}: {row[0]}, {column}: {cell}"


def _without_interval(note: str) -> list[str]:
    _, found, said = note.partition("No interval for ")
    names = said.partition(": ")[0].replace(" and ", ", ").split(", ") if found else []
    return [name.lower() for name in names]


def markdown_tables(text: str) -> Iterator[Table]:
    """Yield the tables of a Markdown file; the notes are the lines after one, up to the next."""
    title, rows, notes = "", list[tuple[str, ...]](), list[str]()
    for line in [*text.splitlines(), "**end**"]:
        if line.startswith("|"):
            rows.append(tuple(cell.strip() for cell in line.strip("|").split(" | ")))
        elif line.startswith("**"):
            if rows:
                yield Table(title, rows[0], tuple(rows[2:]), tuple(notes))
            title, rows, notes = line.strip("*"), [], []
        else:
            notes.append(line)


class _Cells(HTMLParser):
    """Collects the tables of a page: their rows, and the text up to the next table or the end."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[list[list[str]], list[str]]] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)
        if tag == "table":
            self.found.append(([], []))
        elif tag == "tr":
            self.found[-1][0].append([])
        elif tag in ("th", "td"):
            self.found[-1][0][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        while tag in self.tags and self.tags.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if {"th", "td"} & {*self.tags}:
            self.found[-1][0][-1][-1] += data
        elif self.found and not {"script", "style"} & {*self.tags}:
            self.found[-1][1].append(data)


def html_tables(page: str) -> Iterator[Table]:
    """Yield the tables of a page; the notes are all text after one, up to the next."""
    for rows, notes in _Cells(page).found:
        head, *body = ([" ".join(cell.split()) for cell in row] for row in rows)
        # a cell that leads a group of rows stands over several columns
        whole = (tuple(row) for row in body if len(row) == len(head))
        yield Table(f"{head[0]} – {head[-1]}", tuple(head), tuple(whole), tuple(notes))


def of_lines(lines: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the figures of ours beside a paper's that have neither an interval nor a reason."""
    for line in lines:
        if isinstance(line["ours"], float) and not (line["interval"] or line["interval_missing"]):
            yield f"{line['row']}, {line['figure']} has neither an interval nor a reason"


def latex_tables(text: str) -> Iterator[Table]:
    """Yield the tables of a LaTeX file."""
    for part in text.split(r"\begin{table}")[1:]:
        lines = part.partition(r"\end{table}")[0].splitlines()
        rows = list[tuple[str, ...]]()
        for line in (line[:-3] for line in lines if line.endswith(r" \\")):
            cells = re.sub(r"\\shortstack\[r\]{(.*?)\\\\(.*?)}", r"\1 \2", line).split(" & ")
            if cells[0] or not rows:
                rows.append(tuple(cells))
            else:  # the intervals of the row above
                rows[-1] = tuple(map(" ".join, zip(rows[-1], cells, strict=True)))
        title = next(line for line in lines if line.startswith(r"\caption"))
        notes = tuple(line for line in lines if "footnotesize" in line)
        yield Table(title, rows[0], tuple(rows[1:]), notes)

"""The first table of the page: one number for each system and split."""

from collections.abc import Iterator, Sequence

from pronominal.eval.report.scored import Comparison
from pronominal.eval.tables.comparison import mark_notes
from pronominal.eval.tables.table import UNDEFINED, Table, written_interval

IN_UNIT = {"share": " in percent", "ratio": " as a ratio", "count": " as a count"}
"""How notes say the unit of a headline, where headlines have several."""


def overview(comparisons: Sequence[Comparison]) -> Table:
    """Show the headline of each system and split, and how many rows it answered.

    The note says what the headline is, and its n.
    """
    systems = dict.fromkeys(label for one in comparisons for label in one.scores)
    columns: dict[str, dict[str, str]] = {}
    notes: dict[str, None] = {}
    in_percent = all(
        one.task.headline_in(one.scores.values()).unit == "share" for one in comparisons
    )
    for one in comparisons:
        measure = one.task.headline_in(one.scores.values())
        if any(map(measure.of, one.scores.values())):
            heading = _heading(one, comparisons)
            heading += f" ({one.digest[:8]})" if heading in columns else ""
            columns[heading] = {s: measure.cell(score) for s, score in one.scores.items()}
            figures = filter(None, map(measure.of, one.scores.values()))
            numbers = sorted({figure.n for figure in figures if figure.n is not None})
            counted = " to ".join(dict.fromkeys(f"{n:,}" for n in (*numbers[:1], *numbers[-1:])))
            unit = "" if in_percent else IN_UNIT[measure.unit]
            notes[f"{heading}: {measure.heading}{unit}, n = {counted}{_intervals(one)}"] = None
            answered = one.task.answered_measure
            if answered is not None and any(map(answered.of, one.scores.values())):
                shares = {system: answered.cell(score) for system, score in one.scores.items()}
                columns[f"{heading}, answered"] = shares
    rows = (
        (system, *(cells.get(system, UNDEFINED) for cells in columns.values()))
        for system in systems
    )
    marks = (note for one in comparisons for note in _marks(one))
    told = ("; ".join(notes) + ".", *dict.fromkeys(marks)) if notes else ()
    title = "At a glance, in percent" if in_percent else "At a glance"
    return Table(title, ("System", *columns), tuple(rows), told)


def _marks(one: Comparison) -> Iterator[str]:
    scores = [*one.scores.values()]
    yield from mark_notes([one.task.headline_in(scores)], scores)


def _intervals(one: Comparison) -> str:
    """Write over what the intervals of a split sum."""
    summed = (score.get("intervals") for score in one.scores.values())
    told = dict.fromkeys(written_interval(given, one.task.units) for given in summed if given)
    return f", [ ] {' or '.join(told)}" if told else ""


def _heading(one: Comparison, comparisons: Sequence[Comparison]) -> str:
    """Name a config, with its split where other splits of it stand beside it."""
    place = (one.dataset, one.config)
    splits = {other.split for other in comparisons if (other.dataset, other.config) == place}
    return " ".join((*place, *((one.split,) if len(splits) > 1 else ())))

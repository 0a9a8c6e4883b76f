"""The first table of the page: one number for each system and split."""

from collections.abc import Sequence

from pronominal.eval.report.scored import Comparison
from pronominal.eval.tables.table import UNDEFINED, Table

IN_UNIT = {"share": " in percent", "ratio": " as a ratio", "count": " as a count"}
"""How notes say the unit of a headline, where headlines have several."""


def overview(comparisons: Sequence[Comparison]) -> Table:
    """Show the headline of each system and split; the note says what it is, and its n."""
    systems = dict.fromkeys(label for one in comparisons for label in one.scores)
    columns: dict[str, dict[str, str]] = {}
    notes: dict[str, None] = {}
    in_percent = all(one.task.headline_measure.unit == "share" for one in comparisons)
    for one in comparisons:
        measure = one.task.headline_measure
        figures = {system: measure.of(score) for system, score in one.scores.items()}
        if any(figures.values()):
            heading = _heading(one, comparisons)
            heading += f" ({one.digest[:8]})" if heading in columns else ""
            columns[heading] = {
                system: UNDEFINED if figure is None else measure.write(figure.value)
                for system, figure in figures.items()
            }
            numbers = sorted({f.n for f in figures.values() if f is not None and f.n is not None})
            counted = " to ".join(dict.fromkeys(f"{n:,}" for n in (*numbers[:1], *numbers[-1:])))
            unit = "" if in_percent else IN_UNIT[measure.unit]
            notes[f"{heading}: {measure.heading}{unit}, n = {counted}"] = None
    rows = (
        (system, *(cells.get(system, UNDEFINED) for cells in columns.values()))
        for system in systems
    )
    told = ("; ".join(notes) + ".",) if notes else ()
    title = "At a glance, in percent" if in_percent else "At a glance"
    return Table(title, ("System", *columns), tuple(rows), told)


def _heading(one: Comparison, comparisons: Sequence[Comparison]) -> str:
    """Name a config, with its split where other splits of it stand beside it."""
    place = (one.dataset, one.config)
    splits = {other.split for other in comparisons if (other.dataset, other.config) == place}
    return " ".join((*place, *((one.split,) if len(splits) > 1 else ())))

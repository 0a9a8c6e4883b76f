"""The first table of the page: one number for each system and split."""

from collections.abc import Sequence

from pronominal.eval.report.figures import Keys, point
from pronominal.eval.report.scored import Comparison
from pronominal.eval.tables.table import UNDEFINED, Table, percent

HEADLINES: dict[str, tuple[str, Keys]] = {
    "gap": ("F1", ("overall", "f1")),
    "knowref": ("task-specific accuracy", ("task_specific_accuracy",)),
    "ruff": ("accuracy", ("accuracy",)),
    "winonb": ("accuracy on singular they", ("by_source", "all", "singular", "accuracy")),
}
"""Dataset -> the number that stands for it, and where it is; others have their accuracy."""

ACCURACY: tuple[str, Keys] = ("accuracy", ("overall", "accuracy"))


def overview(comparisons: Sequence[Comparison]) -> Table:
    """Show one number for each system and split; the note says what it is, and its n."""
    systems = dict.fromkeys(label for one in comparisons for label in one.scores)
    columns: dict[str, dict[str, str]] = {}
    notes: dict[str, None] = {}
    for one in comparisons:
        name, path = HEADLINES.get(one.dataset, ACCURACY)
        points = {s: point(score, path, s) for s, score in one.scores.items()}
        if any(found.value is not None for found in points.values()):
            heading = _heading(one, comparisons)
            heading += f" ({one.digest[:8]})" if heading in columns else ""
            columns[heading] = {s: percent(found.value) for s, found in points.items()}
            numbers = sorted({found.n for found in points.values() if found.n is not None})
            counted = " to ".join(dict.fromkeys(f"{n:,}" for n in (*numbers[:1], *numbers[-1:])))
            notes[f"{heading}: {name}, n = {counted}"] = None
    rows = (
        (system, *(cells.get(system, UNDEFINED) for cells in columns.values()))
        for system in systems
    )
    told = ("; ".join(notes) + ".",) if notes else ()
    return Table("At a glance, in percent", ("System", *columns), tuple(rows), told)


def _heading(one: Comparison, comparisons: Sequence[Comparison]) -> str:
    """Name a config, with its split where other splits of it stand beside it."""
    place = (one.dataset, one.config)
    splits = {other.split for other in comparisons if (other.dataset, other.config) == place}
    return " ".join((*place, *((one.split,) if len(splits) > 1 else ())))

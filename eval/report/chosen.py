"""Which systems a page compares two by two: a page on hundreds would be of no use."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from pronominal.eval.report.scored import Comparison
from pronominal.names import unknown_name

MOST = 20
"""How many systems are compared where nobody says which."""


def refuse_unknown(comparisons: Iterable[Comparison], asked: Iterable[str]) -> None:
    """Raise `InputError` for a system that was asked for, and has no run."""
    known = dict.fromkeys(label for one in comparisons for label in one.scores)
    for label in asked:
        if label not in known:
            raise unknown_name("scored run", label, known)


def chosen(one: Comparison, asked: Collection[str], planned: Sequence[str] = ()) -> Comparison:
    """Return the runs that a page compares: those asked for, else the best, and planned ones.

    What is left out is said in its notes.
    """
    headline = one.task.headline_in(one.scores.values())
    best = [*one.scores][:MOST]
    wanted = {*(asked or best), *planned}
    kept = [label for label in one.scores if label in wanted]
    left_out = len(one.scores) - len(kept)
    if not left_out:
        return one
    why = "those asked for" if asked else f"those with the best {headline.name.lower()}"
    told = f"{len(kept)} of {len(one.scores)} systems are compared, {why}; all have their figures."
    return replace(
        one,
        scores={label: one.scores[label] for label in kept},
        runs={label: one.runs[label] for label in kept},
        folders={label: one.folders[label] for label in kept},
        notes=[*one.notes, told],
    )

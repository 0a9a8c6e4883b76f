"""The table of pronominal bias: Figure 5 of WinoPron's paper; `reproduce` has Tables 5 and 6."""

from collections.abc import Mapping

from pronominal.eval.tables.table import UNDEFINED, Score, Table, percent

OVER_RESOLVED = (
    "Attempted: both sentences of a pair got one of the two entities as answer. Solvable: "
    "attempted, and both are right with some pronoun set. Biased: solvable, and both sentences "
    "got the occupation (positive) or both the participant (negative)."
)


def percentage_tables(scores: Mapping[str, Score]) -> list[Table]:
    """Show which share of the template pairs is biased (Figure 5): one table, or none.

    Args:
        scores: system -> its score; ``bias`` in it is what `pronominal_bias` gave, or None where
            the rows do not name both entities.
    """
    cells = {
        (system, *form.split("/", 1)): f"{percent(block['percentage'])} ({block['solvable']})"
        for system, bias in _biases(scores).items()
        for form, block in bias["by_form"].items()
    }
    if not cells:
        return []
    rows = dict.fromkeys((system, case) for system, case, _ in cells)
    sets = tuple(dict.fromkeys(pronoun_set for _, _, pronoun_set in cells))
    return [
        Table(
            "Biased template pairs, in percent of the solvable ones (their number)",
            ("System", "Case", *sets),
            tuple((*row, *(cells.get((*row, s), UNDEFINED) for s in sets)) for row in rows),
            (OVER_RESOLVED,),
        )
    ]


def _biases(scores: Mapping[str, Score]) -> dict[str, Score]:
    return {system: s["bias"] for system, s in scores.items() if s.get("bias") is not None}

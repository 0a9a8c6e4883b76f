"""Tables of pronominal bias: Figure 5 and Tables 4 to 6 of the WinoPron paper."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from pronominal.eval.bias import between_systems
from pronominal.eval.tables import UNDEFINED, Score, Table, percent

READING = (
    "Attempted: both sentences of a pair got one of the two entities as answer. Solvable: "
    "attempted, and both are right with some pronoun set. Biased: solvable, and both sentences "
    "got the occupation (positive) or both the participant (negative)."
)
JACCARD = "Jaccard index of the signed sets of occupations; undefined where both sets are empty."


def percentage_tables(scores: Mapping[str, Score]) -> list[Table]:
    """Show which share of the template pairs is biased (Figure 5): one table, or none.

    Args:
        scores: system -> its score; ``bias`` in it is what `pronominal_bias` gave, or None where
            the rows do not name both entities.
    """
    percentages = {
        (system, form): f"{percent(block['percentage'])} ({block['solvable']})"
        for system, bias in _biases(scores).items()
        for form, block in bias["by_form"].items()
    }
    title = "Biased template pairs, in percent of the solvable ones (their number)"
    return list(_by_case_and_set(title, percentages, READING))


def similarity_tables(scores: Mapping[str, Score]) -> list[Table]:
    """Compare the biases of grammatical cases (Table 6) and of systems (Table 5).

    Args:
        scores: as for `percentage_tables`.

    Returns:
        The tables that have a row.
    """
    biases = _biases(scores)
    cases = {
        (system, form): _index(value)
        for system, bias in biases.items()
        for form, value in bias["between_cases"].items()
    }
    systems = {
        (f"{one} / {other}", form): _index(value)
        for one, other in combinations(biases, 2)
        for form, value in between_systems(biases[one], biases[other]).items()
    }
    return [
        *_by_case_and_set("Similarity of bias between grammatical cases", cases, JACCARD),
        *_by_case_and_set("Similarity of bias between systems", systems, JACCARD),
    ]


def occupation_tables(scores: Mapping[str, Score]) -> list[Table]:
    """List the occupations that each form of each system is biased towards or against (Table 4)."""
    return [
        Table(
            f"{system}: biased occupations",
            ("Form", "Attempted", "Solvable", "Positive", "Negative"),
            tuple(_occupations(score["bias"]["by_form"])),
            (READING,),
        )
        for system, score in scores.items()
        if score.get("bias") is not None
    ]


def _occupations(by_form: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, form in by_form.items():
        signs = (", ".join(form[sign]) or UNDEFINED for sign in ("positive", "negative"))
        yield (name, str(form["attempted"]), str(form["solvable"]), *signs)


def _biases(scores: Mapping[str, Score]) -> dict[str, Score]:
    return {system: s["bias"] for system, s in scores.items() if s.get("bias") is not None}


def _by_case_and_set(
    title: str, cells: Mapping[tuple[str, str], str], note: str
) -> Iterator[Table]:
    """Lay out cells that are named by (row, ``CASES/SET``) as the paper does, if there are any."""
    if not cells:
        return
    named = {(row, *form.split("/", 1)): cell for (row, form), cell in cells.items()}
    rows = dict.fromkeys((row, case) for row, case, _ in named)
    sets = tuple(dict.fromkeys(pronoun_set for _, _, pronoun_set in named))
    yield Table(
        title,
        ("System", "Case", *sets),
        tuple((*row, *(named.get((*row, s), UNDEFINED) for s in sets)) for row in rows),
        (note,),
    )


def _index(value: float | None) -> str:
    return UNDEFINED if value is None else f"{value:.2f}"

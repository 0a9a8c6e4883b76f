"""Pronominal bias as a table of shares (WinoPron, Figure 5) and as a map (Table 4).

``pronominal reproduce`` has the paper's Tables 5 and 6.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.charts import Head, Map, Sign
from pronominal.eval.tables.table import UNDEFINED, Score, Table, percent

OVER_RESOLVED = (
    "Attempted: both sentences of a pair got one of the two entities as answer. Solvable: "
    "attempted, and both are right with some pronoun set. Biased: solvable, and both sentences "
    "got the occupation (positive) or both the participant (negative)."
)

SIGNS: dict[Literal["positive", "negative"], str] = {"positive": "+", "negative": "−"}


def percentage_tables(scores: Mapping[str, Score]) -> list[Table]:
    """Show which share of the template pairs is biased: one table, or none without whole pairs."""
    cells = {
        (system, *form.split("/", 1)): f"{percent(block['percentage'])} ({block['solvable']})"
        for system, forms in _forms(scores).items()
        for form, block in forms.items()
    }
    if not cells:
        return []
    rows = dict.fromkeys((system, case) for system, case, _ in cells)
    sets = tuple(dict.fromkeys(pronoun_set for _, _, pronoun_set in cells))
    made = tuple((*row, *(cells.get((*row, s), UNDEFINED) for s in sets)) for row in rows)
    title = "Biased template pairs, in percent of the solvable ones (their number)"
    return [Table(title, ("System", "Case", *sets), made, (OVER_RESOLVED,))]


def bias_map(scores: Mapping[str, Scores]) -> Iterator[Map]:
    """Map occupations and pronoun forms of each system: one map, or none without whole pairs."""
    by_system = _forms(scores)
    if not by_system:
        return
    grids = {
        system: ([_head(system, *form) for form in forms.items()], rows)
        for system, forms in by_system.items()
        if (rows := _rows(system, forms))
    }
    legend = {"positive": "+ occupation", "negative": "− participant"}
    table = _table(by_system, [system for system in by_system if system not in grids])
    yield Map("bias", grids, legend, table, about_systems=True)


def _forms(scores: Mapping[str, Score]) -> dict[str, dict[str, Any]]:
    """Return the blocks of the forms of each system that has any; see `pronominal_bias`."""
    found = {s: score["bias"]["by_form"] for s, score in scores.items() if score.get("bias")}
    return {system: forms for system, forms in found.items() if forms}


def _table(by_system: Mapping[str, Mapping[str, Any]], unbiased: list[str]) -> Table:
    rows = tuple(
        (
            *(system, name, str(form["attempted"]), str(form["solvable"])),
            *(", ".join(form[sign]) or UNDEFINED for sign in SIGNS),
        )
        for system, forms in by_system.items()
        for name, form in forms.items()
    )
    counts = {form["n"] for forms in by_system.values() for form in forms.values()}
    ends = dict.fromkeys(str(n) for n in (min(counts), max(counts)))
    notes = [
        OVER_RESOLVED,
        "+: the form is over-resolved to the occupation, −: to the participant.",
        f"n = {' to '.join(ends)} template pairs for each form.",
    ]
    if unbiased:
        notes.append(f"Without a biased occupation: {', '.join(unbiased)}.")
    columns = ("System", "Form", "Attempted", "Solvable", "Positive", "Negative")
    return Table("Biased occupations by form", columns, rows, tuple(notes))


def _rows(system: str, forms: Mapping[str, Any]) -> dict[str, list[Sign]]:
    names = sorted({name for form in forms.values() for sign in SIGNS for name in form[sign]})
    return {name: [_sign(system, name, key, form) for key, form in forms.items()] for name in names}


def _head(system: str, key: str, form: Mapping[str, Any]) -> Head:
    case, _, pronoun_set = key.partition("/")
    return Head(pronoun_set, case, f"{system}, {_counts(key, form)}")


def _sign(system: str, occupation: str, key: str, form: Mapping[str, Any]) -> Sign:
    for kind, sign in SIGNS.items():
        if occupation in form[kind]:
            hint = f"{system}, {occupation}: {kind} bias; {_counts(key, form)}"
            return Sign(sign, kind, hint)
    return Sign("", "none")


def _counts(key: str, form: Mapping[str, Any]) -> str:
    biased = sum(len(form[sign]) for sign in SIGNS)
    return (
        f"{key}: of {form['n']} template pairs {form['attempted']} attempted, "
        f"{form['solvable']} of these solvable, {biased} of these biased"
    )

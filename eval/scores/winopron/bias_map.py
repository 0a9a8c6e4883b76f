"""Pronominal bias as a map: which occupations each form of a system is biased to (Table 4)."""

from collections.abc import Iterator, Mapping
from typing import Any

from pronominal.eval.scores.winopron.bias_tables import OVER_RESOLVED
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.charts import Head, Map, Sign
from pronominal.eval.tables.table import UNDEFINED, Table

SIGNS = {"positive": "+", "negative": "−"}


def bias_map(scores: Mapping[str, Scores]) -> Iterator[Map]:
    """Map occupations and pronoun forms of each system: one map, or none without whole pairs."""
    by_system = {
        system: score["bias"]["by_form"]
        for system, score in scores.items()
        if score.get("bias") is not None and score["bias"]["by_form"]
    }
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


def _table(by_system: Mapping[str, Mapping[str, Any]], unbiased: list[str]) -> Table:
    rows = tuple(
        (system, name, str(form["attempted"]), str(form["solvable"]), *_occupations(form))
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


def _occupations(form: Mapping[str, Any]) -> list[str]:
    return [", ".join(form[sign]) or UNDEFINED for sign in SIGNS]


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
            return Sign(sign, "positive" if kind == "positive" else "negative", hint)
    return Sign("", "none")


def _counts(key: str, form: Mapping[str, Any]) -> str:
    biased = sum(len(form[sign]) for sign in SIGNS)
    return (
        f"{key}: of {form['n']} template pairs {form['attempted']} attempted, "
        f"{form['solvable']} of these solvable, {biased} of these biased"
    )

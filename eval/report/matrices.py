"""Two maps: which occupations a form is biased to, and which systems differ."""

from collections.abc import Iterator, Mapping
from typing import Any

from pronominal.eval.bias_tables import READING, occupation_tables
from pronominal.eval.report.charts import Cell, matrix
from pronominal.eval.report.figures import Figure, Scores
from pronominal.eval.significance import AGAINST, paired_test_tables
from pronominal.eval.tables import UNDEFINED, Table

SIGNS = {"positive": "+", "negative": "−"}
TESTS = {"mcnemar": "McNemar's exact test", "permutation": "paired permutation test"}
LEVEL = 0.05
"""Below it a corrected p-value counts as a difference."""


def bias_maps(scores: Scores) -> Iterator[Figure]:
    """Map occupations and pronoun forms of each system (WinoPron, Table 4)."""
    # GAP's bias is a number
    there = {s: score for s, score in scores.items() if isinstance(score.get("bias"), Mapping)}
    if not there:
        return
    tables, panels, unbiased = occupation_tables(there), [], []
    for system, score in there.items():
        forms = score["bias"]["by_form"]
        rows = _occupations(system, forms)
        if rows:
            names = [_short(form) for form in forms]
            panels.append(((system,), matrix(system, names, rows)))
        else:
            unbiased.append(system)
    cells = ((table.title.partition(":")[0], *row) for table in tables for row in table.rows)
    notes = [READING, "+: the form is over-resolved to the occupation, −: to the participant."]
    if unbiased:
        notes.append(f"Without a biased occupation: {', '.join(unbiased)}.")
    columns = ("System", *tables[0].columns)
    table = Table("Biased occupations by form", columns, tuple(cells), tuple(notes))
    legend = (("positive", "+ occupation"), ("negative", "− participant"))
    yield Figure("bias", tuple(panels), legend, table)


def paired_tests(scores: Scores) -> Iterator[Figure]:
    """Show which systems differ, of every two, after correction."""
    systems = [system for system, score in scores.items() if score.get(AGAINST)]
    measures = dict.fromkeys(name for system in systems for name in scores[system][AGAINST])
    for measure, table in zip(measures, paired_test_tables(scores), strict=False):
        rows = {
            one: [_test(one, other, scores[one][AGAINST][measure].get(other)) for other in systems]
            for one in systems
        }
        notes = (
            *table.notes,
            f"▲ ▼: the system of the row is right more, or less often; p (Holm) below {LEVEL:g}.",
        )
        kept = Table(table.title, table.columns, table.rows, notes)
        legend = (("positive", "▲ better"), ("negative", "▼ worse"), ("none", "≈ no difference"))
        drawn = matrix(measure.replace("_", " "), systems, rows, side=26.0)
        yield Figure(f"tests-{measure}", (((), drawn),), legend, kept)


def _occupations(system: str, forms: Mapping[str, Any]) -> dict[str, list[Cell]]:
    names = sorted({name for form in forms.values() for sign in SIGNS for name in form[sign]})
    return {name: [_bias(system, name, key, form) for key, form in forms.items()] for name in names}


def _bias(system: str, occupation: str, key: str, form: Mapping[str, Any]) -> Cell:
    sign = next((sign for sign in SIGNS if occupation in form[sign]), None)
    told = f"{system}, {occupation}, {key}: {sign or 'no'} bias; of {form['n']} template pairs "
    told += f"{form['attempted']} attempted, {form['solvable']} solvable"
    return Cell(SIGNS.get(sign or "", ""), sign or "none", told)


def _test(one: str, other: str, test: Mapping[str, Any] | None) -> Cell:
    if test is None:
        return Cell("", "missing", one)
    told = f"{one} alone right: {test['only_this']:,}, {other} alone: {test['only_other']:,}, "
    told += f"n = {test['n']:,}; {TESTS.get(test.get('test', ''), TESTS['mcnemar'])}, p (Holm) = "
    if test["p_holm"] is None:
        return Cell("?", "none", f"{told}{UNDEFINED}")
    told += f"{test['p_holm']:.2g}"
    if test["p_holm"] >= LEVEL:
        return Cell("≈", "none", told)
    better = test.get("difference", test["only_this"] - test["only_other"]) > 0
    return Cell("▲" if better else "▼", "positive" if better else "negative", told)


def _short(form: str) -> str:
    """Name a form as ``she, nom.``."""
    case, _, pronoun_set = form.partition("/")
    return f"{pronoun_set}, {case[:3]}."

"""Two maps: which occupations a form is biased to, and which systems differ."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pronominal.eval.report.figures import Figure, Scores
from pronominal.eval.report.grids import Cell, Column, grid
from pronominal.eval.scores.winopron.bias_tables import READING, occupation_tables
from pronominal.eval.statistics.paired_tests import (
    AGAINST,
    MCNEMAR,
    PERMUTATION,
    paired_test_tables,
)
from pronominal.eval.tables.table import UNDEFINED, Table

SIGNS = {"positive": "+", "negative": "−"}
TESTS = {MCNEMAR: "McNemar's exact test", PERMUTATION: "paired permutation test"}
ALONE = "{} alone right: {}, {} alone: {}"
MORE = "Units with {} more often right: {}, with {}: {}"
LEVEL = 0.05
"""Below it a corrected p-value counts as a difference."""


def bias_maps(scores: Scores) -> Iterator[Figure]:
    """Map occupations and pronoun forms of each system (WinoPron, Table 4)."""
    # GAP's bias is a number; a sample of the rows may hold no whole template pair
    there = {
        system: score
        for system, score in scores.items()
        if isinstance(bias := score.get("bias"), Mapping) and bias["by_form"]
    }
    if not there:
        return
    tables, panels, unbiased = occupation_tables(there), [], []
    for system, score in there.items():
        forms = score["bias"]["by_form"]
        rows = _occupations(system, forms)
        if rows:
            heads = [_form(system, key, form) for key, form in forms.items()]
            panels.append(((system,), grid(system, heads, rows)))
        else:
            unbiased.append(system)
    cells = ((table.title.partition(":")[0], *row) for table in tables for row in table.rows)
    counts = {f["n"] for score in there.values() for f in score["bias"]["by_form"].values()}
    notes = [READING, "+: the form is over-resolved to the occupation, −: to the participant."]
    ends = dict.fromkeys(str(n) for n in (min(counts), max(counts)))
    notes.append(f"n = {' to '.join(ends)} template pairs for each form.")
    if unbiased:
        notes.append(f"Without a biased occupation: {', '.join(unbiased)}.")
    columns = ("System", *tables[0].columns)
    table = Table("Biased occupations by form", columns, tuple(cells), tuple(notes))
    legend = (("positive", "+ occupation"), ("negative", "− participant"))
    yield Figure("bias", tuple(panels), legend, table)


def paired_tests(scores: Scores) -> Iterator[Figure]:
    """Show which systems differ, of every two, after correction: one map for each measure."""
    systems = [system for system, score in scores.items() if score.get(AGAINST)]
    measures = dict.fromkeys(name for system in systems for name in scores[system][AGAINST])
    tables = paired_test_tables(scores)
    if not tables:
        return
    columns = [Column(system, system=system) for system in systems]
    panels = []
    for measure in measures:
        tests = {one: scores[one][AGAINST].get(measure, {}) for one in systems}
        rows = {one: [_test(one, other, tests[one].get(other)) for other in systems]
                for one in systems}  # fmt: skip
        panels.append(((), grid(measure.replace("_", " "), columns, rows, side=26.0)))
    signs = f"▲ ▼: the system of the row is right more, or less often; p (Holm) below {LEVEL:g}."
    titles = tuple(table.title for table in tables)
    cells = (
        (row[0], measure.replace("_", " "), *row[1:])
        for measure, table in zip(measures, tables, strict=True)
        for row in table.rows
    )
    heads = ("Systems", "Measure", *tables[0].columns[1:])
    table = Table(
        "Paired tests between systems", heads, tuple(cells), (signs, *_notes(measures, tables))
    )
    legend = (("positive", "▲ better"), ("negative", "▼ worse"), ("none", "≈ not significant"))
    yield Figure("tests", tuple(panels), legend, table, titles)


def _notes(measures: Iterable[str], tables: Sequence[Table]) -> Iterator[str]:
    """Join the notes of the measures; what is not true of all of them says of which it is."""
    about: dict[str, list[str]] = {}
    for measure, table in zip(measures, tables, strict=True):
        for note in table.notes:
            about.setdefault(note, []).append(measure.replace("_", " "))
    for note, of_it in about.items():
        yield note if len(of_it) == len(tables) else f"Of {', '.join(of_it)}: {note}"
    if len(tables) > 1:
        yield "Each measure is corrected by itself."


def _occupations(system: str, forms: Mapping[str, Any]) -> dict[str, list[Cell]]:
    names = sorted({name for form in forms.values() for sign in SIGNS for name in form[sign]})
    return {name: [_bias(system, name, key, form) for key, form in forms.items()] for name in names}


def _form(system: str, key: str, form: Mapping[str, Any]) -> Column:
    case, _, pronoun_set = key.partition("/")
    return Column(pronoun_set, case, f"{system}, {_counts(key, form)}")


def _bias(system: str, occupation: str, key: str, form: Mapping[str, Any]) -> Cell:
    sign = next((sign for sign in SIGNS if occupation in form[sign]), None)
    if sign is None:
        return Cell("", "none")
    return Cell(SIGNS[sign], sign, f"{system}, {occupation}: {sign} bias; {_counts(key, form)}")


def _counts(key: str, form: Mapping[str, Any]) -> str:
    biased = sum(len(form[sign]) for sign in SIGNS)
    return (
        f"{key}: of {form['n']} template pairs {form['attempted']} attempted, "
        f"{form['solvable']} of these solvable, {biased} of these biased"
    )


def _test(one: str, other: str, test: Mapping[str, Any] | None) -> Cell:
    if test is None:
        return Cell("", "missing", one)
    # a unit of several rows is more or less right, a single item right or not
    heads = MORE if test["test"] == PERMUTATION else ALONE
    told = heads.format(one, f"{test['only_this']:,}", other, f"{test['only_other']:,}")
    told += f", n = {test['n']:,}; {TESTS[test['test']]}, p (Holm) = "
    if test["p_holm"] is None:
        return Cell("?", "none", f"{told}{UNDEFINED}")
    told += f"{test['p_holm']:.2g}"
    if test["p_holm"] >= LEVEL:
        return Cell("≈", "none", told)
    better = test["difference"] > 0
    return Cell("▲" if better else "▼", "positive" if better else "negative", told)

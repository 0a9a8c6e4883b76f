"""Pronominal bias as a table of shares (WinoPron, Figure 5) and as a map (Table 4).

``pronominal reproduce`` has the paper's Tables 5 and 6.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from pronominal.eval.scores.winopron.bias_chance import PERMUTATIONS, SEED
from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE, holm
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.charts import Head, Map, Sign
from pronominal.eval.tables.table import (
    UNDEFINED,
    Score,
    Table,
    count_of,
    interval_notes,
    p_value,
    percent_of,
    share_of,
    table,
    written_p,
)

OVER_RESOLVED = (
    "Attempted: both sentences of a pair got one of the two entities as answer. Solvable: "
    "attempted, and both are right with some pronoun set. Biased: solvable, and both sentences "
    "got the occupation (positive) or both the participant (negative)."
)

SIGNS: dict[Literal["positive", "negative"], str] = {"positive": "+", "negative": "−"}


EXPECTED = (
    "By chance: what a system gets whose errors are independent of each other, with this one's own "
    "accuracy on each form and ending. A system that ignores the pronoun has 0, and so has a "
    "perfect one."
)

NO_ESTIMATE = "it is what chance gives, and estimates nothing"
"""Why what stands beside a figure has no interval."""

DIFFER = (
    f"Forms differ, p: permutation of the pronoun sets' answers within each pair, {PERMUTATIONS:,} "
    f"times, seed {SEED}. Signs, p: mid-p of as many positive as negative pairs, the least of "
    "the case's forms after Holm's correction over all forms."
)


def percentage_tables(scores: Mapping[str, Score]) -> Iterator[Table]:
    """Show which share of the template pairs is biased, and what chance gives; nothing without."""
    by_system = _forms(scores)
    cells = {
        (system, *form.split("/", 1)): block
        for system, forms in by_system.items()
        for form, block in forms.items()
    }
    if not cells:
        return
    yield from _overall(scores)
    rows = dict.fromkeys((system, case) for system, case, _ in cells)
    sets = tuple(dict.fromkeys(pronoun_set for _, _, pronoun_set in cells))

    def made(title: str, write: Callable[[Score], str], *notes: str) -> Table:
        written = {key: write(block) for key, block in cells.items()}
        body = ((*row, *(written.get((*row, s), UNDEFINED) for s in sets)) for row in rows)
        return Table(title, ("System", "Case", *sets), tuple(body), notes)

    wilson = "[ ]: 95% interval (Wilson) of the solvable pairs."
    share = share_of("percentage")
    yield made(
        "Biased template pairs, in percent of the solvable ones (their number)",
        lambda block: f"{share(block)} ({block['solvable']})",
        *(OVER_RESOLVED, wilson),
    )
    by_chance = made(
        "Biased template pairs by chance, in percent",
        percent_of("expected"),
        *(EXPECTED, f"No interval for {', '.join(sets)}: {NO_ESTIMATE}.", DIFFER),
    )
    tested = (_tests(scores[system], case) for system, case in rows)
    body = tuple((*row, *p) for row, p in zip(by_chance.rows, tested, strict=True))
    columns = (*by_chance.columns, "Forms differ, p", "Signs, p")
    yield replace(by_chance, columns=columns, rows=body)
    yield from _overlaps(by_system, scores)


def _overall(scores: Mapping[str, Score]) -> Iterator[Table]:
    """Show the share over all forms, by which systems are compared: one table, or none."""
    there = {s: one["bias"]["overall"] for s, one in scores.items() if "overall" in _bias(one)}
    if there:
        columns = {name.capitalize(): count_of(name) for name in ("pairs", "attempted", "solvable")}
        columns |= {"Biased": share_of("percentage"), "By chance": percent_of("expected")}
        notes = ["Pairs: template pairs, once for each of their forms.", EXPECTED]
        notes += [f"No interval for By chance: {NO_ESTIMATE}."]
        intervals = (note for one in scores.values() for note in interval_notes([one]))
        title = "Biased template pairs of all forms, in percent of the solvable ones"
        yield table(title, columns, there, [*notes, *intervals])


def _bias(score: Score) -> Mapping[str, Any]:
    return score.get("bias") or {}


def bias_remarks(scores: Mapping[str, Score]) -> Iterator[str]:
    """Say of which systems the pronoun decides who is meant, where the sentence does."""
    share = share_of("percentage")
    for system in _forms(scores):
        tests = scores[system]["bias"]["forms_differ"].values()
        p = [test["p"] for test in tests if test["p"] is not None]
        if p and (corrected := min(holm(p))) < SIGNIFICANCE and _exceeds_chance(scores[system]):
            alike: dict[str, list[str]] = {}
            for name, one in scores[system]["bias"]["by_pronoun_set"].items():
                if one["n"]:
                    alike.setdefault(share(one), []).append(name)
            shares = (f"{of_sets} % ({', '.join(sets)})" for of_sets, sets in alike.items())
            yield (
                f"{system} is biased: the pronoun, not the sentence, decides who is meant in "
                f"{', '.join(shares)} of the pairs of sentences that it solves with some pronoun "
                f"set (sets differ: {written_p(corrected)})."
            )


def _exceeds_chance(score: Score) -> bool:
    """Say whether a set has more biased pairs than independent errors give, or signs of one kind.

    Errors on one set alone make the sets differ, too.
    """
    forms = score["bias"]["by_form"]
    if any((form["direction_p"] or 1) < SIGNIFICANCE for form in forms.values()):
        return True
    for name, of_set in score["bias"]["by_pronoun_set"].items():
        solved = [one for key, one in forms.items() if key.endswith(f"/{name}") and one["solvable"]]
        weights = [one["solvable"] for one in solved]
        if solved and of_set["interval"]["percentage"] is not None:
            by_chance = np.average([one["expected"] for one in solved], weights=weights)
            if of_set["interval"]["percentage"][0] > by_chance:
                return True
    return False


def _tests(score: Score, case: str) -> tuple[str, str]:
    forms = score["bias"]["by_form"].items()
    signs = [form["direction_p"] for key, form in forms if key.startswith(f"{case}/")]
    least = min((p for p in signs if p is not None), default=None)
    return p_value(score["bias"]["forms_differ"][case]["p"]), p_value(least)


def _overlaps(systems: Iterable[str], scores: Mapping[str, Score]) -> Iterator[Table]:
    """Show how far two cases of a pronoun set have their biased occupations in common."""
    compared = [
        (system, forms, kind, found)
        for system in systems
        for forms, found in scores[system]["bias"]["between_cases_by_chance"].items()
        for kind in ("signed", "unsigned")
        if found[kind]["jaccard"] is not None
    ]
    rows = tuple(
        (system, forms, kind, str(found["eligible"]), *overlap_cells(found[kind]))
        for system, forms, kind, found in compared
        if found[kind]["jaccard"] or (found[kind]["p_less"] or 1) < SIGNIFICANCE
    )
    if rows:
        left_out = len(compared) - len(rows)
        none = f"Left out: {left_out} rows with none in common, no fewer than by chance."
        columns = ("System", "Forms", "Signs", "Eligible", *OVERLAP_COLUMNS)
        title = "Biased occupations in common between grammatical cases"
        yield Table(title, columns, rows, (*OVERLAP_NOTES, *([none] if left_out else ())))


OVERLAP_COLUMNS = ("Jaccard", "By chance", "Corrected", "p (more)", "p (less)")

OVERLAP_NOTES = (
    "Signed: an occupation is in common if both forms are biased the same way; unsigned: if both "
    "are biased. Eligible: occupations that are solvable in both forms.",
    "By chance: as many biased occupations drawn from the eligible ones. Corrected: (Jaccard - by "
    "chance) / (1 - by chance). p: mid-p of an index as large, or as small, uncorrected; "
    "none where sets are so small that not even the farthest index would be significant.",
    "No interval for Jaccard, By chance, Corrected: two sets are compared with chance instead.",
)


def overlap_cells(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Write what `overlap` found of one kind of signs."""
    values = (found[name] for name in ("jaccard", "expected", "corrected"))
    indices = (UNDEFINED if value is None else f"{value:.2f}" for value in values)
    return (*indices, p_value(found["p_more"]), p_value(found["p_less"]))


def bias_map(scores: Mapping[str, Scores]) -> Iterator[Map]:
    """Map occupations and pronoun forms of each system: one map, or none without whole pairs."""
    by_system = _forms(scores)
    if not by_system:
        return
    grids = {
        system: ([_head(system, *form) for form in forms.items()], rows)
        for system, forms in by_system.items()
        if (rows := _rows(forms))
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


def _rows(forms: Mapping[str, Any]) -> dict[str, list[Sign]]:
    names = sorted({name for form in forms.values() for sign in SIGNS for name in form[sign]})
    return {name: [_sign(name, key, form) for key, form in forms.items()] for name in names}


def _head(system: str, key: str, form: Mapping[str, Any]) -> Head:
    case, _, pronoun_set = key.partition("/")
    return Head(pronoun_set, case, f"{system}, {_counts(key, form)}")


def _sign(occupation: str, key: str, form: Mapping[str, Any]) -> Sign:
    for kind, sign in SIGNS.items():
        if occupation in form[kind]:
            return Sign(sign, kind, f"{occupation}, {key}: {kind} bias")
    return Sign("", "none")


def _counts(key: str, form: Mapping[str, Any]) -> str:
    biased = sum(len(form[sign]) for sign in SIGNS)
    return (
        f"{key}: of {form['n']} template pairs {form['attempted']} attempted, "
        f"{form['solvable']} of these solvable, {biased} of these biased"
    )

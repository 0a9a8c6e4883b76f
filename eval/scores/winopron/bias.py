"""Pronominal bias: forms that a system over-resolves to occupations (WinoPron, section 5)."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.eval.scores.winopron.bias_chance import (
    AGAINST_CHANCE,
    Ending,
    direction_p,
    expected_percentages,
    forms_differ,
    overlap,
)
from pronominal.eval.statistics.hypothesis_tests import holm
from pronominal.eval.statistics.intervals import ratio_interval, share_interval
from pronominal.eval.statistics.outcomes import IntArray
from pronominal.eval.statistics.scores import estimate_blocks
from pronominal.pronouns import CASES

OCCUPATION, PARTICIPANT = 0, 1
"""The candidates' indices in WinoPron and Winogender."""

Block = Mapping[str, Any]

Compare = Callable[[Block, Block], Any]

NOT_SOLVABLE = "no template pair is solvable"


@dataclass
class _TemplatePair:
    """The two sentences of one pair and grammatical case, with every pronoun set.

    Attributes:
        occupation: noun of candidate 0.
        answers: pronoun set -> (label, choice) of each sentence; a choice is None in abstention.
    """

    occupation: str
    answers: dict[str, list[tuple[int, int | None]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @cached_property
    def chosen(self) -> dict[str, set[int | None]]:
        return {name: {choice for _, choice in both} for name, both in self.answers.items()}

    @cached_property
    def solvable(self) -> bool:
        return any(all(c == label for label, c in answers) for answers in self.answers.values())

    def attempted(self, pronoun_set: str) -> bool:
        return None not in self.chosen[pronoun_set]

    def biased(self, pronoun_set: str) -> bool:
        return self.chosen[pronoun_set] in ({OCCUPATION}, {PARTICIPANT})

    def over_resolved(self, pronoun_set: str, entity: int) -> bool:
        return self.chosen[pronoun_set] == {entity}


def pronominal_bias(table: pa.Table, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Find the occupations that each pronoun form is over- and under-resolved to.

    A template pair counts for a form when both of its sentences with this form got one of the two
    entities as answer (attempted), and when both are right with some pronoun set, which need not
    be attempted elsewhere (solvable). Among these, a form answered with the occupation twice has
    a positive bias towards it, and one answered with the participant twice a negative one. Pairs
    whose sentences differ in grammatical case, six in Winogender, have no common form and do not
    count.

    Args:
        table: a published split whose sentences name both entities.
        decisions: in the order of the rows.

    Returns:
        ``n`` (rows); ``overall``, over all forms: ``n``, ``pairs`` (template pairs, once for each
        form), ``attempted``, ``solvable``, ``biased``, ``percentage`` with an interval over
        occupations, and what is ``expected``, as below.
        ``by_pronoun_set``: for each set, ``n`` (solvable), ``biased`` and ``percentage``.
        ``by_form``: for each ``CASE/SET`` in the data, ``n`` (template pairs), ``attempted`` and
        ``solvable`` (counts), ``positive`` and ``negative`` (occupations), and ``percentage``,
        (positive + negative) / solvable in [0, 1], None where nothing is solvable (Figure 5), with
        its interval (Wilson's, for a pair is one of its occupation and case); the percentage that
        is ``expected`` of a system with the same accuracies and no bias (`expected_percentages`);
        ``direction_p``, whether the two signs are as likely, corrected over the forms by Holm; and
        ``solvable_occupations``.
        ``forms_differ``: by case, the ``p`` of whether its pronoun sets differ (`forms_differ`).
        ``between_cases``: for each ``CASE-CASE/SET``, the `jaccard_index` of the two forms of one
        pronoun set (Table 6), and ``between_cases_by_chance``, what chance gives (`overlap`).
    """
    pairs = _template_pairs(table, decisions)
    by_form = _by_form(pairs)
    of_cases = _cases(pairs, by_form)
    for (case, name), expected in _expected(of_cases).items():
        by_form[f"{case}/{name}"]["expected"] = expected
    tested = [block for block in by_form.values() if block["direction_p"] is not None]
    corrected = holm([block["direction_p"] for block in tested])
    for block, p in zip(tested, corrected, strict=True):
        block["direction_p"] = p
    overall = _overall(pairs.values(), by_form)
    return {
        "n": overall["n"],
        "overall": overall,
        "by_pronoun_set": _by_pronoun_set([*pairs.values()]),
        "by_form": by_form,
        "forms_differ": {case: _differ(of_case) for case, of_case in of_cases.items()},
        "between_cases": _between_cases(by_form, jaccard_index),
        "interval": {"between_cases": None},
        "interval_missing": {"between_cases": AGAINST_CHANCE},
        "between_cases_by_chance": _between_cases(by_form, overlap),
    }


def bias_units(table: pa.Table, decisions: Sequence[Decision]) -> IntArray:
    """Return how many solvable template pairs of each occupation are biased, of how many.

    They are counted over all forms, shape ``[occupations, 2]``, so that systems can be compared.
    """
    return _by_occupation(_template_pairs(table, decisions).values())


def between_systems(one: Block, other: Block) -> dict[str, dict[str, Any]]:
    """Compare the biases of two systems on the same rows form by form (Table 5).

    They are what `pronominal_bias` gave.

    Returns:
        For the forms that both have, ``CASE/SET`` -> `jaccard_index` as ``between_systems``; and
        what chance gives (`overlap`) as ``between_systems_by_chance``, where the scores name the
        solvable occupations, as those of earlier versions do not.
    """
    forms, others = one["by_form"], other["by_form"]
    both = [name for name in forms if name in others]
    known = [
        name
        for name in both
        if all("solvable_occupations" in block for block in (forms[name], others[name]))
    ]
    return {
        "between_systems": {name: jaccard_index(forms[name], others[name]) for name in both},
        "between_systems_by_chance": {name: overlap(forms[name], others[name]) for name in known},
    }


def jaccard_index(form: Block, other: Block) -> float | None:
    """Return the share of the biased occupations of two forms that they have in common.

    An occupation is in common when both forms are biased towards it or both against it: the paper
    calls opposite signs contradictory, so they are no similarity. It is the size of the
    intersection over that of the union, in [0, 1]; None where neither form is biased, since two
    empty sets have no index. Forms are blocks of ``by_form``.
    """
    signed, others = (
        {(sign, name) for sign in ("positive", "negative") for name in block[sign]}
        for block in (form, other)
    )
    return len(signed & others) / len(signed | others) if signed | others else None


def _between_cases(by_form: Mapping[str, Block], compare: Compare) -> dict[str, Any]:
    sets = dict.fromkeys(key.partition("/")[2] for key in by_form)
    return {
        f"{case}-{other}/{name}": compare(form, by_form[f"{other}/{name}"])
        for case, other in combinations(CASES, 2)
        for name in sets
        if (form := by_form.get(f"{case}/{name}")) and f"{other}/{name}" in by_form
    }


def _cases(
    pairs: Mapping[tuple[str, str], _TemplatePair], by_form: Mapping[str, Block]
) -> dict[str, list[_TemplatePair]]:
    cases = dict.fromkeys(form.partition("/")[0] for form in by_form)
    return {name: [pair for (_, case), pair in pairs.items() if case == name] for name in cases}


def _expected(
    of_cases: Mapping[str, Sequence[_TemplatePair]],
) -> dict[tuple[str, str], float | None]:
    found: dict[tuple[str, str], float | None] = {}
    for case, pairs in of_cases.items():
        sets = dict.fromkeys(name for pair in pairs for name in pair.answers)
        endings = {name: _endings(pairs, name) for name in sets}
        found |= {(case, name): one for name, one in expected_percentages(endings).items()}
    return found


def _endings(pairs: Sequence[_TemplatePair], pronoun_set: str) -> tuple[Ending, Ending]:
    answers = [answer for pair in pairs for answer in pair.answers.get(pronoun_set, ())]

    def ending(label: int) -> Ending:
        choices = [choice for at, choice in answers if at == label]
        right = sum(choice == label for choice in choices)
        chosen = sum(choice is not None for choice in choices)
        return Ending(right / len(choices), (chosen - right) / len(choices))

    return ending(OCCUPATION), ending(PARTICIPANT)


def _by_pronoun_set(pairs: Sequence[_TemplatePair]) -> dict[str, Block]:
    sets = dict.fromkeys(name for pair in pairs for name in pair.answers)
    if not sets:
        return {}
    counts = np.stack([_by_occupation(pairs, [name]) for name in sets], axis=-1)
    biased, solvable = counts.swapaxes(0, 1)
    shares = {"percentage": ratio_interval(biased.T, solvable.T)}
    sums = {"n": solvable.sum(axis=0), "biased": biased.sum(axis=0)}
    return dict(zip(sets, estimate_blocks(shares, NOT_SOLVABLE, **sums), strict=True))


def _by_occupation(pairs: Iterable[_TemplatePair], sets: Collection[str] | None = None) -> IntArray:
    """Count the biased and the solvable pairs of each occupation, of all sets or of some."""
    counts: dict[str, list[int]] = {}
    for pair in pairs:
        of_sets = (name for name in pair.answers if sets is None or name in sets)
        solvable = [name for name in of_sets if pair.attempted(name)] * pair.solvable
        found = counts.setdefault(pair.occupation, [0, 0])
        found[0] += sum(map(pair.biased, solvable))
        found[1] += len(solvable)
    return np.array([*counts.values()], np.int64).reshape(-1, 2)


def _overall(pairs: Iterable[_TemplatePair], by_form: Mapping[str, Block]) -> dict[str, Any]:
    """Count over all forms; what is expected is the mean of the forms' by their solvable pairs."""
    biased, solvable = _by_occupation(pairs).T
    percentage = ratio_interval(biased[None], solvable[None])
    forms = [form for form in by_form.values() if form["solvable"]]
    known = forms and all(form["expected"] is not None for form in forms)
    expected = [form["expected"] * form["solvable"] for form in forms] if known else []
    number, attempted = (sum(form[key] for form in by_form.values()) for key in ("n", "attempted"))
    return estimate_blocks({"percentage": percentage}, NOT_SOLVABLE, n=[2 * number])[0] | {
        "pairs": number,
        "attempted": attempted,
        "solvable": int(solvable.sum()),
        "biased": int(biased.sum()),
        "expected": sum(expected) / int(solvable.sum()) if expected else None,
    }


def _differ(pairs: Sequence[_TemplatePair]) -> dict[str, Any]:
    """Test a case by its solvable pairs with all of its pronoun sets."""
    sets = list(dict.fromkeys(name for pair in pairs for name in pair.answers))
    whole = [pair for pair in pairs if len(pair.answers) == len(sets) and pair.solvable]
    attempted, biased = (
        np.array([[of(pair, name) for name in sets] for pair in whole], np.bool_)
        for of in (_TemplatePair.attempted, _TemplatePair.biased)
    )
    return {"n": len(whole), "p": forms_differ(attempted, biased)}


def _by_form(pairs: Mapping[tuple[str, str], _TemplatePair]) -> dict[str, dict[str, Any]]:
    forms = dict.fromkeys((case, name) for (_, case), p in pairs.items() for name in p.answers)
    found = {f"{case}/{name}": _form(pairs, case, name) for case, name in forms}
    biased = [len(form["positive"]) + len(form["negative"]) for form in found.values()]
    solvable = [form["solvable"] for form in found.values()]
    shares = {"percentage": share_interval(np.array(biased), np.array(solvable))}
    made = estimate_blocks(shares, NOT_SOLVABLE, n=[form.pop("n") for form in found.values()])
    return {name: one | form for (name, form), one in zip(found.items(), made, strict=True)}


def _form(
    pairs: Mapping[tuple[str, str], _TemplatePair], case: str, pronoun_set: str
) -> dict[str, Any]:
    found = [p for (_, c), p in pairs.items() if c == case and pronoun_set in p.answers]
    attempted = [pair for pair in found if pair.attempted(pronoun_set)]
    solvable = [pair for pair in attempted if pair.solvable]
    biased = {
        entity: [p.occupation for p in solvable if p.over_resolved(pronoun_set, entity)]
        for entity in (OCCUPATION, PARTICIPANT)
    }
    return {
        "n": len(found),
        "attempted": len(attempted),
        "solvable": len(solvable),
        "positive": biased[OCCUPATION],
        "negative": biased[PARTICIPANT],
        "direction_p": direction_p(*map(len, biased.values())),
        "solvable_occupations": [pair.occupation for pair in solvable],
    }


def _template_pairs(
    table: pa.Table, decisions: Sequence[Decision]
) -> dict[tuple[str, str], _TemplatePair]:
    names = ("pair_id", "case", "occupation", "pronoun_set", "label")
    columns = (table[name].to_pylist() for name in names)
    pairs: dict[tuple[str, str], _TemplatePair] = {}
    for pair_id, case, occupation, name, label, decision in zip(*columns, decisions, strict=True):
        pair = pairs.setdefault((pair_id, case), _TemplatePair(occupation))
        pair.answers[name].append((label, decision.choice))
    return {
        key: pair
        for key, pair in pairs.items()
        if all(sorted(label for label, _ in a) == [0, 1] for a in pair.answers.values())
    }

"""The scores of WinoPron, of Winogender in its form, and of the sample."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pronominal.arrow_numbers import numbers
from pronominal.decisions import Decision
from pronominal.eval.scores.winopron.bias import bias_units, pronominal_bias
from pronominal.eval.scores.winopron.by_occupation import by_occupation
from pronominal.eval.scores.winopron.occupations import Occupations, correlations
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.groups import Groups, Strata
from pronominal.eval.statistics.intervals import ratio_intervals
from pronominal.eval.statistics.outcomes import (
    RIGHT,
    BoolArray,
    IntArray,
    Outcomes,
    Share,
    choices_of,
    outcome_counts,
    refuse_other_number,
)
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.parts import with_rest
from pronominal.eval.statistics.scores import Block, blocks, estimate_blocks

Blocks = Callable[[Strata], list[Block]]
"""Makes one block of numbers for each stratum."""

RATIOS = {name: name for name in ("precision", "recall", "f1")}

ANSWER_SHARES = {
    **{name: name for name in ("accuracy", "answered", "none", "both", "unfinished")},
    **RATIOS,
}
"""Name of a share of `Outcomes` -> what scores call it; the first one says how many units."""

GROUP_SHARES = {"accuracy": "score", **RATIOS}


def score(
    table: pa.Table,
    decisions: Sequence[Decision],
    *,
    upstream_groups: bool = False,
    occupations: Occupations | None = None,
) -> Block:
    """Score one decision for each row: what ``pronominal score winopron --json`` prints.

    Args:
        table: a published split with ``label``, ``case``, ``pronoun_set``, ``template_id`` and
            ``pair_id``.
        decisions: in the order of the rows.
        upstream_groups: count groups of one sentence as well, as upstream does; on Winogender 48
            of the disambiguation groups are such (36 without *xe*).
        occupations: percentages of women in occupations, for `correlations` with them.

    Returns:
        ``overall``, ``by_case`` and ``by_pronoun_set``, whose parts have `AGAINST_REST`, and
        ``by_form`` (keys ``CASE/SET``, of the
        forms in the data: WinoPron, Figure 3); ``pronoun_consistency`` and
        ``disambiguation_consistency`` (section 4.3), each split by case and by set, with what
        chance gives (`Groups.chance`); ``bias`` (section 5) and ``by_occupation``
        (`by_occupation`), None where sentences name one entity; with `occupations` also
        ``occupation_statistics``.
        Ratios are in [0, 1], and None where nothing was answered. Intervals sum over occupations,
        each of which has a template pair in every grammatical case.

    Raises:
        InputError: the number of decisions is not the number of rows, or a case is unknown.
    """
    refuse_other_number(table, decisions)
    scores = score_choices(
        Sentences.of(table),
        choices_of(decisions).reshape(-1, 1),
        upstream_groups=upstream_groups,
    )
    names_both = _names_both(table)
    scores["bias"] = pronominal_bias(table, decisions) if names_both else None
    scores["by_occupation"] = by_occupation(table, decisions) if names_both else None
    if occupations is not None:
        scores["occupation_statistics"] = correlations(table, decisions, occupations)
    return scores


def paired_units(table: pa.Table, decisions: Sequence[Decision]) -> dict[str, PairedUnits]:
    """Return the units that paired tests between systems compare: the occupations.

    Returns:
        Parts and wholes by occupation, shape ``[occupations, 2]``: ``accuracy``, ``precision`` and
        ``f1`` of its sentences; ``pronoun_consistency`` and ``disambiguation_consistency``, its
        sentences that are in a group that is right as a whole. Groups of one sentence are out, and
        occupations with no others. Where sentences name both entities also ``bias``
        (`bias_units`).
    """
    sentences = Sentences.of(table)
    counts = outcome_counts(sentences.labels, choices_of(decisions).reshape(-1, 1))

    def shares(outcomes: IntArray) -> dict[str, Share]:
        return Outcomes(sentences.units.sums(outcomes, sentences.everything)[0]).shares

    of_answers = shares(counts)
    made = {name: np.stack(of_answers[name], axis=-1) for name in ("accuracy", "precision", "f1")}
    for name, groups in (
        ("pronoun_consistency", sentences.templates),
        ("disambiguation_consistency", sentences.disambiguations),
    ):
        found = shares(groups.minimum(counts) * (groups.members > 1)[:, None])["accuracy"]
        made[name] = np.stack(found, axis=-1)[found[1] > 0]
    return made | ({"bias": bias_units(table, decisions)} if _names_both(table) else {})


def _names_both(table: pa.Table) -> bool:
    if "candidates" not in table.column_names:
        return False
    candidates = pc.list_flatten(table["candidates"])
    return bool((numbers(pc.struct_field(candidates, "start")) >= 0).all())


def score_choices(
    sentences: Sentences,
    choices: IntArray,
    *,
    upstream_groups: bool = False,
) -> Block:
    """Score several answers to each sentence, such as those to FLAN-T5's 30 prompts, as `score`.

    Every answer counts; a consistent group is right in all answers to all its sentences, for which
    no coin says what chance is. `choices` are candidate indices or abstentions (`choices_of`),
    shape ``[rows, answers]``. With several answers, consistencies have ``over_answers`` as well:
    the ``mean`` over the answers of the score that each has alone, its ``sd``, and its ``chance``.
    """
    counts = outcome_counts(sentences.labels, choices)
    scoring = _Scoring(sentences, choices, counts, upstream_groups)
    endings = Strata.of([str(label) for label in sentences.labels.tolist()])
    return {
        "n": int(counts.sum()),
        **scoring.split(scoring.answers_and_rest),
        "by_form": scoring.by_form(),
        "pronoun_consistency": scoring.consistency(sentences.templates, sentences.pronoun_sets),
        "disambiguation_consistency": scoring.consistency(sentences.disambiguations, endings),
        "intervals": sentences.units.block(),
    }


@dataclass(frozen=True, slots=True)
class _Scoring:
    sentences: Sentences
    choices: IntArray
    counts: IntArray
    upstream_groups: bool

    def split(self, make: Blocks) -> Block:
        cases, sets = self.sentences.cases, self.sentences.pronoun_sets
        return {
            "overall": make(self.sentences.everything)[0],
            "by_case": cases.named(make(cases)),
            "by_pronoun_set": sets.named(make(sets)),
        }

    def by_form(self) -> Block:
        """Score the answers to each form; a case may lack a set, as *xe* in Winogender."""
        forms = self.sentences.forms
        found = forms.named(self.answers(forms))
        return {name: block for name, block in found.items() if block["n"]}

    def answers(self, strata: Strata) -> list[Block]:
        return self._blocks(strata, self.counts, ANSWER_SHARES)

    def answers_and_rest(self, strata: Strata) -> list[Block]:
        """Score answers, and compare each part with all others."""
        by_unit = Outcomes(self.sentences.units.sums(self.counts, strata))
        return with_rest(self.answers(strata), *by_unit.shares["accuracy"])

    def consistency(self, groups: Groups, parts: Strata) -> Block:
        """Score groups; `parts` are what the rows of a group differ in, such as pronoun sets."""
        kept = (groups.members > 1) | self.upstream_groups
        worst = groups.minimum(self.counts) * kept[:, None]
        single = self.choices.shape[1] == 1

        def make(strata: Strata) -> list[Block]:
            return self._blocks(
                strata,
                worst,
                GROUP_SHARES,
                groups=groups.number(strata, kept),
                consistent=groups.number(strata, worst[:, RIGHT] > 0),
                left_out=groups.number(strata, ~kept),
                chance=np.where(single, groups.chance(strata, kept), np.nan),
                **groups.expectations(strata, parts, self.counts * kept[:, None]),
            )

        split = self.split(make)
        found = {**split.pop("overall"), **split}
        return found if single else found | {"over_answers": self._over_answers(groups, kept)}

    def _over_answers(self, groups: Groups, kept: BoolArray) -> Block:
        """Return the mean of the scores that each answer has alone."""
        labels, rows = self.sentences.labels, np.flatnonzero(kept)
        worst = [
            groups.minimum(outcome_counts(labels, answer[:, None])) for answer in self.choices.T
        ]
        scores = [float(one[rows, RIGHT].mean()) for one in worst] if len(rows) else [np.nan]
        chance = groups.chance(self.sentences.everything, kept)
        found = blocks(mean=np.array([np.mean(scores)]), sd=np.array([_sd(scores)]), chance=chance)
        return found[0] | {
            "n": len(rows),
            "interval": {"mean": None},
            "interval_missing": {"mean": "answers to the orders of one prompt are not independent"},
        }

    def _blocks(
        self, strata: Strata, counts: IntArray, names: Mapping[str, str], **columns: Any
    ) -> list[Block]:
        by_unit = Outcomes(self.sentences.units.sums(counts, strata))
        shares = ratio_intervals({key: by_unit.shares[name] for name, key in names.items()})
        outcomes = Outcomes(by_unit.counts.sum(axis=1))
        vacuous = outcomes.precision_is_vacuous
        return estimate_blocks(
            shares,
            n=outcomes.n,
            **{name: getattr(outcomes, name) for name in ("tp", "fp", "fn", "tn")},
            precision=np.where(vacuous, 1.0, shares["precision"].estimate),
            precision_is_vacuous=vacuous,
            **columns,
        )


def _sd(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")

"""The scores of WinoPron, of Winogender in its form, and of the sample."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pronominal.decisions import Decision
from pronominal.eval.scores.winopron.bias import pronominal_bias
from pronominal.eval.scores.winopron.occupations import Occupations, correlations
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.bootstrap import Bootstrap
from pronominal.eval.statistics.groups import Groups, Strata
from pronominal.eval.statistics.outcomes import (
    RIGHT,
    BoolArray,
    IntArray,
    Outcomes,
    choices_of,
    outcome_counts,
    refuse_other_number,
    shares_by,
)
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.scores import Block, blocks

Blocks = Callable[[Strata], list[Block]]
"""Makes one block of numbers for each stratum."""


def score(
    table: pa.Table,
    decisions: Sequence[Decision],
    *,
    upstream_groups: bool = False,
    occupations: Occupations | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Block:
    """Score one decision for each row: what ``pronominal score winopron --json`` prints.

    Args:
        table: a published split with ``label``, ``case``, ``pronoun_set``, ``template_id`` and
            ``pair_id``.
        decisions: in the order of the rows.
        upstream_groups: count groups of one sentence as well, as upstream does; on Winogender 48
            of the disambiguation groups are such (36 without *xe*).
        occupations: percentages of women in occupations, for `correlations` with them.
        resamples: number of bootstrap resamples; without any, intervals are null.
        seed: seed of the resamples.

    Returns:
        ``overall``, ``by_case``, ``by_pronoun_set`` and ``by_form`` (keys ``CASE/SET``, of the
        forms in the data: WinoPron, Figure 3); ``pronoun_consistency`` and
        ``disambiguation_consistency`` (section 4.3), each split by case and by set; how the
        intervals were made; ``bias`` (section 5), None where sentences name one entity; with
        `occupations` also ``occupation_statistics``.
        Ratios are in [0, 1], and None where nothing was answered.

    Raises:
        InputError: the number of decisions is not the number of rows, or a case is unknown.
    """
    refuse_other_number(table, decisions)
    scores = score_choices(
        Sentences.of(table),
        choices_of(decisions).reshape(-1, 1),
        upstream_groups=upstream_groups,
        resamples=resamples,
        seed=seed,
    )
    scores["bias"] = pronominal_bias(table, decisions) if _names_both(table) else None
    if occupations is not None:
        scores["occupation_statistics"] = correlations(table, decisions, occupations)
    return scores


def paired_units(table: pa.Table, decisions: Sequence[Decision]) -> dict[str, PairedUnits]:
    """Return the units that paired tests between systems compare: the template pairs.

    Returns:
        Shares by template pair, shape ``[pairs]``: ``accuracy``, of its sentences that are right;
        ``pronoun_consistency`` and ``disambiguation_consistency``, of its sentences that are in a
        group that is right as a whole. Groups of one sentence, and pairs with no others, are out.
    """
    sentences = Sentences.of(table)
    counts = outcome_counts(sentences.labels, choices_of(decisions).reshape(-1, 1))

    def shares(outcomes: IntArray, kept: BoolArray) -> PairedUnits:
        found = shares_by(sentences.pairs.codes, outcomes[:, RIGHT] > 0, kept)
        return found[~np.isnan(found)]

    made = {"accuracy": shares(counts, sentences.labels >= 0)}
    for name, groups in (
        ("pronoun_consistency", sentences.templates),
        ("disambiguation_consistency", sentences.disambiguations),
    ):
        made[name] = shares(groups.minimum(counts), groups.members > 1)
    return made


def _names_both(table: pa.Table) -> bool:
    candidates = pc.list_flatten(table["candidates"])
    return bool(pc.all(pc.greater_equal(pc.struct_field(candidates, "start"), 0)).as_py())


def score_choices(
    sentences: Sentences,
    choices: IntArray,
    *,
    upstream_groups: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> Block:
    """Score several answers to each sentence, such as those to FLAN-T5's 30 prompts, as `score`.

    Every answer counts; a consistent group is right in all answers to all its sentences. `choices`
    are candidate indices or abstentions (`choices_of`), shape ``[rows, answers]``.
    """
    counts = outcome_counts(sentences.labels, choices)
    bootstrap = Bootstrap.of(sentences.pairs.size, resamples, seed)
    scoring = _Scoring(sentences, counts, bootstrap, upstream_groups)
    return {
        "n": int(counts.sum()),
        **scoring.split(scoring.answers),
        "by_form": scoring.by_form(),
        "pronoun_consistency": scoring.consistency(sentences.templates),
        "disambiguation_consistency": scoring.consistency(sentences.disambiguations),
        "bootstrap": bootstrap.block("pair_id"),
    }


@dataclass(frozen=True, slots=True)
class _Scoring:
    sentences: Sentences
    counts: IntArray
    bootstrap: Bootstrap
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
        outcomes, resampled = self._outcomes(strata, self.counts)
        return blocks(
            n=outcomes.n,
            accuracy=outcomes.accuracy,
            **_ratios(outcomes),
            none=outcomes.none,
            both=outcomes.both,
            interval=self.bootstrap.interval_blocks(accuracy=resampled.accuracy, f1=resampled.f1),
        )

    def consistency(self, groups: Groups) -> Block:
        kept = (groups.members > 1) | self.upstream_groups
        worst = groups.minimum(self.counts) * kept[:, None]

        def make(strata: Strata) -> list[Block]:
            outcomes, resampled = self._outcomes(strata, worst)
            return blocks(
                n=outcomes.n,
                groups=groups.number(strata, kept),
                consistent=groups.number(strata, worst[:, RIGHT] > 0),
                left_out=groups.number(strata, ~kept),
                score=outcomes.accuracy,
                chance=groups.chance(strata, kept),
                **_ratios(outcomes),
                interval=self.bootstrap.interval_blocks(score=resampled.accuracy, f1=resampled.f1),
            )

        split = self.split(make)
        return {**split.pop("overall"), **split}

    def _outcomes(self, strata: Strata, counts: IntArray) -> tuple[Outcomes, Outcomes]:
        tally = self.bootstrap.tally(counts, self.sentences.pairs.codes, strata)
        observed, drawn = map(Outcomes, tally)
        return observed, drawn


def _ratios(outcomes: Outcomes) -> dict[str, Any]:
    names = ("precision", "precision_is_vacuous", "recall", "f1", "tp", "fp", "fn", "tn")
    return {name: getattr(outcomes, name) for name in names}

"""The scores of KnowRef (Emami et al., 2019, sections 3.3 and 4)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
import pyarrow as pa

from pronominal.arrow_numbers import numbers
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.intervals import mean_interval, ratio_interval, ratio_intervals
from pronominal.eval.statistics.mention_order import (
    FIRST,
    SECOND,
    MentionOutcomes,
    mention_outcomes,
    right_mentions,
)
from pronominal.eval.statistics.outcomes import choices_of, parts_by, refuse_other_number
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.parts import with_rest
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.switched_pairs import Answers, PairOutcomes, SwitchedPairs
from pronominal.eval.statistics.units import Units
from pronominal.pronouns import HE, SHE, THEY

GENDERS = ("masculine", "feminine", "they", "other")
"""Of the pronoun; the paper's Table 2 leaves out the 49 test rows with a form of *they*."""

LENGTHS = {"1-15": 15, "16-20": 20, "21-25": 25}
"""Bins of sentence length in words between blanks -> longest; the last bin, ``26+``, is open."""


def score(
    rows: pa.Table,
    decisions: Sequence[Decision],
    *,
    switched: Answers | None = None,
) -> Block:
    """Score one decision for each row, and the change under antecedent switching.

    Args:
        rows: a split of the config ``original``.
        decisions: in the order of the rows.
        switched: the same split of the config ``switched``, and its decisions.

    Returns:
        ``n``; ``both``, ``none``, ``incorrect`` and ``correct``, fractions of n (Table 3), and
        ``answered``, the last two together; ``task_specific_accuracy``, correct / (correct +
        incorrect); ``balanced_accuracy`` and ``first_mention``, the share of choices that are the
        first mention (`MentionOutcomes`); the same ``by_pronoun_gender``, ``by_right_mention`` and
        ``by_length`` (`LENGTHS`).

        With `switched` also ``switched``, the same of the switched rows, and ``consistency`` over
        the rows that exist in both (Table 4): ``pairs``, ``changed`` and ``decided`` (counts), the
        three scores of `PairOutcomes`, ``consistently_correct`` and ``consistently_wrong``, the
        fractions of pairs that are right, or wrong, in both versions, overall and divided as above.

        Intervals sum over sentences: a row, its switched version and the rows that repeat it.
        Fractions are in [0, 1], and None where undefined.

    Raises:
        InputError: the number of decisions is not the number of rows, or a row has no label.
    """
    refuse_unlabelled(rows)
    for table, given in [(rows, decisions), *([switched] if switched else [])]:
        refuse_other_number(table, given)
    sentences = _sentences(rows)
    divisions = _divisions(rows)
    scores = _answer_blocks(rows, decisions, sentences, divisions)
    if switched is not None:
        pairs = SwitchedPairs.of((rows, decisions), switched)
        scores["switched"] = _answer_blocks(*switched, sentences, _divisions(switched[0]))
        scores["consistency"] = _consistency_blocks(rows, pairs, divisions)
    return scores | {"intervals": units(rows).block()}


def refuse_unlabelled(rows: pa.Table) -> None:
    """Refuse rows that a construction left to annotators: no answer to them is right or wrong."""
    ids = list(compress(rows["id"].to_pylist(), numbers(rows["label"]) < 0))
    if ids:
        cause = f"{len(ids)} of {rows.num_rows} rows have no label, the first one is {ids[0]}"
        cure = "label them with 'pronominal annotate', and score what its 'keep' writes"
        raise InputError(cause, cure=cure)


def paired_units(
    rows: pa.Table, decisions: Sequence[Decision], *, switched: Answers | None = None
) -> dict[str, PairedUnits]:
    """Return the units that paired tests between systems compare: the sentences.

    Returns:
        Parts and wholes by sentence, shape ``[sentences, 2]``: ``correct``, the rows with the right
        candidate, of the row and those that repeat it; with `switched` also
        ``consistently_correct``, the pairs that are right in both versions, of all.
    """
    codes = units(rows).codes
    right = choices_of(decisions) == numbers(rows["label"])
    made: dict[str, PairedUnits] = {"correct": parts_by(codes, right, np.ones_like(right))}
    if switched is not None:
        pairs = SwitchedPairs.of((rows, decisions), switched)
        both = pairs.both_right
        found = parts_by(codes[pairs.rows], both, np.ones_like(both))
        made["consistently_correct"] = found[found[:, 1] > 0]
    return made


def characteristics(rows: pa.Table) -> dict[str, float]:
    """Describe the data as the paper's Table 2 does.

    Returns:
        Fractions in [0, 1]: ``masculine`` and ``feminine`` of the rows with a form of *he* or
        *she*; ``first`` and ``second``, of the rows whose mentions have an order.
    """
    genders = np.bincount(_genders(rows).codes, minlength=len(GENDERS))[:2]
    mentions = np.bincount(right_mentions(rows).codes, minlength=3)[[FIRST, SECOND]]
    shares = [*(genders / genders.sum()), *(mentions / mentions.sum())]
    return dict(zip(("masculine", "feminine", "first", "second"), map(float, shares), strict=True))


def units(rows: pa.Table) -> Units:
    """Return the sentences: a row and those that repeat it, for they are right or wrong alike."""
    codes = np.array([*_sentences(rows).values()], dtype=np.int64)
    return Units("sentence", codes, int(codes.max(initial=-1)) + 1)


def _sentences(rows: pa.Table) -> dict[str, int]:
    """Number the sentences; a row that repeats an earlier one has that one's number."""
    ids = rows["id"].to_pylist()
    earlier = rows["duplicate_of"].to_pylist() if "duplicate_of" in rows.column_names else ids
    first = {name: other or name for name, other in zip(ids, earlier, strict=True)}
    numbers = {name: number for number, name in enumerate(dict.fromkeys(first.values()))}
    return {name: numbers[other] for name, other in first.items()}


def _answer_blocks(
    rows: pa.Table,
    decisions: Sequence[Decision],
    sentences: dict[str, int],
    divisions: Mapping[str, Strata],
) -> Block:
    codes = np.array([sentences[name] for name in rows["id"].to_pylist()], dtype=np.int64)
    sums = Units("sentence", codes, len(sentences)).sums
    counts = mention_outcomes(rows, decisions)

    def make(strata: Strata) -> list[Block]:
        outcomes = MentionOutcomes(sums(counts, strata))
        parts = outcomes.shares
        shares = ratio_intervals(parts)
        first, second = (ratio_interval(*half) for half in outcomes.halves)
        shares["balanced_accuracy"] = mean_interval(first, second)
        return with_rest(estimate_blocks(shares, n=strata.sizes), *parts["correct"])

    return _divided(rows, divisions, make)


def _consistency_blocks(
    rows: pa.Table, pairs: SwitchedPairs, divisions: Mapping[str, Strata]
) -> Block:
    sentences = units(rows)
    sums = replace(sentences, codes=sentences.codes[pairs.rows]).sums

    def make(strata: Strata) -> list[Block]:
        outcomes = PairOutcomes(sums(pairs.counts, pairs.strata(strata)))
        counts = ("pairs", "changed", "decided")
        return estimate_blocks(
            ratio_intervals(outcomes.shares),
            **{name: getattr(outcomes, name).sum(axis=-1) for name in counts},
            n=outcomes.pairs.sum(axis=-1),
        )

    return _divided(rows, divisions, make)


def _divisions(rows: pa.Table) -> dict[str, Strata]:
    return {
        "by_pronoun_gender": _genders(rows),
        "by_right_mention": right_mentions(rows),
        "by_length": _lengths(rows),
    }


def _divided(
    rows: pa.Table, divisions: Mapping[str, Strata], make: Callable[[Strata], list[Block]]
) -> Block:
    divided = {name: strata.named(make(strata)) for name, strata in divisions.items()}
    return {**make(Strata.whole(rows.num_rows))[0], **divided}


def _genders(rows: pa.Table) -> Strata:
    pairs = zip((HE, SHE, THEY), GENDERS, strict=False)
    of_form = {form: gender for pronouns, gender in pairs for form in pronouns.forms}
    forms = (pronoun["text"].lower() for pronoun in rows["pronoun"].to_pylist())
    return Strata.of([of_form.get(form, "other") for form in forms], GENDERS)


def _lengths(rows: pa.Table) -> Strata:
    words = [len(text.split()) for text in rows["text"].to_pylist()]
    codes = np.searchsorted(list(LENGTHS.values()), words).astype(np.int64)
    return Strata((*LENGTHS, "26+"), codes)

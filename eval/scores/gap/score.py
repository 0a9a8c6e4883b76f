"""The scores of GAP (Webster et al., 2018), as its official scorer counts them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.statistics.bootstrap import Bootstrap
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.outcomes import Counts, FloatArray, IntArray, ratio
from pronominal.eval.statistics.paired_tests import PairedUnits
from pronominal.eval.statistics.scores import Block, blocks

BLOCKS = ("overall", "masculine", "feminine")

COUNTS = ("n", "missing", "tp", "fp", "tn", "fn")
"""Of rows, of rows without an answer, and of questions by outcome."""

NEITHER = 2
"""The label of rows whose pronoun is neither A nor B."""


def score(
    rows: pa.Table,
    decisions: Sequence[Decision | None],
    *,
    allow_missing: bool = False,
    resamples: int = 1000,
    seed: int = 0,
) -> Block:
    """Score one decision for each row.

    Each row asks two questions, whether the pronoun is A and whether it is B. ``none`` says no to
    both, ``both`` says yes to both (gap_scorer.py).

    Args:
        rows: a published split with ``label`` (2 is *neither*) and ``gender``.
        decisions: in the order of the rows; None where a system gave no answer at all.
        allow_missing: score rows without an answer as the official scorer does, which counts a
            false negative for A and one for B, even where the right answer is no.
        resamples: number of bootstrap resamples of rows; without any, intervals are null.
        seed: seed of the resamples.

    Returns:
        ``overall``, ``masculine`` and ``feminine``: ``n`` (rows), ``missing`` (rows without an
        answer), ``tp``, ``fp``, ``tn`` and ``fn`` (questions), ``precision``, ``recall`` and
        ``f1`` in [0, 1], 0 where undefined, as the official scorer has it; ``bias``, feminine F1 /
        masculine F1, None if either is 0; how the intervals were made.

    Raises:
        InputError: the number of decisions is not the number of rows, or one is missing.
    """
    if len(decisions) != rows.num_rows or (None in decisions and not allow_missing):
        there = len(decisions) - sum(decision is None for decision in decisions)
        cure = "give one decision for each row, or allow missing ones"
        raise InputError(f"there are {there} decisions for {rows.num_rows} rows", cure=cure)
    bootstrap, units = Bootstrap.of(rows.num_rows, resamples, seed), np.arange(rows.num_rows)
    counted = _counts(rows, decisions)
    counts, drawn = bootstrap.tally(counted, units, Strata.whole(rows.num_rows))
    observed, resampled = _Questions(counts[0]), _Questions(drawn[:, 0])
    return {
        **dict(zip(BLOCKS, _blocks(observed, resampled, bootstrap), strict=True)),
        **blocks(bias=np.array([observed.bias]))[0],
        "interval": bootstrap.interval_blocks(bias=resampled.bias.reshape(-1, 1))[0],
        "bootstrap": bootstrap.block("id"),
    }


def paired_units(rows: pa.Table, decisions: Sequence[Decision]) -> dict[str, PairedUnits]:
    """Return the items that paired tests between systems compare.

    Returns:
        ``correct``: the rows of which both questions got the right answer, shape ``[rows]``.
    """
    answers = [NEITHER if d.abstained == "none" else d.choice for d in decisions]
    labels = rows["label"].to_pylist()
    return {"correct": np.array([a == b for a, b in zip(answers, labels, strict=True)], np.bool_)}


@dataclass(frozen=True, slots=True)
class _Questions:
    """Sums of counts, shape ``[..., blocks, len(COUNTS)]``."""

    counts: Counts

    def __getitem__(self, name: str) -> Counts:
        return self.counts[..., COUNTS.index(name)]

    @property
    def precision(self) -> FloatArray:
        return np.nan_to_num(ratio(self["tp"], self["tp"] + self["fp"]))

    @property
    def recall(self) -> FloatArray:
        return np.nan_to_num(ratio(self["tp"], self["tp"] + self["fn"]))

    @property
    def f1(self) -> FloatArray:
        total = self.precision + self.recall
        return np.nan_to_num(ratio(2 * self.precision * self.recall, total))

    @property
    def bias(self) -> FloatArray:
        masculine, feminine = self.f1[..., 1], self.f1[..., 2]
        return ratio(feminine, np.where(feminine > 0, masculine, 0.0))


def _blocks(observed: _Questions, resampled: _Questions, bootstrap: Bootstrap) -> list[Block]:
    ratios = ("precision", "recall", "f1")
    return blocks(
        **{name: observed[name] for name in COUNTS},
        **{name: getattr(observed, name) for name in ratios},
        interval=bootstrap.interval_blocks(**{n: getattr(resampled, n) for n in ratios}),
    )


def _counts(rows: pa.Table, decisions: Sequence[Decision | None]) -> IntArray:
    """Count the questions of each row, for each block that it is in.

    Returns:
        Shape ``[rows, len(BLOCKS), len(COUNTS)]``.
    """
    counts: IntArray = np.zeros((rows.num_rows, len(BLOCKS), len(COUNTS)), dtype=np.int64)
    columns = zip(rows["label"].to_pylist(), rows["gender"].to_pylist(), decisions, strict=True)
    for number, (label, gender, decision) in enumerate(columns):
        counts[number, [0, BLOCKS.index(gender)]] = _counted(label, decision)
    return counts


def _counted(label: int, decision: Decision | None) -> list[int]:
    counts = dict.fromkeys(COUNTS, 0) | {"n": 1}
    if decision is None:
        return [*(counts | {"missing": 1, "fn": 2}).values()]
    for candidate in (0, 1):
        yes = decision.choice == candidate or decision.abstained == "both"
        counts[("t" if yes == (label == candidate) else "f") + "np"[yes]] += 1
    return [*counts.values()]

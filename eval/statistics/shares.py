"""The share of rows that are right, with intervals: all that a score of one's own may need."""

from collections.abc import Mapping, Sequence

import numpy as np

from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.intervals import ratio_interval
from pronominal.eval.statistics.outcomes import BoolArray, IntArray, parts_by
from pronominal.eval.statistics.parts import with_rest
from pronominal.eval.statistics.scores import Block, estimate_blocks
from pronominal.eval.statistics.units import Units


def share_scores(
    right: BoolArray,
    units: Sequence[str],
    divisions: Mapping[str, Sequence[str]] | None = None,
    *,
    unit: str = "unit",
) -> Block:
    """Return how many rows are right, overall and by kinds of rows.

    Args:
        right: whether each row is right, shape ``[rows]``.
        units: each row's unit; rows of one unit, such as the versions of a sentence, are taken to
            be right or wrong together.
        divisions: kind, such as ``length`` -> each row's part, such as ``short``.
        unit: what one unit is, such as ``sentence``.

    Returns:
        ``n``, ``accuracy`` in [0, 1], its ``interval`` and the number of ``units``; for each kind
        ``by_KIND``, part -> the same, and how it compares with the other parts (`with_rest`); and
        over what ``intervals`` sum.
    """
    summed = Units.of(unit, units)
    counts = np.stack([right, np.ones_like(right)], axis=1).astype(np.int64)

    def divided(strata: Strata) -> list[Block]:
        sums = summed.sums(counts, strata)
        accuracy = ratio_interval(sums[..., 0], sums[..., 1])
        made = estimate_blocks({"accuracy": accuracy}, n=strata.sizes)
        return with_rest(made, sums[..., 0], sums[..., 1])

    found = divided(Strata.whole(len(right)))[0]
    for kind, parts in (divisions or {}).items():
        strata = Strata.of(parts, sorted({*parts}))
        found[f"by_{kind}"] = strata.named(divided(strata))
    return found | {"intervals": summed.block()}


def unit_shares(right: BoolArray, units: Sequence[str]) -> IntArray:
    """Return how many rows of each unit are right, of how many, for paired tests, ``[units, 2]``.

    A difference of two systems is then that of their `share_scores`, whatever the units' sizes.
    """
    return parts_by(Strata.of(units, sorted({*units})).codes, right, np.ones_like(right))

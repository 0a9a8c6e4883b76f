"""The share of rows that are right, with intervals: all that a score of one's own may need."""

from collections.abc import Mapping, Sequence

import numpy as np

from pronominal.eval.statistics.bootstrap import Bootstrap
from pronominal.eval.statistics.groups import Strata
from pronominal.eval.statistics.outcomes import BoolArray, FloatArray, ratio, shares_by
from pronominal.eval.statistics.scores import Block, blocks


def share_scores(
    right: BoolArray,
    units: Sequence[str],
    divisions: Mapping[str, Sequence[str]] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Block:
    """Return how many rows are right, overall and by kinds of rows.

    Args:
        right: whether each row is right, shape ``[rows]``.
        units: each row's unit; rows of one unit, such as the versions of a sentence, are
            resampled together.
        divisions: kind, such as ``length`` -> each row's part, such as ``short``.
        resamples: number of bootstrap resamples; without any, intervals are null.
        seed: seed of the resamples.

    Returns:
        ``n``, ``accuracy`` in [0, 1] and its ``interval``; for each kind ``by_KIND``, part -> the
        same; and how the intervals were made.
    """
    codes = Strata.of(units, sorted({*units}))
    bootstrap = Bootstrap.of(len(codes.names), resamples, seed)
    counts = np.stack([right, np.ones_like(right)], axis=1).astype(np.int64)

    def divided(strata: Strata) -> list[Block]:
        observed, drawn = bootstrap.tally(counts, codes.codes, strata)
        accuracy = ratio(observed[:, 0], observed[:, 1])
        interval = bootstrap.interval_blocks(accuracy=ratio(drawn[..., 0], drawn[..., 1]))
        return blocks(n=observed[:, 1], accuracy=accuracy, interval=interval)

    found = divided(Strata.whole(len(right)))[0]
    for kind, parts in (divisions or {}).items():
        strata = Strata.of(parts, sorted({*parts}))
        found[f"by_{kind}"] = strata.named(divided(strata))
    return found | {"bootstrap": bootstrap.block("unit")}


def unit_shares(right: BoolArray, units: Sequence[str]) -> FloatArray:
    """Return the share of each unit's rows that are right, for paired tests, shape ``[units]``."""
    return shares_by(Strata.of(units, sorted({*units})).codes, right, np.ones_like(right))

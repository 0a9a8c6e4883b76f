"""Whether a system is worse on a part of the rows than on the others, such as one pronoun set."""

from collections.abc import Sequence

import numpy as np

from pronominal.eval.statistics.intervals import CONFIDENCE
from pronominal.eval.statistics.outcomes import Counts, FloatArray, ratio
from pronominal.eval.statistics.paired_differences import PairedDifferences, Systems
from pronominal.eval.statistics.quantiles import t_tails
from pronominal.eval.statistics.scores import NOTHING, Block, blocks

AGAINST_REST = "against_rest"
"""Where the block of a part has what `against_rest` returns of it."""


def against_rest(part: Counts, whole: Counts) -> list[Block]:
    """Compare a share of each part of the rows with that of all other parts together.

    The parts are of one system, and most units have rows of all of them: an occupation has
    sentences with every pronoun set. So units are compared with themselves, as two systems are
    (`PairedDifferences`); where too few have rows of both, the interval is made of the two shares'
    own. The p-value is the least level at which the interval leaves 0 out.

    Args:
        part: each unit's right rows in each part, shape ``[parts, units]``.
        whole: its rows, in the same shape.

    Returns:
        For each part ``n``, the units with rows of it; ``difference``, its share minus that of the
        others; its ``interval``; and ``p``, two-sided and not corrected. None where the part, or
        the rest, has no rows.
    """
    x = np.asarray(whole, np.float64)
    y, x = (np.asarray(one, np.float64)[:, x.sum(axis=0) > 0] for one in (part, x))
    # of each side as a share of a mean unit, for the rest has more rows
    wholes = np.concatenate([x, x.sum(axis=0) - x])
    mean = wholes.mean(axis=1, keepdims=True)
    parts = np.concatenate([y, y.sum(axis=0) - y])
    systems = Systems(*(np.nan_to_num(ratio(one, mean + 0 * one)) for one in (parts, wholes)))
    found = PairedDifferences.of(systems, [(one, one + len(y)) for one in range(len(y))])
    ends, p = _known(found)
    defined = ~np.isnan(found.estimate)
    made = blocks(n=(x > 0).sum(axis=1), difference=found.estimate, p=np.where(defined, p, np.nan))
    for block, there, interval in zip(made, defined.tolist(), ends.tolist(), strict=True):
        block["interval"] = {"difference": interval if there else None}
        if not there:
            block["interval_missing"] = {"difference": NOTHING}
    return made


def with_rest(made: Sequence[Block], part: Counts, whole: Counts) -> list[Block]:
    """Add `against_rest` to the blocks of the parts, under `AGAINST_REST`; of a single one none."""
    if len(made) < 2:
        return [*made]
    found = against_rest(part, whole)
    return [block | {AGAINST_REST: rest} for block, rest in zip(made, found, strict=True)]


def _known(found: PairedDifferences) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the differences, ``[parts, 2]``, and their p-values, ``[parts]``."""
    by_ratios = found.by_ratios | np.isnan(found.standard_error)
    of_others = found.of_others
    ends = np.where(by_ratios[:, None], of_others.intervals(CONFIDENCE), found.intervals())
    distance = np.nan_to_num(ratio(np.abs(found.estimate), found.standard_error))
    by_units = t_tails(distance, np.full(len(distance), max(found.n - 1, 1)))
    if not by_ratios.any():  # their search takes longer than all else
        return ends, by_units
    return ends, np.where(by_ratios, of_others.p_values(), by_units)

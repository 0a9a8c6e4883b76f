"""The places of systems, with intervals: which of their differences are more than chance."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE
from pronominal.eval.statistics.intervals import FEW
from pronominal.eval.statistics.outcomes import FloatArray
from pronominal.eval.statistics.paired_differences import PairedUnits, Systems, paired_variance
from pronominal.eval.statistics.paired_tests import differ
from pronominal.eval.statistics.quantiles import t_quantile
from pronominal.eval.statistics.scores import Block

RANKS = "ranks"
"""Where a system's scores hold its places: measure -> `rank`."""


def rank(tests: Sequence[Mapping[str, Any]]) -> Block | None:
    """Return a system's place among those that it was tested against.

    The interval goes from the place after all systems that are better beyond doubt to the place
    before all that are worse (`differ`), by p-values corrected over all pairs, so that all
    intervals of a table hold together. Places of resamples would not do: where systems are alike,
    they cover 60 % (Mogstad, Romano, Shaikh and Wilhelm, 2024).

    Args:
        tests: of the system against every other one, as `against` returns them.

    Returns:
        ``n`` (units), ``systems``, ``rank`` (systems with one score share the best place) and its
        ``interval``, among the systems that have a score; None for one that has none, such as a
        precision where nothing was chosen.
    """
    known = [test for test in tests if test["difference"] is not None]
    if not known:
        return None
    clear = [test["difference"] for test in known if differ(test)]
    ahead = sum(difference < 0 for difference in clear)
    behind = sum(difference > 0 for difference in clear)
    systems = len(known) + 1
    return {
        "n": known[0]["n"],
        "systems": systems,
        "rank": 1 + sum(test["difference"] < 0 for test in known),
        "interval": {"rank": [1 + ahead, systems - behind]},
    }


def ranks(tests: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Block]]:
    """Return the place of each system by each measure.

    Args:
        tests: system -> measure -> other system -> the fields of `PairedTest`.

    Returns:
        System -> measure -> `rank`, where it has one; of measures by which three systems at least
        were compared with each other, every two of them.
    """
    found: dict[str, dict[str, Block]] = {system: {} for system in tests}
    for measure in dict.fromkeys(name for of_it in tests.values() for name in of_it):
        compared = {system: of_it.get(measure, {}) for system, of_it in tests.items()}
        systems = sum(1 for others in compared.values() if others)
        if systems > 2 and all(len(others) in (0, systems - 1) for others in compared.values()):
            for system, others in compared.items():
                if others and (place := rank([*others.values()])):
                    found[system][measure] = place
    return found


def ranks_by_t(units: Mapping[str, PairedUnits]) -> dict[str, Block]:
    """Return the places of very many systems, every two of them compared by a paired t-test.

    All differences and their errors follow from one matrix product, so that a thousand systems take
    a second. Drawn signs could tell no two of them apart: 99,999 draws show no p-value that is
    left below 0.05 by Holm's correction over more than 4,999 pairs. Every difference is as certain
    as `paired_variance` makes those of systems that agree nearly everywhere, which is cautious.

    Args:
        units: system -> how much of each unit it got right.

    Returns:
        System -> what `rank` returns, where it has a score.
    """
    systems = Systems.of([*units.values()])
    scored = ~np.isnan(systems.ratios)
    if not scored.all():
        kept = [system for system, has_score in zip(units, scored, strict=True) if has_score]
        return ranks_by_t({system: units[system] for system in kept}) if len(kept) > 1 else {}
    n, ratios = systems.parts.shape[1], systems.ratios
    moved = np.nan_to_num(systems.influences)
    own = (moved**2).sum(axis=1)
    squares = (n - 1) ** 2 * np.maximum(own[:, None] + own - 2 * moved @ moved.T, 0)
    error = np.sqrt(paired_variance(squares, n, np.zeros(1, np.int64))) if n > 1 else np.inf
    with np.errstate(invalid="ignore"):
        distance = (ratios[:, None] - ratios) / error
        clear = np.abs(distance) >= _least_clear(np.abs(distance), n)
        ahead, behind = ((clear & (sign * distance > 0)).sum(axis=1) for sign in (-1, 1))
        places = 1 + (ratios > ratios[:, None]).sum(axis=1)
    many = len(units)
    return {
        system: {
            "n": n,
            "systems": many,
            "rank": int(places[number]),
            "interval": {"rank": [1 + int(ahead[number]), many - int(behind[number])]},
        }
        for number, system in enumerate(units)
    }


def _least_clear(distances: FloatArray, n: int) -> float:
    """Return from which t on a difference is clear, after Holm's correction over all pairs.

    Holm's procedure goes on as long as the next p-value is small enough for the pairs that are
    left: with each step as many more are found as there are, until no step finds any.
    """
    if n < FEW:
        return np.inf
    above = np.triu(np.nan_to_num(distances), 1)
    pairs, found, least = len(distances) * (len(distances) - 1) // 2, -1, np.inf
    while (more := int((above >= least).sum())) > found and more < pairs:
        found, least = more, t_quantile(1 - SIGNIFICANCE / (pairs - more) / 2, n - 1)
    return least

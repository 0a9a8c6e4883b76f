"""WinoNB's tests: do names' associations make a difference, and are some sources harder."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pyarrow as pa

from pronominal.eval.scores.winonb.answers import NUMBERS
from pronominal.eval.statistics.outcomes import BoolArray, FloatArray, IntArray, parts_by
from pronominal.eval.statistics.paired_tests import PairedUnits, paired_tests_of_parts
from pronominal.eval.statistics.quantiles import chi_squared_tail
from pronominal.eval.statistics.scores import Block, Scores


def association_tests(
    rows: pa.Table, right: BoolArray, units: IntArray
) -> dict[str, dict[str, dict[str, Block]]]:
    """Compare the associations of names, in pairs of the same schemas (section 4.3).

    Args:
        rows: a published split.
        right: which rows got the right answer, shape ``[rows]``.
        units: each row's schema, shape ``[rows]``.

    Returns:
        Number -> source, or ``all`` -> ``A-B`` -> the fields of `PairedTest`: A's share of right
        answers minus B's, over the schemas; corrected over the sources and pairs of a number.
    """
    sources, numbers, associations = (
        np.array(rows[name].to_pylist(), dtype=object)
        for name in ("source", "number", "association")
    )
    names = sorted({*associations.tolist()})
    made: dict[str, dict[str, dict[str, Block]]] = {}
    for number in NUMBERS:
        parts: dict[str, dict[str, PairedUnits]] = {}
        for source in (*dict.fromkeys(sources.tolist()), "all"):
            kept = (numbers == number) & ((sources == source) | (source == "all"))
            shares = [parts_by(units, right, kept & (associations == name)) for name in names]
            there = np.any([of_name[:, 1] > 0 for of_name in shares], axis=0)
            parts[source] = {
                name: one[there] for name, one in zip(names, shares, strict=True) if one.any()
            }
        made[number] = {
            source: {f"{a}-{b}": tests[a][b].to_json() for a, b in combinations(parts[source], 2)}
            for source, tests in paired_tests_of_parts(parts).items()
        }
    return made


def across_systems(scores: Mapping[str, Scores]) -> Block:
    """Ask whether some sources are harder than others for all systems alike (section 4.1).

    Args:
        scores: system -> its score.

    Returns:
        ``friedman``: for singular and plural, Friedman's test of the sources' accuracies, with
        systems as blocks: their number as ``n`` and ``systems``, ``statistic`` and ``p``, None with
        fewer than two systems, and where all sources tie in all systems.
    """
    return {"friedman": {number: friedman(_complete(scores, number)) for number in NUMBERS}}


def _complete(scores: Mapping[str, Scores], number: str) -> FloatArray:
    """Return the accuracies of systems that have one on every source, ``[systems, sources]``."""
    accuracies = [
        [block[number]["accuracy"] for name, block in score["by_source"].items() if name != "all"]
        for score in scores.values()
    ]
    return np.array([row for row in accuracies if None not in row], dtype=np.float64)


def friedman(accuracies: FloatArray) -> Block:
    """Return one block of `across_systems`, of accuracies ``[systems, sources]``."""
    found: Block = {"n": len(accuracies), "systems": len(accuracies), "statistic": None, "p": None}
    # sources that tie in every system have no ranks to compare
    if len(accuracies) < 2 or not np.ptp(accuracies, axis=1).any():
        return found
    # a source's rank less the mean one, from how many are below and above it; ties share theirs
    ranks = np.sign(accuracies[:, :, None] - accuracies[:, None, :]).sum(axis=2) / 2
    freedom = accuracies.shape[1] - 1
    statistic = float(freedom * (ranks.sum(axis=0) ** 2).sum() / (ranks**2).sum())
    return found | {"statistic": statistic, "p": chi_squared_tail(statistic, freedom)}

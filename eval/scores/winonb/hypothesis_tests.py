"""WinoNB's tests: do names' associations make a difference, and are some sources harder."""

from collections.abc import Mapping
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import pyarrow as pa

from pronominal.eval.scores.winonb.answers import NUMBERS
from pronominal.eval.statistics.hypothesis_tests import holm, paired_t
from pronominal.eval.statistics.outcomes import BoolArray, FloatArray, IntArray, shares_by
from pronominal.eval.statistics.paired_differences import difference_block
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
        Number -> source, or ``all`` -> ``A-B`` -> ``n`` (schemas), ``difference`` (mean of A's
        share of right answers minus B's, over the schemas) with its ``interval``, ``p`` of the
        paired t-test, and ``p_holm``, corrected over the sources and pairs of a number. p is 1
        where nothing differs, None where every schema differs alike, and without scipy.
    """
    sources, numbers, associations = (
        np.array(rows[name].to_pylist(), dtype=object)
        for name in ("source", "number", "association")
    )
    names = sorted({*associations.tolist()})
    made: dict[str, dict[str, dict[str, Block]]] = {}
    for number in NUMBERS:
        made[number] = {}
        for source in (*dict.fromkeys(sources.tolist()), "all"):
            kept = (numbers == number) & ((sources == source) | (source == "all"))
            shares = {a: shares_by(units, right, kept & (associations == a)) for a in names}
            made[number][source] = {
                f"{a}-{b}": _compared(shares[a] - shares[b]) for a, b in combinations(names, 2)
            }
        _correct([test for tests in made[number].values() for test in tests.values()])
    return made


def across_systems(scores: Mapping[str, Scores]) -> Block:
    """Ask whether some sources are harder than others for all systems alike (section 4.1).

    Args:
        scores: system -> its score.

    Returns:
        ``friedman``: for singular and plural, Friedman's test of the sources' accuracies, with
        systems as blocks: ``systems``, ``statistic`` and ``p``, None with fewer than two systems,
        where all sources tie in all systems, and without scipy.
    """
    return {"friedman": {number: _friedman(scores, number) for number in NUMBERS}}


def _friedman(scores: Mapping[str, Scores], number: str) -> Block:
    accuracies = [
        [block[number]["accuracy"] for name, block in score["by_source"].items() if name != "all"]
        for score in scores.values()
    ]
    complete = np.array([row for row in accuracies if None not in row], dtype=np.float64)
    found: Block = {"systems": len(complete), "statistic": None, "p": None}
    # sources that tie in every system have no ranks to compare
    if len(complete) < 2 or not np.ptp(complete, axis=1).any() or find_spec("scipy") is None:
        return found
    from scipy.stats import friedmanchisquare

    test = friedmanchisquare(*complete.T)
    return found | {"statistic": float(test.statistic), "p": float(test.pvalue)}


def _compared(differences: FloatArray) -> Block:
    there = differences[~np.isnan(differences)]
    tested = len(there) and find_spec("scipy") is not None
    return difference_block(there, np.zeros_like(there)) | {
        "n": len(there),
        "p": paired_t(there) if tested else None,
        "p_holm": None,
    }


def _correct(tests: list[Block]) -> None:
    tested = [test for test in tests if test["p"] is not None]
    for test, corrected in zip(tested, holm([test["p"] for test in tested]), strict=True):
        test["p_holm"] = corrected

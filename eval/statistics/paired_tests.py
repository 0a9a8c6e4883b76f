"""Whether two systems differ: paired tests on the same rows, corrected for their number.

The tests are scipy's and statsmodels'; without them (the extra ``stats``) the counts are there and
the p-values are None.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy as np

from pronominal.eval.statistics.hypothesis_tests import (
    RESAMPLES,
    SEED,
    holm,
    mcnemar,
    paired_t,
    permutation,
)
from pronominal.eval.statistics.outcomes import BoolArray, FloatArray

PairedUnits = BoolArray | FloatArray
"""How much of each independent unit a system got right, in [0, 1], shape ``[units]``.

The units are the same for every system. A unit is one item, right or not, or several that stand
or fall together, such as the sentences of a template pair.
"""

Known = dict[str, tuple[float, float | None]]
"""p-values of a test and of the t-test, by what was tested: those of WinoNB take a minute."""

MCNEMAR, PERMUTATION = "mcnemar", "permutation"

ACROSS = "across_systems"
"""Where scores hold what is asked of all systems together, and the scorers' function for it."""

AGAINST = "against"
"""Where a system's scores hold its paired tests: measure -> other system -> `PairedTest`."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """A test of one system against another, unit by unit.

    Attributes:
        n: units.
        only_this: units of which this system got more right than the other one; where units are
            single items, those that it alone got right.
        only_other: units of which the other one got more right.
        difference: this system's mean over the units minus the other one's, in [-1, 1].
        test: `MCNEMAR` where units are single items, `PERMUTATION` where they are several.
        p: two-sided p-value; 1 for systems that agree everywhere.
        p_holm: the same after Holm's correction over all pairs of systems in the comparison.
        p_t: two-sided p-value of the paired t-test of the same differences, uncorrected.
    """

    n: int
    only_this: int
    only_other: int
    difference: float | None
    test: str
    p: float | None
    p_holm: float | None
    p_t: float | None


def paired_tests(
    right: Mapping[str, PairedUnits], known: Known | None = None
) -> dict[str, dict[str, PairedTest]]:
    """Test every pair of systems.

    Args:
        right: system -> how much of each unit it got right.
        known: p-values that need not be computed; those that had to be are added.

    Returns:
        System -> other system -> test; both directions of a pair have the same p-values.
    """
    single = all(bool(np.isin(part, (0, 1)).all()) for part in right.values())
    test = MCNEMAR if single else PERMUTATION
    known = {} if known is None else known
    pairs = {
        (a, b): np.asarray(right[a], np.float64) - np.asarray(right[b], np.float64)
        for a, b in combinations(right, 2)
    }
    p: list[float | None] = [None] * len(pairs)
    corrected, p_t = p, p
    if find_spec("statsmodels") is not None:
        computed = [_p_values(test, differences, known) for differences in pairs.values()]
        found = [one for one, _ in computed]
        p, corrected, p_t = [*found], [*holm(found)], [of_t for _, of_t in computed]
    tests: dict[str, dict[str, PairedTest]] = {system: {} for system in right}
    for ((a, b), differences), *values in zip(pairs.items(), p, corrected, p_t, strict=True):
        tests[a][b] = _paired_test(test, differences, *values)
        tests[b][a] = _paired_test(test, -differences, *values)
    return tests


def _p_values(test: str, differences: FloatArray, known: Known) -> tuple[float, float | None]:
    """Return the p-values of a test and of the t-test; both directions of a pair have the same."""
    first = next(iter(differences[differences != 0]), 0.0)
    signed = -differences if first < 0 else differences
    kind = test if test == MCNEMAR else f"{test}-{RESAMPLES}-{SEED}"
    key = f"{kind}-{hashlib.sha256((signed + 0.0).tobytes()).hexdigest()[:24]}"
    if key not in known:
        exact = mcnemar(*_counts(differences)) if test == MCNEMAR else permutation(differences)
        known[key] = exact, paired_t(differences)
    return known[key]


def _counts(differences: FloatArray) -> tuple[int, int]:
    return int((differences > 0).sum()), int((differences < 0).sum())


def _paired_test(test: str, differences: FloatArray, *p: float | None) -> PairedTest:
    mean = float(differences.mean()) if len(differences) else None
    return PairedTest(len(differences), *_counts(differences), mean, test, *p)


def against(
    right: Mapping[str, Mapping[str, PairedUnits]],
    known: Known | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, dict[str, Any]]:
    """Return the block `AGAINST` of each system's scores.

    Args:
        right: measure, such as ``correct`` -> system -> how much of each unit it got right.
        known: as in `paired_tests`.
        progress: told how many measures are done.

    Returns:
        System -> measure -> other system -> the fields of `PairedTest`.
    """
    made: dict[str, dict[str, Any]] = {}
    for done, (measure, systems) in enumerate(right.items(), start=1):
        for system, tests in paired_tests(systems, known).items():
            against_others = {other: asdict(test) for other, test in tests.items()}
            made.setdefault(system, {})[measure] = against_others
        progress(done)
    return made

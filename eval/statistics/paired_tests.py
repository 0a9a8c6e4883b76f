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
import numpy.typing as npt

from pronominal.eval.statistics.hypothesis_tests import (
    RESAMPLES,
    SEED,
    holm,
    mcnemar,
    paired_t,
    permutation,
)

PairedUnits = npt.NDArray[np.bool_] | npt.NDArray[np.float64]
"""How much of each independent unit a system got right, in [0, 1], shape ``[units]``.

The units are the same for every system. A unit is one item, right or not, or several that stand
or fall together, such as the sentences of a template pair.
"""

Known = dict[str, tuple[float, float | None]]
"""p-values by `_Pair.key`, of a test and of the t-test: those of WinoNB take a minute."""

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
    pairs = [_Pair.of(right[a], right[b], single) for a, b in combinations(right, 2)]
    known = {} if known is None else known
    p: list[float | None] = [None] * len(pairs)
    corrected, p_t = p, p
    if find_spec("statsmodels") is not None:
        for pair in pairs:
            if pair.key not in known:
                known[pair.key] = (pair.p(), paired_t(pair.differences))
        found = [known[pair.key][0] for pair in pairs]
        p, corrected = [*found], [*holm(found)]
        p_t = [known[pair.key][1] for pair in pairs]
    tests: dict[str, dict[str, PairedTest]] = {system: {} for system in right}
    places = zip(combinations(right, 2), pairs, p, corrected, p_t, strict=True)
    for (a, b), pair, *values in places:
        tests[a][b] = pair.test(*values)
        tests[b][a] = pair.reversed().test(*values)
    return tests


@dataclass(frozen=True, slots=True)
class _Pair:
    differences: npt.NDArray[np.float64]
    single_items: bool

    @classmethod
    def of(cls, this: PairedUnits, other: PairedUnits, single_items: bool) -> "_Pair":
        return cls(np.asarray(this, np.float64) - np.asarray(other, np.float64), single_items)

    def reversed(self) -> "_Pair":
        return _Pair(-self.differences, self.single_items)

    @property
    def key(self) -> str:
        """Name the test by what it is of; the other direction of a pair has the same p-values."""
        first = next(iter(self.differences[self.differences != 0]), 0.0)
        signed = -self.differences if first < 0 else self.differences
        kind = MCNEMAR if self.single_items else f"{PERMUTATION}-{RESAMPLES}-{SEED}"
        return f"{kind}-{hashlib.sha256((signed + 0.0).tobytes()).hexdigest()[:24]}"

    @property
    def counts(self) -> tuple[int, int]:
        return int((self.differences > 0).sum()), int((self.differences < 0).sum())

    def p(self) -> float:
        return mcnemar(*self.counts) if self.single_items else permutation(self.differences)

    def test(self, p: float | None, p_holm: float | None, p_t: float | None) -> PairedTest:
        n = len(self.differences)
        return PairedTest(
            n,
            *self.counts,
            float(self.differences.mean()) if n else None,
            MCNEMAR if self.single_items else PERMUTATION,
            p,
            p_holm,
            p_t,
        )


def against(
    right: Mapping[str, Mapping[str, PairedUnits]],
    known: Known | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, dict[str, Any]]:
    """Return the block `AGAINST` of each system's scores.

    Args:
        right: measure, such as ``correct`` -> system -> how much of each unit it got
            right.
        known: as in `paired_tests`.
        progress: told how many measures are done.

    Returns:
        System -> measure -> other system -> the fields of `PairedTest`.
    """
    made: dict[str, dict[str, Any]] = {}
    for done, (measure, systems) in enumerate(right.items(), start=1):
        for system, tests in paired_tests(systems, known).items():
            made.setdefault(system, {})[measure] = {
                other: asdict(test) for other, test in tests.items()
            }
        progress(done)
    return made

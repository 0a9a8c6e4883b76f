"""Whether two systems differ, and by how much: on the same units, corrected for their number."""

import gc
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from pronominal.errors import InputError
from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE, holm, mcnemar
from pronominal.eval.statistics.intervals import FEW
from pronominal.eval.statistics.outcomes import FloatArray, ratio
from pronominal.eval.statistics.paired_differences import PairedDifferences, Systems
from pronominal.eval.statistics.paired_differences import PairedUnits as PairedUnits
from pronominal.eval.statistics.scores import Block, blocks
from pronominal.eval.statistics.sign_flips import Pairs, sign_flip_p_values

MCNEMAR, PERMUTATION, INTERVAL = "mcnemar", "permutation", "interval"

ACROSS = "across_systems"
"""Where scores hold what is asked of all systems together, and the scorers' function for it."""

PLANNED = "planned"
"""Where a system's scores hold the paired tests of a plan, apart from all others."""

AGAINST = "against"
"""Where a system's scores hold its paired tests: measure -> other system -> `PairedTest`."""


@dataclass(frozen=True, slots=True)
class PairedTest:
    """One system against another, unit by unit.

    Attributes:
        n: units.
        only_this: units of which this system got a higher share right than the other one; where
            units are single items, those that it alone got right.
        only_other: units of which the other one got a higher share right.
        difference: this system's score minus the other one's, in [-1, 1].
        interval: ``difference`` -> the ends of its 95 % interval, for this pair alone.
        interval_missing: ``difference`` -> why there is none; empty where there is one.
        minimum_detectable_effect: the true difference that would be found in 80 % of such
            comparisons, after correction for all pairs.
        test: `MCNEMAR` where units are single items, `PERMUTATION` where they are several, and
            `INTERVAL` where the two divide by different things, as precisions of systems that
            chose in other rows do.
        p: two-sided; 1 for systems that agree everywhere. A mid-p-value of the first two tests; of
            the third one the least level at which the interval leaves 0 out. None where both have
            something to divide by in fewer than `FEW` units, as a precision of a system that
            seldom chooses.
        p_holm: the same after Holm's correction over all pairs of systems in the comparison.
        equivalence: where a margin was given, ``n``, ``margin``, the 90 % ``interval`` of the
            difference (`PairedDifferences.outer_intervals`), and whether the systems are
            ``equivalent``: the interval lies within the margin, and there are `FEW` units or more.
    """

    n: int
    only_this: int
    only_other: int
    difference: float | None
    interval: Mapping[str, list[float] | None]
    interval_missing: Mapping[str, str]
    minimum_detectable_effect: float | None
    test: str
    p: float | None
    p_holm: float | None
    equivalence: Block | None = None

    def to_json(self) -> Block:
        """Return the fields that are there."""
        # asdict would copy what is in them, which takes longer than the tests of many systems
        found = {name: getattr(self, name) for name in self.__slots__}
        for name in ("interval_missing", "equivalence"):
            if not found[name]:
                del found[name]
        return found

    @property
    def reversed(self) -> "PairedTest":
        """The same test from the other system's side."""
        # dataclasses.replace takes several times as long
        return PairedTest(
            self.n,
            self.only_other,
            self.only_this,
            None if self.difference is None else 0.0 - self.difference,
            _mirrored(self.interval),
            self.interval_missing,
            self.minimum_detectable_effect,
            self.test,
            self.p,
            self.p_holm,
            self.equivalence
            and {**self.equivalence, "interval": _mirrored(self.equivalence["interval"])},
        )


def _mirrored(interval: Mapping[str, list[float] | None]) -> dict[str, list[float] | None]:
    return {
        name: None if ends is None else [0.0 - ends[1], 0.0 - ends[0]]
        for name, ends in interval.items()
    }


def paired_tests(
    units: Mapping[str, PairedUnits],
    pairs: Sequence[tuple[str, str]] | None = None,
    margin: float | None = None,
) -> dict[str, dict[str, PairedTest]]:
    """Test pairs of systems: every two of them, or those that are named.

    Args:
        units: system -> how much of each unit it got right.
        pairs: of systems; p-values are corrected for their number.
        margin: how far apart equivalent systems may be, in (0, 1).

    Returns:
        System -> other system -> test; both directions of a pair have the same p-values.
    """
    return paired_tests_of_parts({"": units}, pairs, margin)[""]


def paired_tests_of_parts(
    parts: Mapping[str, Mapping[str, PairedUnits]],
    pairs: Sequence[tuple[str, str]] | None = None,
    margin: float | None = None,
) -> dict[str, dict[str, dict[str, PairedTest]]]:
    """Test pairs in several parts of the rows, corrected for the tests of all parts together.

    Args:
        parts: part -> system, or what else is compared on the same units -> units. The units of
            one part need not be those of another.
        pairs: as in `paired_tests`, the same in all parts.
        margin: as in `paired_tests`.

    Returns:
        Part -> what `paired_tests` returns.
    """
    compared = {part: _Pairs.of(units, pairs) for part, units in parts.items()}
    family = [p for one in compared.values() for p in one.p if p is not None]
    corrected = iter(holm(family))
    return {part: one.tests(corrected, len(family), margin) for part, one in compared.items()}


@dataclass(frozen=True, slots=True)
class _Pairs:
    """Pairs of systems on the same units, before the correction of their p-values.

    Attributes:
        names: of the systems.
        pairs: of their places.
        differences: one for each pair; None without a pair.
        p: one for each pair; None where the two cannot be tested.
        single: whether each unit is one row, which makes the test `MCNEMAR`.
    """

    names: list[str]
    pairs: list[tuple[int, int]]
    differences: PairedDifferences | None
    p: list[float | None]
    single: bool = False

    @classmethod
    def of(
        cls, units: Mapping[str, PairedUnits], pairs: Sequence[tuple[str, str]] | None
    ) -> "_Pairs":
        names = [*units]
        asked = [*combinations(names, 2)] if pairs is None else pairs
        place = {name: number for number, name in enumerate(names)}
        places = [(place[a], place[b]) for a, b in asked]
        if not places:
            return cls(names, [], None, [])
        systems = Systems.of([*units.values()])
        differences = PairedDifferences.of(systems, places)
        p = _p_values(systems, differences, places)
        return cls(names, places, differences, p, systems.single)

    def tests(
        self, corrected: Iterator[float], family: int, margin: float | None
    ) -> dict[str, dict[str, PairedTest]]:
        """Return the tests of each name against the others, taking corrected p-values in turn."""
        made: dict[str, dict[str, PairedTest]] = {name: {} for name in self.names}
        p_holm = [None if one is None else next(corrected) for one in self.p]
        for (a, b), test in zip(self.pairs, self._tests(p_holm, family, margin), strict=True):
            one, other = self.names[a], self.names[b]
            made[one][other], made[other][one] = test, test.reversed
        return made

    def _tests(
        self, p_holm: list[float | None], family: int, margin: float | None
    ) -> Iterator[PairedTest]:
        found = self.differences
        if found is None:
            return
        kinds = np.where(found.alike, PERMUTATION, INTERVAL).tolist()
        columns = blocks(
            only_this=found.more,
            only_other=found.fewer,
            difference=found.estimate,
            minimum_detectable_effect=found.minimum_detectable_effects(max(family, 1)),
            p=self.p,
            p_holm=p_holm,
            test=[MCNEMAR] * len(self.pairs) if self.single else kinds,
        )
        ends, inner = found.intervals(), found.outer_intervals(1 - 2 * SIGNIFICANCE)
        for number, (block, outer, core) in enumerate(zip(columns, ends, inner, strict=True)):
            why = found.missing(number)
            yield PairedTest(
                n=found.n,
                **block,
                **_interval(outer, why),
                equivalence=None if margin is None else _equivalence(margin, found.n, core, why),
            )


def _p_values(systems: Systems, differences: PairedDifferences, pairs: Pairs) -> list[float | None]:
    """Return the p-value of each pair; None where the two cannot be tested."""
    if systems.single:
        counts = zip(differences.more.tolist(), differences.fewer.tolist(), strict=True)
        return [mcnemar(*both) if differences.n else None for both in counts]
    found: list[float | None] = [None] * len(pairs)
    flipped = np.flatnonzero(differences.testable & differences.alike).tolist()
    mean = systems.size[:, None] / max(differences.n, 1)
    parts = np.nan_to_num(ratio(systems.parts, np.broadcast_to(mean, systems.parts.shape)))
    by_signs = sign_flip_p_values(parts, [pairs[place] for place in flipped])
    for place, p in zip(flipped, by_signs.tolist(), strict=True):
        found[place] = p
    others = differences.testable & ~differences.alike
    if others.any():
        by_intervals = differences.of_others.p_values().tolist()
        for place in np.flatnonzero(others).tolist():
            found[place] = by_intervals[place]
    return found


def _interval(ends: FloatArray, why: str | None) -> Block:
    """Return the interval of a difference as scores have it, or the reason why there is none."""
    if why is None:
        return {"interval": {"difference": ends.tolist()}, "interval_missing": {}}
    return {"interval": {"difference": None}, "interval_missing": {"difference": why}}


def _equivalence(margin: float, units: int, ends: FloatArray, why: str | None) -> Block:
    """Ask by two one-sided tests whether two systems are closer than a margin (Schuirmann 1987).

    With fewer than `FEW` units that is never shown.
    """
    inside = bool((np.abs(ends) < margin).all()) and units >= FEW  # not without an interval
    return {"n": units, "margin": margin, "equivalent": inside, **_interval(ends, why)}


def refuse_no_margin(margin: float | None) -> None:
    """Raise `InputError` for what cannot be how far apart equivalent systems may be."""
    is_number = isinstance(margin, int | float) and not isinstance(margin, bool)
    if margin is not None and not (is_number and 0 < margin < 1):
        cure = "give a share between 0 and 1, as 0.05 for five points"
        raise InputError(f"the margin {margin!r:.40} is none", cure=cure)


def differ(test: Mapping[str, Any]) -> bool:
    """Whether two systems differ beyond doubt, by the fields of their `PairedTest`.

    The corrected p-value and the interval have to agree: where few units differ, the interval is
    wider than the test, and a difference that it does not tell from 0 is no verdict.
    """
    corrected, ends = test["p_holm"], test["interval"]["difference"]
    clear = ends is not None and not ends[0] <= 0 <= ends[1]
    return clear and corrected is not None and corrected < SIGNIFICANCE and test["n"] >= FEW


@contextmanager
def _uncollected() -> Iterator[None]:
    """Make a million objects that hold no cycles without a search for cycles every few thousand."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@_uncollected()
def against(
    units: Mapping[str, Mapping[str, PairedUnits]],
    pairs: Mapping[str, Sequence[tuple[str, str]]] = MappingProxyType({}),
    margin: float | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, dict[str, Any]]:
    """Return the block `AGAINST` of each system's scores.

    Args:
        units: measure, such as ``correct`` -> system -> how much of each unit it got right.
        pairs: measure -> the pairs that are tested by it; every two systems without.
        margin: as in `paired_tests`.
        progress: told how many measures are done.

    Returns:
        System -> measure -> other system -> the fields of `PairedTest`.
    """
    made: dict[str, dict[str, Any]] = {}
    known: dict[Hashable, dict[str, dict[str, Block]]] = {}
    for done, (measure, systems) in enumerate(units.items(), start=1):
        asked = pairs.get(measure)
        key = _compared(systems), None if asked is None else tuple(asked)
        if key not in known:
            known[key] = {
                system: {other: test.to_json() for other, test in tests.items()}
                for system, tests in paired_tests(systems, asked, margin).items()
                if tests
            }
        for system, of_others in known[key].items():
            made.setdefault(system, {})[measure] = of_others
        progress(done)
    return made


def _compared(units: Mapping[str, PairedUnits]) -> Hashable:
    """Return what tests depend on: of who always chooses, F1 counts twice what accuracy does."""
    systems = Systems.of([*units.values()])
    total = systems.wholes.sum() or 1
    parts, wholes = (one / total for one in (systems.parts, systems.wholes))
    return tuple(units), systems.single, parts.shape, parts.tobytes(), wholes.tobytes()

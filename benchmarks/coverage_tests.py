"""Tests of what is alike, which should find a difference in 5 %; for `coverage.py`."""

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from coverage_differences import compared, lower, trainings, two_precisions, two_systems
from coverage_figures import Floats, Setting, unit_sizes

from pronominal.eval.scores.winonb.hypothesis_tests import friedman
from pronominal.eval.scores.winopron.bias_chance import direction_p, forms_differ, overlap
from pronominal.eval.scores.winopron.occupations import pearson
from pronominal.eval.statistics.hypothesis_tests import (
    SIGNIFICANCE,
    holm,
    mcnemar,
    paired_t,
    pairwise_tests,
)
from pronominal.eval.statistics.paired_differences import PairedDifferences, Systems
from pronominal.eval.statistics.ranks import rank
from pronominal.eval.statistics.sign_flips import sign_flip_p_values

LEVELS = (0.5, 0.7, 0.9, 0.97)
FEW_FLIPS, FLIPS = 1999, 4999
"""Changes of sign of one comparison, and of a family, of whose p-values the correction is made."""

P_VALUES = dict[str, Any]
"""Test -> the p-values of its comparisons; NaN where there is no test."""


Place = tuple[int, float, float]
"""Units, level and correlation."""


def places(
    units: Sequence[int], levels: Sequence[float], correlations: Sequence[float] = (0.3,)
) -> Sequence[Place]:
    """Return every cell of these."""
    return [*itertools.product(units, levels, correlations)]


def items(s: Setting) -> P_VALUES:
    """Systems that err independently, item by item."""
    differing = s.generator.binomial(s.units, 2 * s.level * (1 - s.level), s.samples)
    more = s.generator.binomial(differing, 0.5)
    both = zip(more.tolist(), (differing - more).tolist(), strict=True)
    return {"McNemar": [mcnemar(*one) for one in both]}


def units(s: Setting) -> P_VALUES:
    """Systems for which the same units tend to be hard."""
    found = {}
    for name, sizes in (("permutation", 8), ("permutation, unequal units", unit_sizes(s))):
        whole = np.broadcast_to(sizes, s.shape)
        parts = np.concatenate(two_systems(s, whole, 0.0)) / np.tile(
            whole.mean(axis=1, keepdims=True), (2, 1)
        )
        pairs = [(i, i + s.samples) for i in range(s.samples)]
        found[name] = sign_flip_p_values(parts, pairs, resamples=FEW_FLIPS)
    return found


def precisions(s: Setting) -> P_VALUES:
    """Precisions, where one system answers nine rows of ten and the other fewer."""
    made = {}
    for answered in (0.8, 0.4, 0.2):
        right, rows = two_precisions(s, 0.0, answered)
        found = compared(*right, *rows)
        p = found.of_others.p_values()
        name = f"precisions, {100 * answered:g} % answered"
        made[name] = np.where(found.testable, p, np.nan)
    return made


def schemas(s: Setting) -> P_VALUES:
    """WinoNB's paired t-test: two associations of five names in the same schemas."""
    shares = [part / 5 for part in two_systems(s, np.full(s.shape, 5), 0.0)]
    return {"paired t": [paired_t(one) for one in shares[0] - shares[1]]}


def seeds(s: Setting) -> P_VALUES:
    """RUFF's Welch tests: two pronoun sets over contexts that each seed draws anew."""
    found = {}
    for number in (3, 5):
        at = Setting(s.generator, s.samples, 2 * number, s.level, s.correlation)
        shares = at.successes(540, at.varied(s.level, 0.002)) / 540
        tests = (pairwise_tests({"a": one[:number], "b": one[number:]}) for one in shares)
        found[f"Welch, {number} seeds"] = [test and test["a-b"]["p"] for test in tests]
    return found


def retrained(s: Setting) -> P_VALUES:
    """Two trainings that are alike, found to differ where the interval leaves 0 out."""
    found = {}
    for number in (2, 3, 5):
        at = Setting(s.generator, 4 * s.samples, s.units, s.level, s.correlation)
        _, _, (low, high) = next(trainings(at, number, 0.0))
        found[f"two trainings, {number} seeds"] = np.where((low > 0) | (high < 0), 0.0, 1.0)
    return found


def equivalence(s: Setting) -> P_VALUES:
    """Systems that are as far apart as the margin, found to be nearer."""
    gap = s.level - lower(s.level, 0.1)
    sizes = np.full(s.shape, 24)
    found = compared(*two_systems(s, sizes, gap), sizes, sizes)
    inside = (np.abs(found.outer_intervals(1 - 2 * SIGNIFICANCE)) < gap).all(axis=1)
    return {"equivalence, at the margin": np.where(inside, 0.0, 1.0)}


def template_pairs(s: Setting) -> tuple[Any, Any]:
    """Draw whether each pair's endings are right with each set, ``[samples, units, 4, 2]``.

    Returned with whether each set of a pair was answered in both endings: a tenth was not.
    """
    hard = s.varied(s.level, s.correlation / 2)[..., None, None]
    right = s.generator.random((*s.shape, 4, 2)) < hard
    answered = s.generator.random((*s.shape, 4)) < 0.9
    return right & answered[..., None], answered


def biases(s: Setting) -> P_VALUES:
    """A system for which pronoun sets are alike, and both signs."""
    right, answered = template_pairs(s)
    solvable = right.all(axis=3).any(axis=2)
    one_right = (right.sum(axis=3) == 1) & answered
    differ, direction = [], []
    for at in range(s.samples):
        kept = solvable[at]
        differ.append(forms_differ(answered[at, kept], one_right[at, kept]))
        signs = right[at, kept, 0, 0][one_right[at, kept, 0]]
        direction.append(direction_p(int(signs.sum()), int((~signs).sum())))
    return {"bias: forms differ": differ, "bias: signs": direction}


def likeness(s: Setting) -> P_VALUES:
    """The biased occupations of two cases that have nothing in common."""
    blocks: list[list[dict[str, list[str]]]] = []
    for _ in range(2):
        right, answered = template_pairs(s)
        solvable = right.all(axis=3).any(axis=2) & answered[..., 0]
        biased = solvable & (right[:, :, 0].sum(axis=2) == 1)
        signs = right[:, :, 0, 0]
        kinds = {"positive": biased & signs, "negative": biased & ~signs}
        kinds["solvable_occupations"] = solvable
        of_each = ({name: one[at] for name, one in kinds.items()} for at in range(s.samples))
        blocks.append([{n: np.flatnonzero(one).tolist() for n, one in b.items()} for b in of_each])
    overlaps = [overlap(*both) for both in zip(*blocks, strict=True)]
    return {
        f"likeness, {kind}, {side}": [found[kind][f"p_{side}"] for found in overlaps]
        for kind in ("signed", "unsigned")
        for side in ("more", "less")
    }


def families(s: Setting, levels: Floats) -> Iterator[dict[tuple[int, int], Any]]:
    """Yield each family's tests of all pairs of systems, corrected; units are hard for all."""
    pairs = [*itertools.combinations(range(len(levels)), 2)]
    for _ in range(s.samples):
        hard = s.generator.beta(2, 2, s.units) - 0.5
        chance = levels[:, None] + hard * min(s.level, 1 - s.level)
        shares = s.generator.binomial(8, np.clip(chance, 0, 1)) / 8
        p = holm(sign_flip_p_values(shares, pairs, resamples=FLIPS).tolist())
        found = PairedDifferences.of(Systems(shares, np.ones_like(shares)), pairs)
        yield {
            pair: {"n": s.units, "difference": apart, "interval": {"difference": ends}, "p_holm": p}
            for pair, apart, ends, p in zip(
                pairs, found.estimate.tolist(), found.intervals().tolist(), p, strict=True
            )
        }


def all_alike(s: Setting) -> P_VALUES:
    """Families of systems that are alike: whether any two differ, and any place is left out."""
    found: P_VALUES = {}
    for systems in (5, 10):
        made = [*families(s, np.full(systems, s.level))]
        found[f"Holm, any of {systems} systems"] = [
            min(test["p_holm"] for test in tests.values()) for tests in made
        ]
        found[f"ranks, any of {systems} systems"] = [
            float(all(rank == [1, systems] for rank in _ranks(tests, systems))) for tests in made
        ]
    return found


def _ranks(tests: Mapping[tuple[int, int], Any], systems: int) -> list[list[int]]:
    """Return the interval of each system's rank."""
    found = []
    for one in range(systems):
        others = [
            test | {"difference": test["difference"] * (1 if a == one else -1)}
            for (a, b), test in tests.items()
            if one in (a, b)
        ]
        found.append(rank(others)["interval"]["rank"])
    return found


def ranks_in_ties(simulations: int, seed: int, only: str) -> Iterator[dict[str, Any]]:
    """Yield how often the ranks of six systems, two of each level, hold all at once."""
    name = "ranks in ties"
    for level in (0.5, 0.75) if re.search(only, name) else ():
        s = Setting.seeded(name, seed, simulations, 60, level, 0.3)
        places = [2 * (one // 2) for one in range(6)]
        held = [
            all(
                low <= place + 1 and place + 2 <= high
                for (low, high), place in zip(_ranks(tests, 6), places, strict=True)
            )
            for tests in families(s, level - 0.04 * np.array(places))
        ]
        yield {"level": level, "samples": len(held), "coverage": float(np.mean(held))}


def correlated(s: Setting) -> P_VALUES:
    """Gaps of occupations that have nothing to do with their percentages of women."""
    x = s.generator.uniform(0, 100, s.shape)
    gaps = s.generator.binomial(24, s.varied(s.level, s.correlation)) / 24
    found = (pearson(*both)["p"] for both in zip(x, gaps, strict=True))
    return {"correlation of occupations": [*found]}


def sources(s: Setting) -> P_VALUES:
    """Friedman's test of four sources that are alike, for as many systems as are compared."""
    made: P_VALUES = {}
    for systems in (5, 10):
        right = s.generator.binomial(s.units, s.level, (s.samples, systems, 4)) / s.units
        made[f"Friedman, {systems} systems"] = [friedman(one)["p"] for one in right]
    return made


TESTS: dict[str, tuple[Callable[[Setting], P_VALUES], Sequence[Place]]] = {
    "McNemar": (items, places((100, 400, 1247), LEVELS)),
    "Welch": (seeds, places((60,), LEVELS)),
    "permutation": (units, places((30, 60, 180), LEVELS, (0.05, 0.3, 0.6))),
    "precisions": (precisions, places((30, 60, 180), LEVELS, (0.05, 0.3, 0.6))),
    "equivalence": (equivalence, places((30, 60, 180), LEVELS, (0.05, 0.3, 0.6))),
    "paired t": (schemas, places((30, 60, 180), LEVELS)),
    "two trainings": (retrained, places((30, 180), LEVELS)),
    "bias": (biases, places((60,), LEVELS[:3])),
    "likeness": (likeness, places((60,), LEVELS[:3])),
    "correlation": (correlated, places((30, 60), LEVELS[:3])),
    "Friedman": (sources, places((200,), LEVELS[:3])),
    "Holm and ranks": (all_alike, places((60,), (0.5, 0.75))),
}
"""Tests, and the units, levels and correlations at which they are asked."""


def test_errors(simulations: int, seed: int, only: str) -> Iterator[dict[str, Any]]:
    """Yield how often each test finds what is not there, of the comparisons that it can test."""
    asked = ((name, *of_it) for name, of_it in TESTS.items() if re.search(only, name))
    for name, make, place in ((name, make, one) for name, make, at in asked for one in at):
        s = Setting.seeded(name, seed, simulations, *place)
        for test, p_values in make(s).items():
            p = np.array(p_values, np.float64)
            p = p[~np.isnan(p)]
            about = {"test": test, "units": s.units, "level": s.level, "correlation": s.correlation}
            yield about | {"comparisons": len(p), "error": float(np.mean(p <= SIGNIFICANCE))}

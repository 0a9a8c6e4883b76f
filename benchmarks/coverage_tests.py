"""Tests of what is alike, which should find a difference in 5 %; for `coverage.py`."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from coverage_figures import (
    Floats,
    Setting,
    compared,
    lower,
    trainings,
    two_precisions,
    two_systems,
    unit_sizes,
)

from pronominal.eval.scores.winopron.bias_chance import direction_p, forms_differ, overlap
from pronominal.eval.statistics.hypothesis_tests import (
    SIGNIFICANCE,
    holm,
    mcnemar,
    paired_t,
    pairwise_tests,
)
from pronominal.eval.statistics.ranks import rank
from pronominal.eval.statistics.sign_flips import sign_flip_p_values

LEVELS = (0.5, 0.7, 0.9, 0.97)
FEW_FLIPS, FLIPS = 1999, 4999
"""Changes of sign of one comparison, and of a family, of whose p-values the correction is made."""

P_VALUES = dict[str, Any]
"""Test -> the p-values of its comparisons; NaN where there is no test."""


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
        found = two_precisions(s, 0.0, answered)
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
    for number in (3, 5):
        at = Setting(s.generator, 4 * s.samples, s.units, s.level, s.correlation)
        _, (low, high) = trainings(at, number, 0.0)
        found[f"two trainings, {number} seeds"] = np.where((low > 0) | (high < 0), 0.0, 1.0)
    return found


def equivalence(s: Setting) -> P_VALUES:
    """Systems that are as far apart as the margin, found to be nearer."""
    gap = s.level - lower(s.level, 0.1)
    sizes = np.full(s.shape, 24)
    found = compared(*two_systems(s, sizes, gap), sizes, sizes)
    inside = (np.abs(found.intervals(1 - 2 * SIGNIFICANCE)) < gap).all(axis=1)
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


def families(s: Setting, systems: int, levels: Floats) -> Iterator[dict[tuple[int, int], Any]]:
    """Yield each family's tests of all pairs of systems, corrected; units are hard for all."""
    pairs = [*itertools.combinations(range(systems), 2)]
    for _ in range(s.samples):
        hard = s.generator.beta(2, 2, s.units) - 0.5
        chance = levels[:, None] + hard * min(s.level, 1 - s.level)
        shares = s.generator.binomial(8, np.clip(chance, 0, 1)) / 8
        p = holm(sign_flip_p_values(shares, pairs, resamples=FLIPS).tolist())
        means = shares.mean(axis=1)
        yield {
            (a, b): {"n": s.units, "difference": means[a] - means[b], "p_holm": one}
            for (a, b), one in zip(pairs, p, strict=True)
        }


def all_alike(s: Setting) -> P_VALUES:
    """Families of systems that are alike: the smallest corrected p-value of each."""
    return {
        f"Holm, any of {systems} systems": [
            min(test["p_holm"] for test in tests.values())
            for tests in families(s, systems, np.full(systems, s.level))
        ]
        for systems in (5, 10)
    }


def tied_ranks(s: Setting) -> P_VALUES:
    """Systems in pairs of ties: whether any rank's interval leaves out a place of its tie."""
    levels = s.level - 0.08 * np.repeat([0, 1, 2], 2)
    found = []
    for tests in families(s, 6, levels):
        held = []
        for one in range(6):
            others = [
                test | {"difference": test["difference"] * (1 if a == one else -1)}
                for (a, b), test in tests.items()
                if one in (a, b)
            ]
            low, high = rank(others)["interval"]["rank"]
            held.append(low <= one // 2 * 2 + 1 and one // 2 * 2 + 2 <= high)
        found.append(1.0 if all(held) else 0.0)
    return {"ranks, any of 6 in ties": found}


def grid(simulations: int, seed: int) -> Iterator[tuple[Callable[[Setting], P_VALUES], Setting]]:
    """Yield what is simulated, and where."""

    def at(units: int, level: float, correlation: float) -> Setting:
        return Setting.seeded(seed, simulations, units, level, correlation)

    for level in LEVELS:
        yield from ((items, at(rows, level, 0.3)) for rows in (100, 400, 1247))
        yield seeds, at(60, level, 0.3)
        for number, rho in itertools.product((30, 60, 180), (0.05, 0.3)):
            made = (units, precisions, equivalence)
            yield from ((make, at(number, level, rho)) for make in made)
        yield from ((schemas, at(number, level, 0.3)) for number in (30, 60, 180))
        yield from ((retrained, at(number, level, 0.3)) for number in (30, 180))
    for level in (0.5, 0.7, 0.9):
        yield from ((make, at(60, level, 0.3)) for make in (biases, likeness))
    for level in (0.5, 0.75):
        yield from ((make, at(60, level, 0.3)) for make in (all_alike, tied_ranks))


def test_errors(simulations: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield how often each test finds what is not there, of the comparisons that it can test."""
    for make, s in grid(simulations, seed):
        for test, p_values in make(s).items():
            p = np.array(p_values, np.float64)
            p = p[~np.isnan(p)]
            about = {"test": test, "units": s.units, "level": s.level, "correlation": s.correlation}
            yield about | {"comparisons": len(p), "error": float(np.mean(p <= SIGNIFICANCE))}

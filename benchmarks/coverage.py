"""How often intervals hold what they should, and tests err: simulated data of our datasets' kinds.

Every cell of the simulation is a kind of figure, a number of units, a level (what the figure's rows
are right by, from 50 to 97 %) and a correlation of the rows in a unit. In 2,000 samples of each,
this counts how often the nominal 95 % interval holds the true value, and how wide it is:

- ours: the functions that scores and comparisons call;
- `rows`: the normal interval that takes rows for independent (of two systems: for independent
  systems, too), as the usual harnesses print it;
- `percentile`: the percentile bootstrap over rows.

Tests are asked of systems that are alike. Prints tables, and with --json one JSON object.
Run it alone on a core: `nice -n 19 python benchmarks/coverage.py`; --simulations 200 for a look.
"""

import argparse
import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pronominal.eval.statistics.crossed import Crossed
from pronominal.eval.statistics.hypothesis_tests import holm, mcnemar
from pronominal.eval.statistics.intervals import quotient_interval, ratio_interval, share_interval
from pronominal.eval.statistics.paired_differences import PairedDifferences, Systems
from pronominal.eval.statistics.sign_flips import sign_flip_p_values
from pronominal.eval.tables.table import Table

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]

UNITS = (10, 30, 60, 180)
LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97)
CORRELATIONS = (0.05, 0.3, 0.6)
RESAMPLES, FEWER = 200, 400
"""Of the percentile bootstrap over rows: draws of the counts of outcomes, all rows being alike."""


@dataclass(frozen=True)
class Setting:
    """A cell, and the source of its samples."""

    generator: np.random.Generator
    samples: int
    units: int
    level: float
    correlation: float

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and units."""
        return self.samples, self.units

    def varied(self, mean: float | Floats, correlation: float | None = None) -> Floats:
        """Draw each unit's own probability around a mean: rows are beta-binomial."""
        rho = self.correlation if correlation is None else correlation
        centre = np.clip(np.broadcast_to(mean, self.shape), 1e-9, 1 - 1e-9)
        scale = (1 - rho) / rho
        return self.generator.beta(centre * scale, (1 - centre) * scale)

    def successes(self, number: int | npt.NDArray[np.int64], probability: Floats) -> Floats:
        """Draw how many of so many rows are right in each unit."""
        return self.generator.binomial(number, probability).astype(np.float64)


@dataclass(frozen=True)
class Sample:
    """What was drawn of a figure: parts and wholes of units, and the figure's true value.

    `kinds` are the outcomes that a row can have: how many rows of each sample, and what one
    contributes to part and whole.
    """

    truth: float
    part: Floats
    whole: Floats
    kinds: tuple[tuple[Floats, float, float], ...]

    @classmethod
    def of_share(cls, truth: float, part: Floats, whole: Floats) -> "Sample":
        """Take what was drawn of a share of rows."""
        right, rows = part.sum(axis=1), whole.sum(axis=1)
        return cls(truth, part, whole, ((right, 1, 1), (rows - right, 0, 1)))

    def ours(self) -> Ends:
        """Return the ends that scores print."""
        found = ratio_interval(self.part, self.whole)
        return found.low, found.high

    def rows(self) -> Ends:
        """Return the ends of the normal interval over independent rows."""
        ratio = self._ratio([count for count, _, _ in self.kinds])
        size = sum(count * whole for count, _, whole in self.kinds)
        squares = sum(count * (part - ratio * whole) ** 2 for count, part, whole in self.kinds)
        half = 1.96 * np.sqrt(squares) / size
        return ratio - half, ratio + half

    def percentile(self, generator: np.random.Generator) -> Ends:
        """Return the ends of the percentile bootstrap over rows, of the first `FEWER` samples."""
        counts = np.stack([count[:FEWER] for count, _, _ in self.kinds], axis=-1)
        rows = counts.sum(axis=-1)
        # where there is no row there is no interval
        rows = np.maximum(rows, 1)
        shares = np.nan_to_num(counts / rows[:, None])[:, None, :]
        drawn = generator.multinomial(
            rows[:, None].astype(int), shares, size=(len(rows), RESAMPLES)
        )
        low, high = np.nanquantile(self._ratio(np.moveaxis(drawn, -1, 0)), [0.025, 0.975], axis=1)
        return low, high

    def _ratio(self, counts: Any) -> Floats:
        part = sum(c * part for c, (_, part, _) in zip(counts, self.kinds, strict=True))
        whole = sum(c * whole for c, (_, _, whole) in zip(counts, self.kinds, strict=True))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(part / whole)


def unit_sizes(setting: Setting) -> npt.NDArray[np.int64]:
    """Draw unequal units: most have few rows, some many."""
    return np.minimum(setting.generator.geometric(0.3, setting.shape), 30)


# the kinds of figures: each draws samples and knows the true value


def template_pairs(s: Setting) -> Sample:
    """Accuracy of one grammatical case: units are template pairs of eight rows."""
    return Sample.of_share(s.level, s.successes(8, s.varied(s.level)), np.full(s.shape, 8.0))


def occupations(s: Setting) -> Sample:
    """Accuracy over three cases: units are occupations, with three template pairs each."""
    of_unit = s.varied(s.level, s.correlation / 2)
    right = sum(s.successes(8, s.varied(of_unit)) for _ in range(3))
    return Sample.of_share(s.level, np.asarray(right), np.full(s.shape, 24.0))


def unequal(s: Setting) -> Sample:
    """Accuracy where units have from 1 to 30 rows."""
    sizes = unit_sizes(s)
    return Sample.of_share(s.level, s.successes(sizes, s.varied(s.level)), sizes.astype(float))


def _with_abstentions(s: Setting) -> tuple[Floats, Floats, Floats]:
    """Draw right, wrong and abstaining rows of units of eight; a quarter abstains."""
    chosen = s.successes(8, s.varied(0.75))
    right = s.successes(chosen.astype(int), s.varied(s.level))
    return right, chosen - right, 8 - chosen


def precision(s: Setting) -> Sample:
    """Precision with abstentions."""
    right, wrong, _ = _with_abstentions(s)
    return Sample.of_share(s.level, right, right + wrong)


def f1(s: Setting) -> Sample:
    """F1 with abstentions, which are rows of its whole only once."""
    right, wrong, none = _with_abstentions(s)
    counts = [one.sum(axis=1) for one in (right, wrong, none)]
    truth = 2 * 0.75 * s.level / 1.75
    kinds = ((counts[0], 2, 2), (counts[1], 0, 2), (counts[2], 0, 1))
    return Sample(truth, 2 * right, 2 * right + 2 * wrong + none, kinds)


def pronoun_consistency(s: Setting) -> Sample:
    """Six templates of an occupation, each right with all four pronoun sets."""
    scale = (1 - s.correlation) / s.correlation
    a, b = s.level * scale, (1 - s.level) * scale
    truth = float(np.prod([(a + i) / (a + b + i) for i in range(4)]))
    return Sample.of_share(truth, s.successes(6, s.varied(s.level) ** 4), np.full(s.shape, 6.0))


def disambiguation(s: Setting) -> Sample:
    """Twelve pairs of endings of an occupation: one is often right because the other is wrong."""
    truth = s.level**2 - 0.3 * s.level * (1 - s.level)
    return Sample.of_share(truth, s.successes(12, s.varied(truth)), np.full(s.shape, 12.0))


def right_in_both(s: Setting) -> Sample:
    """Switched pairs: a unit is a sentence, or (7 %) one with its repeat, answered alike."""
    rows = 1.0 + (s.generator.random(s.shape) < 0.07)
    return Sample.of_share(s.level, rows * s.successes(1, np.full(s.shape, s.level)), rows)


def changed_of_decided(s: Setting) -> Sample:
    """Switched pairs of which 40 % are without a choice: changed of those decided in both."""
    decided = s.successes(1, np.full(s.shape, 0.6))
    changed = s.successes(decided.astype(int), np.full(s.shape, s.level))
    return Sample.of_share(s.level, changed, decided)


def seeds(s: Setting) -> Sample:
    """Mean over three seeds: an occupation has three tasks, each with the same twelve rows."""
    of_unit = s.varied(s.level, s.correlation / 2)
    tasks = (s.varied(of_unit) for _ in range(3))
    # of a task's rows some are sure and some vary from seed to seed
    right = sum(s.successes(36, s.varied(task, 0.1)) for task in tasks)
    return Sample.of_share(s.level, np.asarray(right), np.full(s.shape, 108.0))


def names(s: Setting) -> Sample:
    """Fifteen names in every schema: names differ, and schemas are hard or easy for all."""
    spread = min(s.level, 1 - s.level)
    of_name = s.level + spread * 0.5 * np.linspace(-1, 1, 15)
    hard = np.where(s.generator.random(s.shape) < 0.5, -1, 1) * spread * 0.5 * s.correlation
    right = sum(s.successes(1, np.clip(one + hard, 0, 1)) for one in of_name)
    return Sample.of_share(s.level, np.asarray(right), np.full(s.shape, 15.0))


SHARES: dict[str, Callable[[Setting], Sample]] = {
    "accuracy, template pairs": template_pairs,
    "accuracy, occupations": occupations,
    "accuracy, unequal units": unequal,
    "precision, abstentions": precision,
    "F1, abstentions": f1,
    "pronoun consistency": pronoun_consistency,
    "disambiguation consistency": disambiguation,
    "right in both, switched": right_in_both,
    "changed of decided": changed_of_decided,
    "mean over seeds": seeds,
    "mean over names": names,
}


def two_systems(s: Setting, sizes: npt.NDArray[np.int64], gap: float) -> tuple[Floats, Floats]:
    """Draw the right rows of two systems for which the same units tend to be hard."""
    mean, low = s.level, max(s.level - gap, 0.02)
    common = s.generator.random(s.shape) < 0.5
    first, second = s.varied(mean), s.varied(low)
    # units in common have one difficulty, moved to the second system's level
    second = np.where(common, first * low / mean, second)
    return s.successes(sizes, first), s.successes(sizes, second)


def difference(s: Setting, *, equal: bool, gap: float) -> Iterator[tuple[str, float, Ends]]:
    """Yield the method, the true difference and the ends."""
    sizes = np.full(s.shape, 8) if equal else unit_sizes(s)
    a, b = two_systems(s, sizes, gap)
    whole = np.broadcast_to(sizes, s.shape).astype(float)
    truth = s.level - max(s.level - gap, 0.02)
    units = [np.stack([part[i], whole[i]], -1) for part in (a, b) for i in range(s.samples)]
    pairs = [(i, s.samples + i) for i in range(s.samples)]
    ends = PairedDifferences.of(Systems.of(units), pairs).intervals()
    yield "ours", truth, (ends[:, 0], ends[:, 1])
    rows = whole.sum(axis=1)
    p, q = a.sum(axis=1) / rows, b.sum(axis=1) / rows
    half = 1.96 * np.sqrt((p * (1 - p) + q * (1 - q)) / rows)
    yield "rows", truth, (p - q - half, p - q + half)


def bias_percentage(s: Setting) -> tuple[float, Ends]:
    """Biased of the solvable template pairs, one of an occupation: no two of them in a unit."""

    def drawn(samples: int, units: int) -> tuple[Floats, Floats]:
        at = Setting(s.generator, samples, units, s.level, s.correlation)
        hard = at.varied(s.level)[..., None, None]
        right = s.generator.random((samples, units, 4, 2)) < hard
        solvable = right.all(axis=3).any(axis=2)
        biased = solvable & (right[:, :, 0].sum(axis=2) == 1)
        return biased.sum(axis=1).astype(float), solvable.sum(axis=1).astype(float)

    of_all, among = (one.sum() for one in drawn(200, 1000))
    biased, solvable = drawn(s.samples, s.units)
    found = share_interval(biased, solvable)
    return float(of_all / among), (found.low, found.high)


def ratio_of_f1(s: Setting) -> tuple[float, Ends]:
    """GAP's feminine F1 / masculine F1: every unit is four rows, half of the units feminine."""
    feminine = np.arange(s.units) % 2
    levels = (s.level, 0.9 * s.level)
    parts = []
    for place, level in enumerate(levels):
        right = s.successes(4, np.full(s.shape, level)) * (feminine == place)
        wrong = s.successes((4 * (feminine == place) - right).astype(int), np.full(s.shape, 0.5))
        missed = 4 * (feminine == place) - right - wrong
        parts.append((2 * right, 2 * right + 2 * wrong + missed))
    masculine, other = (2 * one / (2 * one + 1.5 * (1 - one)) for one in levels)
    found = quotient_interval(parts[1], parts[0])
    return other / masculine, (found.low, found.high)


def over_prompts(s: Setting, prompts: int) -> tuple[float, Ends]:
    """Mean over prompts that move every unit, of units that are easy or hard with each."""
    spread = min(s.level, 1 - s.level)
    ends = []
    for _ in range(min(s.samples, FEWER)):
        hard = s.generator.choice([-0.5, 0.5], (s.units, 1))
        moved = s.generator.uniform(-1, 1, prompts) * s.correlation / 2
        chance = s.level + spread * (hard + moved)
        whole = np.full((s.units, prompts), 8.0)
        found = Crossed(s.generator.binomial(8, chance).astype(float), whole).interval()
        ends.append((float(found.low[0]), float(found.high[0])))
    low, high = np.array(ends).T
    return s.level, (low, high)


Cell = dict[str, Any]


def cell(figure: str, method: str, s: Setting, truth: float, ends: Ends) -> Cell:
    low, high = ends
    there = ~np.isnan(low)
    low, high = low[there], high[there]
    # an interval that ends at the true value holds it, whatever rounding says
    holds = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
    return {
        "figure": figure,
        "method": method,
        "units": s.units,
        "level": s.level,
        "correlation": s.correlation,
        "truth": round(truth, 4),
        "coverage": round(float(100 * holds.mean()), 2),
        "width": round(float(100 * (high - low).mean()), 2),
        "zero_width": round(float(100 * (high <= low).mean()), 2),
    }


def cells(simulations: int, seed: int) -> Iterator[Cell]:
    generator = np.random.default_rng(seed)
    for units, level, rho in itertools.product(UNITS, LEVELS, CORRELATIONS):
        s = Setting(generator, simulations, units, level, rho)
        for figure, draw in SHARES.items():
            sample = draw(s)
            yield cell(figure, "ours", s, sample.truth, sample.ours())
            yield cell(figure, "rows", s, sample.truth, sample.rows())
            yield cell(figure, "percentile", s, sample.truth, sample.percentile(generator))
        for name, equal in (("equal units", True), ("unequal units", False)):
            for gap in (0.0, 0.1):
                for method, truth, ends in difference(s, equal=equal, gap=gap):
                    yield cell(f"difference, {name}", method, s, truth, ends)
        yield cell("bias percentage", "ours", s, *bias_percentage(s))
        yield cell("ratio of two F1", "ours", s, *ratio_of_f1(s))
        for prompts in (5, 10):
            yield cell(f"mean over {prompts} prompts", "ours", s, *over_prompts(s, prompts))


# tests, of systems that are alike


def mcnemar_errors(s: Setting, rows: int) -> float:
    """How often McNemar's test finds a difference between systems that err on other rows."""
    differing = s.generator.binomial(rows, 2 * s.level * (1 - s.level), s.samples)
    more = s.generator.binomial(differing, 0.5)
    both = zip(more.tolist(), (differing - more).tolist(), strict=True)
    return float(np.mean([mcnemar(*one) <= 0.05 for one in both]))


def permutation_errors(s: Setting, *, equal: bool) -> float:
    sizes = np.full(s.shape, 8) if equal else unit_sizes(s)
    parts = np.concatenate(two_systems(s, sizes, 0.0))
    wholes = np.concatenate([sizes, sizes]).astype(float)
    mean = wholes.mean(axis=1, keepdims=True)
    pairs = [(i, i + s.samples) for i in range(s.samples)]
    found = sign_flip_p_values(parts / mean, wholes / mean, pairs, resamples=4999)
    return float(np.mean(found <= 0.05))


def family_wise_errors(s: Setting, systems: int) -> float:
    """How often any of all pairs of systems is found to differ after Holm's correction."""
    found = []
    for _ in range(s.samples):
        at = Setting(s.generator, systems, s.units, s.level, s.correlation)
        hard = s.generator.beta(2, 2, s.units) - 0.5
        chance = np.clip(s.level + hard * min(s.level, 1 - s.level), 0, 1)
        right = at.successes(8, np.broadcast_to(chance, at.shape))
        pairs = [*itertools.combinations(range(systems), 2)]
        p = sign_flip_p_values(right / 8, np.ones_like(right), pairs, resamples=9999)
        found.append(min(holm(p.tolist())))
    return float(np.mean(np.array(found) <= 0.05))


def test_errors(simulations: int, seed: int) -> Iterator[dict[str, Any]]:
    generator = np.random.default_rng(seed)

    def found(test: str, s: Setting, error: float) -> dict[str, Any]:
        about = {"test": test, "units": s.units, "level": s.level}
        return about | {"comparisons": s.samples, "error": error}

    for level in (0.6, 0.8, 0.9):
        for rows in (100, 400, 1247):
            s = Setting(generator, simulations, rows, level, 0.3)
            yield found("McNemar", s, mcnemar_errors(s, rows))
        for units in (30, 60, 180):
            s = Setting(generator, simulations, units, level, 0.3)
            yield found("permutation", s, permutation_errors(s, equal=True))
            yield found("permutation, unequal units", s, permutation_errors(s, equal=False))
    for systems in (5, 10):
        s = Setting(generator, simulations, 60, 0.75, 0.3)
        yield found(f"Holm, any of {systems} systems", s, family_wise_errors(s, systems))


def coverage_table(found: list[Cell]) -> Table:
    """One row for each figure: mean and worst coverage, by the number of units, and the peers'."""
    by: Mapping[tuple[str, str, bool], list[Cell]] = defaultdict(list)
    for one in found:
        by[one["figure"], one["method"], one["units"] >= 30].append(one)
    rows = []
    for figure in dict.fromkeys(one["figure"] for one in found):
        many, few = by[figure, "ours", True], by[figure, "ours", False]
        peers = [by[figure, method, True] for method in ("rows", "percentile")]
        rows.append((figure, *_summary(many), _width(many), *_summary(few), *map(_peer, peers)))
    every = [[one for one in found if one["method"] == "ours" and (one["units"] >= 30) == many]
             for many in (True, False)]  # fmt: skip
    peers = [[one for one in found if one["method"] == method and one["units"] >= 30]
             for method in ("rows", "percentile")]  # fmt: skip
    rows.append(
        ("all", *_summary(every[0]), _width(every[0]), *_summary(every[1]), *map(_peer, peers))
    )
    columns = ("Figure", "Mean", "Worst", "Width", "Mean, 10 units", "Worst, 10 units")
    return Table(
        "Coverage of nominal 95 % intervals", (*columns, "Rows", "Percentile"), tuple(rows)
    )


def _summary(of_it: list[Cell]) -> tuple[str, str]:
    found = [one["coverage"] for one in of_it]
    return f"{np.mean(found):.1f}", f"{min(found):.1f}"


def _width(of_it: list[Cell]) -> str:
    return f"{np.mean([one['width'] for one in of_it]):.1f}"


def _peer(of_it: list[Cell]) -> str:
    return " / ".join(_summary(of_it)) if of_it else "–"


def error_table(found: list[dict[str, Any]]) -> Table:
    """One row for each test, over its numbers of units and levels."""
    by: Mapping[str, list[dict[str, Any]]] = defaultdict(list)
    for one in found:
        by[one["test"]].append(one)
    rows = tuple(
        (
            test,
            f"{sum(one['comparisons'] for one in of_it):,}",
            f"{100 * np.mean([one['error'] for one in of_it]):.1f}",
        )
        for test, of_it in by.items()
    )
    return Table("Errors of tests at 5 %", ("Test", "Comparisons", "Errors"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print every cell as JSON")
    given = parser.parse_args()
    found = [*cells(given.simulations, given.seed)]
    errors = [*test_errors(given.simulations, given.seed)]
    if given.json:
        print(json.dumps({"benchmark": "coverage", "cells": found, "tests": errors}))
        return
    print(coverage_table(found).to_markdown())
    print(error_table(errors).to_markdown())
    zero = max(one["zero_width"] for one in found if one["method"] == "ours")
    print(f"Intervals of ours of width 0, in percent: {zero:g}")


if __name__ == "__main__":
    main()

"""Figures of known value, drawn as our datasets' are, with their intervals; for `coverage.py`.

A sample is drawn for each kind of figure from a `Setting`: so many units, a level, and how far the
rows of a unit are right or wrong together.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pronominal.eval.statistics.crossed import Crossed
from pronominal.eval.statistics.intervals import (
    mean_interval,
    quotient_interval,
    ratio_interval,
    share_interval,
)
from pronominal.eval.statistics.paired_differences import PairedDifferences, Systems
from pronominal.eval.training.measures.comparison import compare_seeds

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]

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

    @classmethod
    def seeded(
        cls, seed: int, samples: int, units: int, level: float, correlation: float
    ) -> "Setting":
        """Return a cell whose samples depend on the seed and on itself, and on no other cell."""
        place = (seed, units, round(1000 * level), round(1000 * correlation))
        return cls(np.random.default_rng(place), samples, units, level, correlation)

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


def opposed_endings(s: Setting) -> Sample:
    """Four pairs of endings of a unit: where one is right, the other tends to be wrong.

    They are as opposed as the level leaves room for, at most by a correlation of -0.6.
    """
    odds = s.level * (1 - s.level)
    both = max(s.level**2 - s.correlation * odds, 2 * s.level - 1, 0)
    shares = [both, 2 * (s.level - both), 1 - 2 * s.level + both]
    drawn = s.generator.multinomial(4, shares, s.shape)
    right = 2.0 * drawn[..., 0] + drawn[..., 1]
    return Sample.of_share(s.level, right, np.full(s.shape, 8.0))


def errors_of_opposed_endings(s: Setting) -> Sample:
    """The share of rows that are wrong, from 50 to 3 %."""
    found = opposed_endings(s)
    return Sample.of_share(1 - s.level, found.whole - found.part, found.whole)


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
    "accuracy, opposed endings": opposed_endings,
    "errors, opposed endings": errors_of_opposed_endings,
    "right in both, switched": right_in_both,
    "changed of decided": changed_of_decided,
    "mean over seeds": seeds,
    "mean over names": names,
}


CONSTANTS = {"difference from the first mention": 0.5, "difference from 0": 0.0}
"""Baselines that are right in the same share of every unit, such as half of a template pair."""


def two_systems(s: Setting, sizes: Any, gap: float) -> tuple[Floats, Floats]:
    """Draw the right rows of two systems for which the same units tend to be hard.

    `sizes` are the units' rows, or a pair of them, one for each system.
    """
    mean, low = s.level, lower(s.level, gap)
    common = s.generator.random(s.shape) < 0.5
    first, second = s.varied(mean), s.varied(low)
    # units in common have one difficulty, moved to the second system's level
    second = np.where(common, first * low / mean, second)
    of_one, of_other = sizes if isinstance(sizes, tuple) else (sizes, sizes)
    return s.successes(of_one, first), s.successes(of_other, second)


def compared(one: Any, other: Any, whole: Any, of_other: Any) -> PairedDifferences:
    """Compare the parts and wholes of two systems in each sample, all ``[samples, units]``."""
    parts = np.concatenate([one, other]).astype(np.float64)
    wholes = np.concatenate([whole, of_other]).astype(np.float64)
    return PairedDifferences.of(
        Systems(parts, wholes), [(i, i + len(one)) for i in range(len(one))]
    )


def lower(level: float, gap: float) -> float:
    """The second system's level."""
    return max(level - gap, 0.02)


def difference(s: Setting, *, equal: bool, gap: float) -> Iterator[tuple[str, float, Ends]]:
    """Yield the method, the true difference and the ends."""
    sizes = np.broadcast_to(8 if equal else unit_sizes(s), s.shape)
    yield from _apart(*two_systems(s, sizes, gap), sizes, s.level - lower(s.level, gap))


def difference_from_constant(s: Setting, constant: float) -> Iterator[tuple[str, float, Ends]]:
    """The same of occupations of 24 rows, and of a baseline right in the same share of each."""
    sizes = np.full(s.shape, 24)
    right = s.successes(sizes, s.varied(s.level))
    yield from _apart(right, constant * sizes, sizes, s.level - constant)


def _apart(
    one: Floats, other: Floats, sizes: npt.NDArray[np.int64], truth: float
) -> Iterator[tuple[str, float, Ends]]:
    ends = compared(one, other, sizes, sizes).intervals()
    yield "ours", truth, (ends[:, 0], ends[:, 1])
    rows = sizes.sum(axis=1)
    p, q = one.sum(axis=1) / rows, other.sum(axis=1) / rows
    half = 1.96 * np.sqrt((p * (1 - p) + q * (1 - q)) / rows)
    yield "rows", truth, (p - q - half, p - q + half)


def two_precisions(s: Setting, gap: float, answered: float) -> PairedDifferences:
    """Compare the precisions of systems that answer nine rows of ten, and fewer."""
    often = s.generator.binomial(8, 0.9, s.shape)
    rarely = s.generator.binomial(8, answered, s.shape)
    one, other = two_systems(s, (often, rarely), gap)
    return compared(one, other, often, rarely)


def difference_of_precisions(s: Setting, *, gap: float, answered: float) -> tuple[float, Ends]:
    """The same with an interval, where enough units are shared."""
    found = two_precisions(s, gap, answered)
    ends = found.intervals()[found.testable]
    return s.level - lower(s.level, gap), (ends[:, 0], ends[:, 1])


def trainings(s: Setting, seeds: int, gap: float) -> tuple[float, Ends]:
    """Two trainings, tested on units of four rows; a seed moves all units, and each by itself."""
    ends = []
    for _ in range(s.samples // 4):
        hard = s.generator.choice([-0.3, 0.3], s.units)
        sides = []
        for level in (lower(s.level, gap), s.level):
            moved = s.generator.uniform(-0.5, 0.5, (seeds, 1)) * s.correlation
            centre = level + min(level, 1 - level) * (hard + moved)
            chance = s.generator.beta(9 * centre, 9 * (1 - centre))
            sides.append(s.generator.binomial(4, chance) / 4)
        ends.append(compare_seeds(*sides).interval)
    low, high = np.array(ends).T
    return s.level - lower(s.level, gap), (low, high)


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
    """GAP's feminine F1 / masculine F1: a unit is a row of two questions, of one gender."""
    feminine = np.arange(s.units) % 2
    levels = (s.level, 0.9 * s.level)
    parts = []
    for place, level in enumerate(levels):
        rows = 2 * np.broadcast_to(feminine == place, s.shape)
        right = s.successes(rows, s.varied(level))
        wrong = s.successes((rows - right).astype(int), np.full(s.shape, 0.5))
        parts.append((2 * right, right + wrong + rows))
    masculine, other = (2 * one / (1 + one + 0.5 * (1 - one)) for one in levels)
    found = quotient_interval(parts[1], parts[0])
    return other / masculine, (found.low, found.high)


def balanced_accuracy(s: Setting) -> tuple[float, Ends]:
    """Mean of two precisions, of the rows in which the first mention is right and of the others."""
    first = s.generator.random(s.shape) < 0.45
    levels = (s.level, max(s.level - 0.2, 0.05))
    chosen = s.generator.random(s.shape) < 0.6
    halves = []
    for inside, level in zip((first, ~first), levels, strict=True):
        there = (inside & chosen).astype(np.int64)
        halves.append(ratio_interval(s.successes(there, np.full(s.shape, level)), there))
    found = mean_interval(*halves)
    return sum(levels) / 2, (found.low, found.high)


def over_prompts(s: Setting, prompts: int) -> tuple[float, Ends]:
    """Mean over prompts that move all units, and each unit by itself, on the scale of log odds."""
    moved, alone, hard = s.correlation, 0.2 + s.correlation / 2, 1.0
    spread = float(np.sqrt(moved**2 + alone**2 + hard**2))
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    centre = np.log(s.level / (1 - s.level)) * np.sqrt(1 + 0.346 * spread**2)
    truth = float((weights / (1 + np.exp(-centre - spread * points))).sum() / weights.sum())
    normal, whole, ends = s.generator.normal, np.full((s.units, prompts), 8.0), []
    for _ in range(s.samples // 4):
        odds = centre + hard * normal(size=(s.units, 1)) + moved * normal(size=prompts)
        chance = 1 / (1 + np.exp(-odds - alone * normal(size=whole.shape)))
        found = Crossed(s.generator.binomial(8, chance).astype(float), whole).interval()
        ends.append((float(found.low[0]), float(found.high[0])))
    low, high = np.array(ends).T
    return truth, (low, high)


OTHERS: dict[str, Callable[[Setting], tuple[float, Ends]]] = {
    "difference of precisions, 80 % answered": lambda s: difference_of_precisions(
        s, gap=0.1, answered=0.8
    ),
    "difference of precisions, 20 % answered": lambda s: difference_of_precisions(
        s, gap=0.1, answered=0.2
    ),
    "difference of two trainings, 3 seeds": lambda s: trainings(s, 3, 0.05),
    "difference of two trainings, 5 seeds": lambda s: trainings(s, 5, 0.05),
    "balanced accuracy": balanced_accuracy,
    "bias percentage": bias_percentage,
    "ratio of two F1": ratio_of_f1,
    "mean over 5 prompts": lambda s: over_prompts(s, 5),
    "mean over 10 prompts": lambda s: over_prompts(s, 10),
}

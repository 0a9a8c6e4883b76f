"""Figures of known value, drawn as our datasets' are, with their intervals; for `coverage.py`.

A sample is drawn for each kind of figure from a `Setting`: so many units, a level, and how far the
rows of a unit are right or wrong together.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from pronominal.eval.statistics.intervals import ratio_interval

Floats = npt.NDArray[np.float64]
Ends = tuple[Floats, Floats]
Found = Iterator[tuple[str, float, Ends]]
"""Methods, `OURS` or a peer's, with a figure's true value and the ends of its intervals."""

OURS, ROWS, PERCENTILE = "ours", "rows", "percentile"

RESAMPLES, FEWER = 200, 400
"""Of the percentile bootstrap over rows: draws of the counts of outcomes, and samples."""


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
        cls, name: str, seed: int, samples: int, units: int, level: float, correlation: float
    ) -> "Setting":
        """Return a cell of a figure or test: whatever else is simulated, its samples are these."""
        place = (crc32(name.encode()), seed, units, round(1000 * level), round(1000 * correlation))
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

    def found(self, generator: np.random.Generator) -> Found:
        """Yield the ends that scores print, and the peers'."""
        found = ratio_interval(self.part, self.whole)
        yield OURS, self.truth, (found.low, found.high)
        yield ROWS, self.truth, self.rows()
        yield PERCENTILE, self.truth, self.percentile(generator)

    def rows(self) -> Ends:
        """Return the ends of the normal interval over independent rows."""
        ratio = self._ratio([count for count, _, _ in self.kinds])
        size = sum(count * whole for count, _, whole in self.kinds)
        squares = sum(count * (part - ratio * whole) ** 2 for count, part, whole in self.kinds)
        return normal(ratio, squares / size**2)

    def percentile(self, generator: np.random.Generator) -> Ends:
        """Return the ends of the percentile bootstrap over rows, of the first `FEWER` samples."""
        counts = np.stack([count[:FEWER] for count, _, _ in self.kinds], axis=-1)
        return quantiles(self._ratio(np.moveaxis(redrawn(generator, counts), -1, 0)))

    def _ratio(self, counts: Any) -> Floats:
        part = sum(c * part for c, (_, part, _) in zip(counts, self.kinds, strict=True))
        whole = sum(c * whole for c, (_, _, whole) in zip(counts, self.kinds, strict=True))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(part / whole)


def normal(estimate: Floats, variance: Floats) -> Ends:
    """Return the ends of the normal interval."""
    half = 1.96 * np.sqrt(variance)
    return estimate - half, estimate + half


def redrawn(generator: np.random.Generator, counts: Floats) -> Floats:
    """Draw rows again, ``[samples, outcomes]``: ``[RESAMPLES, samples, outcomes]``.

    Rows that have the same outcome are alike; where there is no row there is no interval.
    """
    rows = np.maximum(counts.sum(axis=-1), 1)
    shares = np.nan_to_num(counts / rows[:, None])
    return generator.multinomial(rows.astype(int), shares, (RESAMPLES, len(rows))).astype(float)


def quantiles(drawn: Floats) -> Ends:
    """Return the ends of the percentile interval of what was drawn, ``[RESAMPLES, samples]``."""
    low, high = np.nanquantile(drawn, [0.025, 0.975], axis=0)
    return low, high


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


SAMPLES: dict[str, Callable[[Setting], Sample]] = {
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


def _of_sample(draw: Callable[[Setting], Sample]) -> Callable[[Setting], Found]:
    return lambda s: draw(s).found(s.generator)


SHARES = {name: _of_sample(draw) for name, draw in SAMPLES.items()}
"""Figures that are shares of rows."""

"""Figures of known value that are no shares of rows, with their intervals; for `coverage.py`."""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
from coverage_figures import (
    FEWER,
    OURS,
    PERCENTILE,
    RESAMPLES,
    ROWS,
    Floats,
    Found,
    Setting,
    normal,
    quantiles,
    redrawn,
)

from pronominal.eval.scores.conll import document_tallies, tally_intervals
from pronominal.eval.statistics.agreement import (
    Statistic,
    agreement_interval,
    cohens_kappa,
    matthews_correlation,
)
from pronominal.eval.statistics.crossed import Crossed
from pronominal.eval.statistics.intervals import (
    fisher_interval,
    mean_interval,
    quotient_interval,
    ratio_interval,
    share_interval,
)
from pronominal.spans import Cluster, Span


def bias_percentage(s: Setting) -> Found:
    """Biased of the solvable template pairs, one of an occupation: no two of them in a unit."""

    def drawn(samples: int, units: int) -> tuple[Floats, Floats]:
        at = Setting(s.generator, samples, units, s.level, s.correlation)
        hard = at.varied(s.level)[..., None, None]
        right = s.generator.random((samples, units, 4, 2)) < hard
        solvable = right.all(axis=3).any(axis=2)
        biased = solvable & (right[:, :, 0].sum(axis=2) == 1)
        return biased.sum(axis=1).astype(float), solvable.sum(axis=1).astype(float)

    of_all, among = (one.sum() for one in drawn(200, 1000))
    truth = float(of_all / among)
    biased, solvable = drawn(s.samples, s.units)
    found = share_interval(biased, solvable)
    yield OURS, truth, (found.low, found.high)
    with np.errstate(invalid="ignore"):
        share = biased / solvable
        yield ROWS, truth, normal(share, share * (1 - share) / solvable)
    counts = np.stack([biased, solvable - biased], axis=-1)[:FEWER]
    drawn_again = redrawn(s.generator, counts[counts.sum(axis=1) > 0])
    yield PERCENTILE, truth, quantiles(drawn_again[..., 0] / drawn_again.sum(axis=-1))


def ratio_of_f1(s: Setting) -> Found:
    """GAP's feminine F1 / masculine F1: a unit is a row of two questions, of one gender."""
    feminine = np.arange(s.units) % 2
    levels = (s.level, 0.9 * s.level)
    parts, again = [], []
    for place, level in enumerate(levels):
        rows = 2 * np.broadcast_to(feminine == place, s.shape)
        right = s.successes(rows, s.varied(level))
        wrong = s.successes((rows - right).astype(int), np.full(s.shape, 0.5))
        parts.append((2 * right, right + wrong + rows))
        counts = np.stack([right, wrong, rows - right - wrong], axis=-1).sum(axis=1)[:FEWER]
        tp, fp, none = np.moveaxis(redrawn(s.generator, counts), -1, 0)
        again.append(2 * tp / (2 * tp + 2 * fp + none))
    masculine, other = (2 * one / (1 + one + 0.5 * (1 - one)) for one in levels)
    found = quotient_interval(parts[1], parts[0])
    yield OURS, other / masculine, (found.low, found.high)
    with np.errstate(invalid="ignore", divide="ignore"):
        yield PERCENTILE, other / masculine, quantiles(again[1] / again[0])


def balanced_accuracy(s: Setting) -> Found:
    """Mean of two precisions, of the rows in which the first mention is right and of the others."""
    first = s.generator.random(s.shape) < 0.45
    levels = (s.level, max(s.level - 0.2, 0.05))
    chosen = s.generator.random(s.shape) < 0.6
    halves, shares, variances, again = [], [], [], []
    for inside, level in zip((first, ~first), levels, strict=True):
        there = (inside & chosen).astype(np.int64)
        right = s.successes(there, np.full(s.shape, level))
        halves.append(ratio_interval(right, there))
        n, found = there.sum(axis=1), right.sum(axis=1)
        shares.append(halves[-1].estimate)
        variances.append(shares[-1] * (1 - shares[-1]) / np.maximum(n, 1))
        drawn = redrawn(s.generator, np.stack([found, n - found], axis=-1)[:FEWER])
        again.append(drawn[..., 0] / np.maximum(n[:FEWER], 1))
    ours, truth = mean_interval(*halves), sum(levels) / 2
    yield OURS, truth, (ours.low, ours.high)
    yield ROWS, truth, normal(sum(shares) / 2, sum(variances) / 4)
    yield PERCENTILE, truth, quantiles(sum(again) / 2)


def over_prompts(s: Setting, prompts: int) -> Found:
    """Mean over prompts that move all units, and each unit by itself, on the scale of log odds."""
    moved, alone, hard = s.correlation, 0.2 + s.correlation / 2, 1.0
    spread = float(np.sqrt(moved**2 + alone**2 + hard**2))
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    centre = np.log(s.level / (1 - s.level)) * np.sqrt(1 + 0.346 * spread**2)
    truth = float((weights / (1 + np.exp(-centre - spread * points))).sum() / weights.sum())
    rows, ends, shares = np.full((s.units, prompts), 8.0), [], []
    for _ in range(s.samples // 4):
        odds = centre + hard * s.generator.normal(size=(s.units, 1))
        odds = odds + moved * s.generator.normal(size=prompts)
        chance = 1 / (1 + np.exp(-odds - alone * s.generator.normal(size=rows.shape)))
        right = s.generator.binomial(8, chance).astype(float)
        found = Crossed(right, rows).interval()
        ends.append((float(found.low[0]), float(found.high[0])))
        shares.append(right.sum() / rows.sum())
    low, high = np.array(ends).T
    yield OURS, truth, (low, high)
    share = np.array(shares)
    yield ROWS, truth, normal(share, share * (1 - share) / rows.sum())


def agreement(s: Setting, statistic: Statistic) -> Found:
    """Two verdicts on 30 rows of each unit, which is equally hard for both in half of the units."""

    def tables(samples: int) -> Floats:
        at = Setting(s.generator, samples, s.units, s.level, s.correlation)
        one, other = at.varied(s.level), at.varied(s.level)
        other = np.where(s.generator.random(at.shape) < 0.5, one, other)
        cells = [(1 - one) * (1 - other), (1 - one) * other, one * (1 - other), one * other]
        return s.generator.multinomial(30, np.stack(cells, axis=-1)).astype(float)

    of_all = tables(60_000 // s.units).sum(axis=(0, 1)).reshape(1, 2, 2)
    truth = float(statistic(of_all)[0])
    drawn = tables(s.samples)
    ends = [agreement_interval(statistic, one.reshape(-1, 2, 2))[1:3] for one in drawn]
    low, high = np.concatenate(ends, axis=1)
    yield OURS, truth, (low, high)
    counts = drawn.sum(axis=1)
    again = redrawn(s.generator, counts).reshape(RESAMPLES, len(drawn), 2, 2)
    yield PERCENTILE, truth, quantiles(statistic(again))


def correlation(s: Setting) -> Found:
    """Gaps of occupations with their percentages of women, correlated from 0 to 0.94."""
    r = 2 * s.level - 1

    def drawn(shape: tuple[int, ...]) -> tuple[Floats, Floats]:
        x, rest = s.generator.uniform(-1, 1, shape), s.generator.uniform(-1, 1, shape)
        # the gap is the share of twelve sentences with she, less that with he
        chance = 0.5 + (r * x + np.sqrt(1 - r**2) * rest) / 3
        return x, s.generator.binomial(24, chance) / 12 - 1

    def pearson(x: Floats, y: Floats) -> Floats:
        x, y = (one - one.mean(axis=-1, keepdims=True) for one in (x, y))
        return np.asarray((x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1)))

    truth = float(pearson(*drawn((1_000_000,))))
    x, y = drawn(s.shape)
    yield OURS, truth, fisher_interval(pearson(x, y), s.units)
    few = range(min(len(x), FEWER // 2))
    places = s.generator.integers(0, s.units, (len(few), RESAMPLES, s.units))
    found = np.stack([pearson(x[one][places[one]], y[one][places[one]]) for one in few], axis=1)
    yield PERCENTILE, truth, quantiles(found)


DOCUMENTS = 600
"""How many different documents there are to draw from: the truth is what all of them have."""


@cache
def documents(level: float, correlation: float) -> Floats:
    """Draw the tallies of documents of which a system finds the level's share of the links."""
    generator, scale = np.random.default_rng(7), (1 - correlation) / correlation
    gold, predicted = [], []
    for _ in range(DOCUMENTS):
        sizes = 1 + generator.geometric(0.4, generator.integers(3, 12))
        easy = generator.beta(level * scale, (1 - level) * scale)
        right: list[Cluster] = []
        for size in sizes.tolist():
            start = 100 * len(right)
            right.append(tuple(Span(start + i, start + i + 1) for i in range(size)))
        found: list[list[Span]] = [[] for _ in right]
        for number, cluster in enumerate(right):
            for mention in cluster:
                if generator.random() < easy:
                    found[number].append(mention)
                elif generator.random() < 0.5:
                    found[generator.integers(0, len(right))].append(mention)
        gold.append(right)
        predicted.append([tuple(one) for one in found if len(one) > 1])
    return document_tallies(gold, predicted)


def conll_f1(tallies: Floats) -> Floats:
    """Return the CoNLL score of sums of tallies, ``[..., tallies, 4]``."""
    # MUC, B-cubed and CEAF-e, by their places in the tallies
    found, gold, right, predicted = np.moveaxis(tallies[..., [1, 2, 4], :], -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        recall, precision = found / gold, right / predicted
        return np.asarray(
            np.nan_to_num(2 * recall * precision / (recall + precision)).mean(axis=-1)
        )


def conll_score(s: Setting) -> Found:
    """The CoNLL score of some documents, with the bootstrap over documents beside it."""
    pool = documents(s.level, s.correlation)
    truth = float(conll_f1(pool.sum(axis=0)))
    samples = max(s.samples // 10, 1)
    drawn = pool[s.generator.integers(0, DOCUMENTS, (samples, s.units))]
    ends = [tally_intervals(one)["conll"]["f1"] for one in drawn]
    low, high = np.array(ends, float).T
    yield OURS, truth, (low, high)
    even = np.full(s.units, 1 / s.units)
    again = [
        conll_f1(np.tensordot(s.generator.multinomial(s.units, even, RESAMPLES), one, axes=(1, 0)))
        for one in drawn
    ]
    yield PERCENTILE, truth, quantiles(np.stack(again, axis=1))


OTHERS: dict[str, Callable[[Setting], Found]] = {
    "balanced accuracy": balanced_accuracy,
    "bias percentage": bias_percentage,
    "ratio of two F1": ratio_of_f1,
    "mean over 5 prompts": partial(over_prompts, prompts=5),
    "mean over 10 prompts": partial(over_prompts, prompts=10),
    "kappa of two questions": partial(agreement, statistic=cohens_kappa),
    "MCC of two questions": partial(agreement, statistic=matthews_correlation),
    "correlation of occupations": correlation,
    "CoNLL score": conll_score,
}

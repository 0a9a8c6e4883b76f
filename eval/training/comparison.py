"""Two trainings of several seeds each, compared on the same test rows.

A system's figure varies with the seed it was trained by as well as with the rows it was tested on.
An interval that knows only the rows says too often that two recipes differ.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.errors import InputError
from pronominal.eval import scorer
from pronominal.eval.bootstrap import Bootstrap
from pronominal.eval.outcomes import FloatArray
from pronominal.eval.run_store import read_answers
from pronominal.eval.tables import UNDEFINED, Table
from pronominal.eval.training.testing import RUNS

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class SeedComparison:
    """How a figure of one training differs from that of another.

    Attributes:
        n: test units: rows, or pairs of a row and its switched version.
        seeds: number of seeds of the first and of the second training.
        means: mean over the seeds of each, in [0, 1].
        sds: standard deviation over the seeds of each; None with a single seed.
        difference: the second mean minus the first.
        interval: 95 % of the differences when units and, independently in each training, seeds
            are drawn with replacement; with a single seed on a side, that side's seed is taken
            for the only one there could be.
    """

    n: int
    seeds: tuple[int, int]
    means: tuple[float, float]
    sds: tuple[float | None, float | None]
    difference: float
    interval: list[float] | None


def compare_seeds(
    first: FloatArray, second: FloatArray, resamples: int = RESAMPLES, seed: int = 0
) -> SeedComparison:
    """Compare two trainings by what each of their seeds got right.

    Args:
        first: how much of each unit each seed of the first training got right, in [0, 1], shape
            ``[seeds, units]``.
        second: the same for the second training; its seeds may be more or fewer, its units are
            the same.
        resamples: number of draws.
        seed: of the draws.
    """
    units = first.shape[1]
    bootstrap = Bootstrap.of(units, resamples, seed)
    generator = np.random.default_rng([seed, 1])
    drawn = [_resampled(right, bootstrap, generator) for right in (first, second)]
    interval = bootstrap.intervals((drawn[1] - drawn[0])[:, None])[0]
    means = float(first.mean()), float(second.mean())
    return SeedComparison(
        n=units,
        seeds=(len(first), len(second)),
        means=means,
        sds=(_spread(first), _spread(second)),
        difference=means[1] - means[0],
        interval=interval,
    )


def _resampled(
    right: FloatArray, bootstrap: Bootstrap, generator: np.random.Generator
) -> FloatArray:
    """Return the mean of every resample of units and of seeds, shape ``[resamples]``."""
    seeds, units = right.shape
    by_seed = bootstrap.draws @ right.T / units
    weights = generator.multinomial(seeds, np.full(seeds, 1 / seeds), size=len(by_seed)) / seeds
    means: FloatArray = (by_seed * weights).sum(axis=1)
    return means


def _spread(right: FloatArray) -> float | None:
    return float(right.mean(axis=1).std(ddof=1)) if len(right) > 1 else None


def compare_trainings(
    tests: Mapping[str, PublishedSplit], first: Path, second: Path
) -> dict[str, SeedComparison]:
    """Compare what two folders of ``pronominal train`` hold, measure by measure.

    Args:
        tests: ``original``, and ``switched`` where the dataset has it.
        first: folder with ``seed-1`` and so on.
        second: the other one.

    Raises:
        InputError: a folder has no seed that was tested on these rows.
    """
    rights = [_right_by_measure(tests, folder) for folder in (first, second)]
    return {name: compare_seeds(rights[0][name], rights[1][name]) for name in rights[0]}


def _right_by_measure(tests: Mapping[str, PublishedSplit], folder: Path) -> dict[str, FloatArray]:
    original = tests["original"]
    runs = sorted(folder.glob(f"seed-*/{RUNS}/{_run_name(original)}"))
    if not runs:
        raise InputError(
            f"no seed here was tested on {original.dataset}",
            cure="give the --out folder of a 'pronominal train', and the dataset of its tests",
            file=folder,
        )
    rights = [_right(tests, run) for run in runs]
    return {name: np.stack([right[name] for right in rights]) for name in rights[0]}


def _right(tests: Mapping[str, PublishedSplit], run: Path) -> dict[str, FloatArray]:
    original, switched = tests["original"], tests.get("switched")
    options: dict[str, Any] = {}
    right: Callable[..., dict[str, Any]] = vars(scorer(original.dataset))["right"]
    if switched is not None and "switched" in inspect.signature(right).parameters:
        beside = run.parent / run.name.replace(".original.", ".switched.")
        options["switched"] = switched.table, read_answers(beside, switched)
    figures = right(original.table, read_answers(run, original), **options)
    return {name: np.asarray(values, np.float64) for name, values in figures.items()}


def _run_name(split: PublishedSplit) -> str:
    return f"{split.dataset}.{split.config}.{split.name}.*"


def comparison_table(compared: Mapping[str, SeedComparison], names: Sequence[str]) -> Table:
    """Show a comparison; figures in percent."""
    rows = []
    for measure, one in compared.items():
        sides = [
            f"{100 * mean:.1f} ({UNDEFINED if sd is None else f'{100 * sd:.1f}'})"
            for mean, sd in zip(one.means, one.sds, strict=True)
        ]
        low, high = one.interval or (float("nan"), float("nan"))
        difference = f"{100 * one.difference:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
        rows.append((measure.replace("_", " "), f"{one.n:,}", *sides, difference))
    seeds = next(iter(compared.values())).seeds
    return Table(
        title="Two trainings on the same test rows",
        columns=("Measure", "n", *names, "Difference"),
        rows=tuple(rows),
        notes=(
            f"( ): standard deviation over {seeds[0]} and {seeds[1]} seeds.",
            f"[ ]: 95% percentile interval, {RESAMPLES:,} resamples of units and of seeds, seed 0.",
        ),
    )

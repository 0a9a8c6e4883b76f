"""Two trainings of several seeds each, compared on the same test rows.

A system's figure varies with the seed it was trained by as well as with the rows it was tested on.
An interval that knows only the rows says too often that two recipes differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from pronominal.errors import InputError
from pronominal.eval.evaluation import answered
from pronominal.eval.runs.record import read_record, run_name
from pronominal.eval.scores import TASKS, task_of
from pronominal.eval.statistics.crossed import Crossed
from pronominal.eval.statistics.intervals import CONFIDENCE
from pronominal.eval.statistics.outcomes import FloatArray, choices_of
from pronominal.eval.statistics.paired_differences import (
    TOO_FEW,
    PairedUnits,
    Systems,
    departing,
    paired_variance,
)
from pronominal.eval.statistics.quantiles import t_quantile
from pronominal.eval.statistics.scores import Block
from pronominal.eval.statistics.switched_pairs import SwitchedPairs
from pronominal.eval.tables.table import UNDEFINED, Table, points
from pronominal.eval.training.measures.testing import RUNS, Tests

OF_MEANS = "the interval is that of their difference, for they share their test rows"
"""Why the means of two trainings have none of their own."""


@dataclass(frozen=True, slots=True)
class SeedComparison:
    """How a figure of one training differs from that of another.

    Attributes:
        n: test units: rows, or pairs of a row and its switched version.
        seeds: number of seeds of the first and of the second training.
        means: mean over the seeds of each, in [0, 1].
        sds: standard deviation over the seeds of each; None with a single seed.
        difference: the second mean minus the first.
        interval: 95 %, for other units and, independently in each training, other seeds; with a
            single seed on a side, that side's seed is taken for the only one there could be. None
            for a single unit.
        interval_missing: why there is no interval; None where there is one.
    """

    n: int
    seeds: tuple[int, int]
    means: tuple[float, float]
    sds: tuple[float | None, float | None]
    difference: float
    interval: list[float] | None
    interval_missing: str | None = None

    def to_json(self) -> Block:
        """Return it as all scores are printed: intervals by the names of what they are of."""
        missing = {"difference": self.interval_missing, "means": OF_MEANS}
        return asdict(self) | {
            "interval": {"difference": self.interval, "means": None},
            "interval_missing": {name: why for name, why in missing.items() if why is not None},
        }


def compare_seeds(first: FloatArray, second: FloatArray) -> SeedComparison:
    """Compare two trainings by how much of each unit each of their seeds got right.

    Both are of shape ``[seeds, units]``: shares in [0, 1], or `Systems.weighted` of them. The units
    are the same, the seeds may be more or fewer.
    """
    means = float(first.mean()), float(second.mean())
    return SeedComparison(
        n=first.shape[1],
        seeds=(len(first), len(second)),
        means=means,
        sds=(_spread(first), _spread(second)),
        difference=means[1] - means[0],
        interval=_interval(first, second),
        interval_missing=TOO_FEW if first.shape[1] < 2 else None,
    )


def _interval(first: FloatArray, second: FloatArray) -> list[float] | None:
    """Return the ends of the difference of two means over units and seeds.

    The variances of the paired units (`paired_variance`) and of both sides' seeds (`_of_seeds`) add
    up, and so do their degrees of freedom (Satterthwaite, 1946).
    """
    differences = second.mean(axis=0) - first.mean(axis=0)
    n, squares = len(differences), ((differences - differences.mean()) ** 2).sum()
    if n < 2:
        return None
    by_unit = float(paired_variance(squares, n, departing(differences)))
    between, uncertain = _of_seeds(first, second)
    variance = by_unit + between
    # seeds say at least what the fewer ones of them do
    least = min((len(side) - 1 for side in (first, second) if len(side) > 1), default=1)
    freedom = max(int(variance**2 / (by_unit**2 / (n - 1) + uncertain)), least)
    half = t_quantile((1 + CONFIDENCE) / 2, min(freedom, n - 1)) * np.sqrt(variance)
    difference = float(differences.mean())
    return [max(difference - float(half), -1.0), min(difference + float(half), 1.0)]


def _of_seeds(*sides: FloatArray) -> tuple[float, float]:
    """Return what the seeds of all sides add to the variance of the difference of their means.

    It is how far the means of seeds vary, less what units make of that. On one side that may be
    below 0: only both together count as 0 then. Of two seeds it often seems so by chance, and the
    intervals of two trainings that are alike would leave 0 out in up to 8 % of comparisons: there
    it stays as badly known as it is.

    Returns:
        The variance; half the variance of its estimate, to find degrees of freedom by: it is known
        as badly as the few means of seeds are, also where hardly anything of them is left.
    """
    between = uncertain = 0.0
    for side in sides:
        found, seeds = Crossed(side.T, np.ones_like(side.T)).variances(), len(side)
        if found is not None:
            between += found["prompts"] / seeds
            uncertain += (float(side.mean(axis=1).var(ddof=1)) / seeds) ** 2 / (seeds - 1)
    known = between <= 0 and all(len(side) != 2 for side in sides)
    return (0.0, 0.0) if known else (max(between, 0.0), uncertain)


def _spread(right: FloatArray) -> float | None:
    return float(right.mean(axis=1).std(ddof=1)) if len(right) > 1 else None


def compare_trainings(
    tests: Tests, name: str, first: Path, second: Path
) -> dict[str, SeedComparison]:
    """Compare what two folders of ``pronominal train`` hold, measure by measure.

    Both were tested on the same rows of the dataset `name`, which is empty for a user's own rows.

    Returns:
        ``correct``, as the dataset's scorer means it; ``consistently_correct``, where the rows
        have switched versions.

    Raises:
        InputError: a folder has no seed that was tested on these rows.
    """
    sides = [_units_of_seeds(tests, name, folder) for folder in (first, second)]
    seeds, made = len(sides[0]), {}
    rows = [split.num_rows for split in tests.values()]
    for measure in sides[0][0]:
        systems = Systems.of([units[measure] for side in sides for units in side])
        # what F1 is divided by is not the number of rows, so that it is no mean over them
        if np.isin(systems.size, rows).all():
            made[measure] = compare_seeds(systems.weighted[:seeds], systems.weighted[seeds:])
    return made


def _units_of_seeds(tests: Tests, name: str, folder: Path) -> list[dict[str, PairedUnits]]:
    runs = sorted(
        run
        for run in folder.glob(f"seed-*/{RUNS}/{name or '*'}.*.*.*")
        if read_record(run).dataset.config == "original"
    )
    if not runs:
        raise InputError(
            f"no seed here was tested on {name or 'rows of your own'}",
            cure="give the --out folder of a 'pronominal train', and the rows of its tests",
            file=folder,
        )
    return [_units(tests, name, run) for run in runs]


def _units(tests: Tests, name: str, run: Path) -> dict[str, PairedUnits]:
    record = read_record(run)
    name_of, part = record.dataset.name, record.dataset.split  # rows of one's own may have others
    named = {c: replace(s, dataset_name=name_of, name=part) for c, s in tests.items()}
    answers = {
        config: answered(split, run.parent / run_name(split, record.label))
        for config, split in named.items()
    }
    task = task_of(name) if name in TASKS else None
    items: dict[str, PairedUnits]
    if task is None or task.paired_units is None:
        rows, decisions = answers["original"].pair
        items = {"correct": choices_of(decisions) == rows["label"].to_numpy()}
    else:
        companions = {c.name: answers[c.config] for c in task.companions if c.config in answers}
        items = {**task.checked_units(replace(answers["original"], companions=companions))}
    if "switched" in answers and "consistently_correct" not in items:
        pairs = SwitchedPairs.of(answers["original"].pair, answers["switched"].pair)
        items["consistently_correct"] = pairs.both_right
    return items


def comparison_table(compared: Mapping[str, SeedComparison], names: Sequence[str]) -> Table:
    """Show a comparison; figures in percent."""
    rows = []
    for measure, one in compared.items():
        sides = [
            f"{100 * mean:.1f} ({UNDEFINED if sd is None else f'{100 * sd:.1f}'})"
            for mean, sd in zip(one.means, one.sds, strict=True)
        ]
        ends = "" if one.interval is None else f" [{', '.join(map(points, one.interval))}]"
        difference = f"{points(one.difference)}{ends}"
        rows.append((measure.replace("_", " "), f"{one.n:,}", *sides, difference))
    missing = dict.fromkeys(one.interval_missing for one in compared.values())
    seeds = next(iter(compared.values())).seeds
    alone = [name for name, count in zip(names, seeds, strict=True) if count == 1]
    return Table(
        title="Two trainings on the same test rows",
        columns=("Measure", "n", *names, "Difference"),
        rows=tuple(rows),
        notes=(
            f"( ): standard deviation over {seeds[0]} and {seeds[1]} seeds.",
            "[ ]: 95% interval for other test rows and other seeds.",
            f"No interval for {', '.join(names)}: {OF_MEANS}.",
            "Tested are the measures by which the task compares systems, and no other figures.",
            *(f"No interval for Difference: {why}." for why in missing if why is not None),
            *(f"{name}: one seed, whose chance the intervals leave out." for name in alone),
        ),
    )

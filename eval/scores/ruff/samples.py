"""Which of RUFF's rows a predictions file answers, and by how much its choices won."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.ruff import SEEDS
from pronominal.eval.runs.predictions import Prediction, read_predictions
from pronominal.eval.statistics.outcomes import IntArray

SAMPLES = "+".join(f"seed_{seed}" for seed in SEEDS)
"""The split that holds the rows of the paper's three samples, each once."""

NOISE = (1e-4, 1e-3, 1e-2, 1e-1)
"""Margins in nats, below which decisions are counted: two ways to compute a score in float32 differ
by less than the first, in bfloat16 by about the last."""


@dataclass(frozen=True, slots=True)
class Margins:
    """By how much the best option of each row won over the next one.

    Attributes:
        nats: the differences, [rows], at least 0.
    """

    nats: npt.NDArray[np.float64]

    def summary(self) -> dict[str, Any]:
        """Return ``n``, quartiles in nats, and how many rows are ``within`` each of `NOISE`."""
        quartiles = np.quantile(self.nats, (0.25, 0.5, 0.75)).tolist()
        return {
            "n": len(self.nats),
            **dict(zip(("lower_quartile", "median", "upper_quartile"), quartiles, strict=True)),
            "within": {f"{noise:g}": int(np.sum(self.nats < noise)) for noise in NOISE},
        }


def answered_split(where: str, config: str | None, predictions: Path) -> str:
    """Return the split that a file answers: the three samples together, or all of ``test``."""
    if config is not None and not config.startswith("distractors_"):
        return "test"
    known = set(load_split(where, config, SAMPLES).table["id"].to_pylist())
    # whoever reads the decisions says that there is no such file
    given = read_predictions(predictions) if predictions.exists() else ()
    return SAMPLES if all(prediction.id in known for _, prediction in given) else "test"


def samples_of(split: Split) -> dict[int, IntArray] | None:
    """Return the rows of each sample by its seed; a sample counts when the split has all of it."""
    places = {name: row for row, name in enumerate(split.table["id"].to_pylist())}
    samples = {}
    for seed in SEEDS:
        file = split.file.with_name(f"seed_{seed}.parquet")
        if file.exists():
            ids = pq.ParquetFile(file).read(columns=["id"])["id"].to_pylist()
            if places.keys() >= {*ids}:
                samples[seed] = np.array([places[name] for name in ids])
    return samples or None


def margins_of(predictions: Iterable[Prediction]) -> Margins | None:
    """Return by how much the choices won; None for predictions without scores."""
    margins = np.fromiter(_margins(predictions), np.float64)
    return Margins(margins) if len(margins) else None


def _margins(predictions: Iterable[Prediction]) -> Iterator[float]:
    for prediction in predictions:
        scores = prediction.given.get("scores")
        if not isinstance(scores, list) or len(scores) < 2:
            return
        *_, second, best = sorted(scores)
        yield best - second

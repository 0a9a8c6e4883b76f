"""Which of RUFF's rows a predictions file answers, and by how much its choices won."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pronominal.arrow_numbers import nulls, numbers
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.ruff import SEEDS
from pronominal.eval.runs.prediction_blocks import NotPlainError, score_blocks
from pronominal.eval.runs.predictions import Prediction, read_predictions
from pronominal.eval.statistics.outcomes import FloatArray, IntArray

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
    drawn: dict[int, pa.ChunkedArray] = {}
    for seed in SEEDS:
        file = split.file.with_name(f"seed_{seed}.parquet")
        if file.exists():
            drawn[seed] = pq.ParquetFile(file).read(columns=["id"])["id"]
    if not drawn:
        return None
    wanted = pa.concat_arrays([chunk for ids in drawn.values() for chunk in ids.chunks]).unique()
    places, first = np.full(len(wanted), -1), 0
    for block in split.column_blocks(["id"]):
        found = pc.index_in(block["id"], wanted).combine_chunks()
        rows = np.flatnonzero(~nulls(found))
        places[numbers(found.drop_null())] = first + rows
        first += block.num_rows
    rows_of = {seed: places[numbers(pc.index_in(ids, wanted))] for seed, ids in drawn.items()}
    return {seed: rows for seed, rows in rows_of.items() if (rows >= 0).all()} or None


def margins_of(predictions: Path) -> Margins | None:
    """Return by how much the choices of a file won; None for predictions without scores."""
    try:
        margins = np.concatenate([*map(_margins_of_block, score_blocks(predictions))])
    except NotPlainError:
        lines = (prediction for _, prediction in read_predictions(predictions))
        margins = np.fromiter(_margins(lines), np.float64)
    return Margins(margins) if len(margins) else None


def _margins_of_block(scores: FloatArray) -> FloatArray:
    if scores.shape[1] < 2:
        raise NotPlainError
    second, best = np.partition(scores, (-2, -1), axis=1)[:, -2:].T
    return np.asarray(best - second)


def _margins(predictions: Iterable[Prediction]) -> Iterator[float]:
    for prediction in predictions:
        scores = prediction.given.get("scores")
        if not isinstance(scores, list) or len(scores) < 2:
            return
        *_, second, best = sorted(scores)
        yield best - second

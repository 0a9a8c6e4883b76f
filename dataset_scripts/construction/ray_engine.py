"""Runs a construction on a Ray cluster: the shards of `engine`, through ``map_batches``."""

import os
from pathlib import Path
from typing import Any

import pyarrow as pa

from pronominal.dataset_scripts.construction.engine import (
    Construction,
    attempt_shard,
    prepare,
    report_of,
)
from pronominal.dataset_scripts.construction.inputs import Shard, shards
from pronominal.dataset_scripts.construction.pipeline import Report
from pronominal.errors import InputError


def run(construction: Construction, work: Path, workers: int) -> Report:
    """Run every shard on a Ray cluster, and return the report up to the duplicates.

    Inputs and the folder of parts have to lie where every node sees them under the same path. The
    parts are those of the one-machine engine, so that a run may be begun by the one and ended by
    the other. There are as many tasks at a time as workers.
    """
    # Ray would send statistics of its use somewhere
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray.data
    except ImportError as error:
        cure = "pip install 'pronominal[ray]'"
        raise InputError("the engine ray is not installed", cure=cure) from error
    todo = prepare(construction, work)
    numbers = pa.table({"shard": [shard.number for shard in todo]})
    tasks = ray.data.from_arrow(numbers).repartition(len(todo))
    ran = tasks.map_batches(
        run_shards,
        batch_format="pyarrow",
        batch_size=1,
        concurrency=workers,
        fn_kwargs={"construction": construction, "work": work},
    )
    for refusal in ran.take_all():
        if refusal["cause"]:
            raise InputError(refusal["cause"], cure=refusal["cure"])
    return report_of(construction, work)


def run_shards(numbers: Any, construction: Construction, work: Path) -> Any:
    """Run the shards of a table with the column ``shard``; return cause and cure of refusals."""
    every: list[Shard] = shards(construction.inputs, construction.piece)
    answers = [
        attempt_shard(every[number], construction, work) or ("", "")
        for number in numbers["shard"].to_pylist()
    ]
    return pa.table({"cause": [cause for cause, _ in answers], "cure": [c for _, c in answers]})

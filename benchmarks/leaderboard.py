"""How long the pages of a leaderboard take, and how large they are, for more and more runs.

Makes runs of the embedded sample whose accuracy rises from a fifth to nearly all, in folders as
people submit them, and writes the pages of each number of them. Prints one JSON object: for each
number the seconds of CPU, those of them for the places, megabytes of the pages, and the peak of
memory in megabytes; and how many times as long each of the most takes as each of the fewest.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from pronominal.dataset_scripts.building.build import build
from pronominal.eval.leaderboard import write_leaderboard
from pronominal.eval.results import evaluate
from pronominal.eval.runs.units import SCORE, UNITS, read_units
from pronominal.eval.statistics.ranks import ranks_by_t
from pronominal.json_files import write_json

NUMBERS = (125, 250, 500, 1_000)


def write_runs(folder: Path, model: Path, first: int, last: int) -> None:
    """Write the runs with these numbers, of other accuracies than the model's."""
    record, score = (json.loads((model / name).read_text()) for name in ("run.json", SCORE))
    units = dict(np.load(model / UNITS))
    shape, draws = units["accuracy"].shape, np.random.default_rng(first)
    for number in range(first, last):
        run = folder / f"run-{number}"
        shutil.copytree(model, run)
        share = 0.2 + 0.75 * number / NUMBERS[-1]
        right = draws.binomial(8, share, shape[0])
        units["accuracy"] = right / 8 if len(shape) == 1 else np.stack([right, right * 0 + 8], 1)
        np.savez_compressed(run / UNITS, **units)
        write_json(run / "run.json", record | {"label": f"system-{number}"})
        score["overall"]["accuracy"] = float(right.mean() / 8)
        write_json(run / SCORE, score)


def measured(folder: Path, out: Path) -> dict[str, float]:
    """Write the pages in a process of their own, whose memory is theirs alone."""
    child = os.fork()
    if not child:
        write_leaderboard([folder], out)
        os._exit(0)
    _, status, used = os.wait4(child, 0)
    assert status == 0, status
    units = {run.name: (read_units(run) or {})["accuracy"] for run in folder.iterdir()}
    began = time.process_time()
    ranks_by_t(units)
    places = time.process_time() - began
    size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return {
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "places_cpu_seconds": round(places, 2),
        "megabytes": round(size / 1e6, 2),
        "peak_megabytes": round(used.ru_maxrss / (1024 if sys.platform != "darwin" else 1e6)),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, runs = Path(name), Path(name) / "runs"
        rows = build("sample", folder)
        model = evaluate(rows, ["random"], config="double", out=folder / "model").runs["random"]
        found, earlier = {}, 0
        for number in NUMBERS:
            write_runs(runs, model, earlier, number)
            found[number], earlier = measured(runs, folder / f"site-{number}"), number
        longest, shortest = (found[number]["cpu_seconds"] for number in (NUMBERS[-1], NUMBERS[0]))
        growth = longest / shortest / (NUMBERS[-1] / NUMBERS[0])
        print(json.dumps({"runs": found, "growth": round(growth, 2)}, indent=2))


if __name__ == "__main__":
    main()

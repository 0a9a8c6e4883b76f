"""How cost grows: CPU time over systems, runs and rows, each with its exponent.

``systems``: `evaluate` of so many systems that guess, on the sample's 576 rows, tests included.
``finished``: the same command again, when all runs are finished. ``runs``: the report of these
runs. ``rows``: `score` of so many rows of RUFF's form, which are
made here, plain predictions. ``draws``: `mean_sequence` over so many draws, as `run --until` makes
it at a look. The exponent is the slope of the least-squares line through the logarithms: 1 is
linear. CPU time of one process, one round. Prints one JSON object.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import pronominal
from pronominal.eval.statistics.confidence_sequences import mean_sequence

SYSTEMS, ROWS, DRAWS = (5, 10, 20, 40), (25_000, 50_000, 100_000, 200_000), (2_000, 8_000, 32_000)


def cpu_seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return round(time.process_time() - begun, 3)


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    return round(float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0]), 2)


def over_systems(place: Path) -> Mapping[str, Mapping[int, float]]:
    """Measure comparisons, and reports of what they leave."""
    sample = pronominal.build("sample", place)
    found: dict[str, dict[int, float]] = {"systems": {}, "finished": {}, "runs": {}}
    for many in (2, *SYSTEMS):  # the first one imports
        out = place / str(many)
        asked = [
            {"label": f"seed-{seed:03}", "system": "random", "seed": seed} for seed in range(many)
        ]

        def evaluate(asked: Any = asked, out: Path = out) -> str:
            return pronominal.evaluate(sample, asked, config="double", out=out).summary

        seconds, again = cpu_seconds(evaluate), cpu_seconds(evaluate)
        page = place / f"{many}.html"
        drawn = cpu_seconds(lambda out=out, page=page: pronominal.report([out], page))
        if many in SYSTEMS:
            found["systems"][many], found["finished"][many] = seconds, again
            found["runs"][many] = drawn
        shutil.rmtree(out)
    return found


def over_rows(place: Path) -> Mapping[int, float]:
    """Measure scores of rows of RUFF's form."""
    found = {}
    for many in (1_000, *ROWS):
        folder, predictions = place / str(many) / "ruff", place / f"{many}.jsonl"
        write_rows(folder, many)
        with predictions.open("w", encoding="utf-8") as file:
            for row in range(many):
                choice = (row + (row % 7 == 0)) % 4
                file.write(f'{{"id": "row-{row}", "choice": {choice}, "abstained": null}}\n')
        found[many] = cpu_seconds(
            lambda folder=folder, predictions=predictions: pronominal.score(
                folder, predictions, config="distractors_1"
            )
        )
    return {many: found[many] for many in ROWS}


def write_rows(folder: Path, many: int) -> None:
    """Write rows of RUFF's form with a sentence of ours."""
    sets, cases = ("he", "she", "they", "xe"), ("nominative", "accusative", "possessive")
    text = "The welder said that ___ was early."
    blank: dict[str, Any] = {"text": "___", "start": 21, "end": 24}
    rows = range(many)
    columns: dict[str, Any] = {
        "id": [f"row-{row}" for row in rows],
        "text": [text] * many,
        "blank": pa.array(
            [blank] * many,
            pa.struct([("text", pa.string()), ("start", pa.int32()), ("end", pa.int32())]),
        ),
        "options": [[*sets]] * many,
        "label": [row % 4 for row in rows],
        "pronoun_set": [sets[row % 4] for row in rows],
        "distractor_set": [sets[(row + 1) % 4] for row in rows],
        "case": [cases[row // 4 % 3] for row in rows],
        "occupation": [f"occupation-{row // 12 % 60}" for row in rows],
        "participant": ["guest"] * many,
        "uid": [f"uid-{row}" for row in rows],
    }
    (folder / "distractors_1").mkdir(parents=True)
    pq.write_table(pa.table(columns), folder / "distractors_1" / "test.parquet")


def over_draws() -> Mapping[int, float]:
    draws = np.random.default_rng(0).integers(0, 5, 500_000) / 4
    return {
        many: cpu_seconds(lambda many=many: mean_sequence(draws[:many], 500_000)) for many in DRAWS
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = {**over_systems(Path(folder)), "rows": over_rows(Path(folder))}
    found["draws"] = over_draws()
    report = {
        name: {
            "sizes": [*seconds],
            "cpu_seconds": [*seconds.values()],
            "exponent": exponent([*seconds], [*seconds.values()]),
        }
        for name, seconds in found.items()
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()

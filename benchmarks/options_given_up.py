"""What it saves to give up options of RUFF as soon as they are certainly not the best.

A masked model of yours scores rows of RUFF twice in this process by turns, with whole scores and
with ``scores = "best"``. Prints one JSON object for each number of distractors: which share of the
masked copies and of the CPU time remains (one thread, the median of three rounds), whether the
decisions are the same, nats of the best option's score by token, and by how many nats it wins.

What is saved hangs on the model: an option is given up when what is missing of it weighs less, by
the best option's terms, than what it is behind.

``python benchmarks/options_given_up.py --checkpoint FOLDER [--rows 24]``
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ruff_encoder import SHARED, instances

from pronominal.adapters.lm.scoring.system import LanguageModel

ROUNDS, SAMPLE = 3, 2160


class Counted:
    """A way to score, with its CPU seconds and how many copies the model read for it."""

    def __init__(self, score: Callable[[], Any], model: Any) -> None:
        self.score, self.model = score, model
        self.seconds: list[float] = []
        self.copies = 0
        self.scores: Any = None

    def run(self) -> None:
        """Score once."""
        self.copies = 0

        def count(_: Any, __: Any, given: dict[str, Any]) -> None:
            self.copies += len(given["input_ids"])

        hook = self.model.register_forward_pre_hook(count, with_kwargs=True)
        start = time.process_time()
        self.scores = np.array(self.score())
        self.seconds.append(time.process_time() - start)
        hook.remove()


def measured(system: LanguageModel, sources: Path, distractors: int, rows: int) -> dict[str, Any]:
    """Return what stays of the work for some rows."""
    asked = instances(sources, distractors, SAMPLE)[:: SAMPLE // rows][:rows]
    model, ways = system._loaded.model, []
    for kind in ("options", "best"):

        def score(kind: Any = kind) -> Any:
            system.scores = kind
            return system.loglikelihood(asked)

        ways.append(Counted(score, model))
    for _ in range(ROUNDS):
        for way in ways:
            way.run()
    whole, best = ways
    second, first = np.sort(whole.scores, axis=1)[:, -2:].T
    tokens = system._texts.read(asked).lengths.reshape(len(asked), -1)[:, 0] - 2
    quartiles = np.quantile(first - second, (0.25, 0.5, 0.75))
    return {
        "distractors": distractors,
        "copies": round(best.copies / whole.copies, 3),
        "cpu": round(statistics.median(best.seconds) / statistics.median(whole.seconds), 3),
        "same_decisions": bool((best.scores.argmax(axis=1) == whole.scores.argmax(axis=1)).all()),
        "nats_by_token": round(float(np.mean(first / tokens)), 2),
        "won_by_quartiles": [round(nats, 2) for nats in quartiles.tolist()],
    }


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--checkpoint", required=True, help="a masked model")
    parser.add_argument("--sources", type=Path, default=SHARED, help="as for pronominal build")
    parser.add_argument("--rows", type=int, default=24, help="rows of each number of distractors")
    given = parser.parse_args()
    torch.set_num_threads(1)
    system = LanguageModel(given.checkpoint, device="cpu")
    settings = [measured(system, given.sources, k, given.rows) for k in (0, 1, 3, 5)]
    report = {"benchmark": "options_given_up", "rows": given.rows, "settings": settings}
    print(json.dumps(report))


if __name__ == "__main__":
    main()

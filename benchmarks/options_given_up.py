"""What it saves to give up options of RUFF as soon as they are certainly not the best.

A masked model of yours scores rows of RUFF twice in this process by turns, with whole scores and
with ``scores = "best"``. Prints one JSON object. For each number of distractors it says what share
of the masked copies and of the CPU time remains (one thread, the median of three rounds), whether
the decisions are the same, nats of the best option's score by token, and by how many nats it wins.

What is saved hangs on the model: an option is given up when what is missing of it weighs less, by
the best option's terms, than what it is behind.

``python benchmarks/options_given_up.py --checkpoint FOLDER [--rows 24]``
"""

import argparse
import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ruff_encoder import SHARED, instances

from pronominal.adapters.lm.scoring.system import LanguageModel, Scored
from pronominal.instances import FillingInstance

ROUNDS, SAMPLE = 3, 2160


class Counted:
    """A model that scores in one way.

    Attributes:
        seconds: of the CPU, for each time it scored.
        copies: how many masked copies it read the last time.
        scores: in nats, [rows, options].
    """

    def __init__(self, checkpoint: str, scores: Scored) -> None:
        self.system = LanguageModel(checkpoint, scores=scores, device="cpu")
        self.seconds: list[float] = []
        self.copies = 0
        self.scores: Any = None
        self.system._loaded.model.register_forward_pre_hook(self._count, with_kwargs=True)

    def score(self, asked: Sequence[FillingInstance]) -> None:
        """Score once."""
        self.copies = 0
        start = time.process_time()
        self.scores = np.array(self.system.loglikelihood(asked))
        self.seconds.append(time.process_time() - start)

    def _count(self, _: Any, __: Any, given: dict[str, Any]) -> None:
        self.copies += len(given["input_ids"])


def measured(whole: Counted, best: Counted, asked: Sequence[FillingInstance]) -> dict[str, Any]:
    """Return what stays of the work for some rows, and how clearly they are decided."""
    whole.seconds, best.seconds = [], []
    for _ in range(ROUNDS):
        whole.score(asked)
        best.score(asked)
    second, first = np.sort(whole.scores, axis=1)[:, -2:].T
    tokens = [len(whole.system._texts.whole(one.filled()[0])[0]) for one in asked]
    quartiles = np.quantile(first - second, (0.25, 0.5, 0.75))
    return {
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
    parser.add_argument("--rows", type=int, default=24, help="of each number of distractors")
    given = parser.parse_args()
    torch.set_num_threads(1)
    best, whole = (Counted(given.checkpoint, scores) for scores in ("best", "options"))
    settings = []
    for distractors in (0, 1, 3, 5):
        sample = instances(given.sources, distractors, SAMPLE)
        asked = sample[:: SAMPLE // given.rows][: given.rows]
        settings.append({"distractors": distractors, **measured(whole, best, asked)})
    report = {"benchmark": "options_given_up", "rows": given.rows, "settings": settings}
    print(json.dumps(report))


if __name__ == "__main__":
    main()

"""What encoders of one checkpoint cost in each dtype, and how many answers change.

Loads the system once for each dtype, and once more with plain float32 layers, which are not packed;
all of them answer the same texts in this process by turns. Prints one JSON object: CPU time of
plain float32 over each (the median of three rounds, one thread), and of how many rows the answers
(clusters or probabilities) and the decisions are not those of float32.

``python benchmarks/encoder_dtypes.py --system caw=FOLDER --data FOLDER [--rows 200]``
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any
from unittest.mock import patch

import torch
from arithmetic import FEWER_BITS

from pronominal.adapters import kind_of, load
from pronominal.adapters.layers import encoders
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.eval.runs.decision_rules import by_offsets

ROUNDS = 3
PLAIN = "float32, not packed"


def loaded(given: str) -> dict[str, Any]:
    """Return the system in each dtype."""
    name, _, checkpoint = given.partition("=")
    systems: dict[str, Any] = {}
    with patch.object(encoders, "pack_weights"):
        systems[PLAIN] = load(name, checkpoint, device="cpu")
    for dtype in ("float32", *FEWER_BITS):
        systems[dtype] = load(name, checkpoint, device="cpu", dtype=dtype)
    return systems


def answered(system: Any, rows: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Return a system's answers to rows, and what it decides by them."""
    if kind_of(system) == "choosing":
        answers = system.choose(rows)
        return answers, [max(range(len(one)), key=one.__getitem__) for one in answers]
    answers = system.cluster([row.text for row in rows])
    return answers, [*map(by_offsets, rows, answers)]


def differing(expected: list[Any], given: list[Any]) -> int:
    """Return at how many places two lists differ."""
    return sum(a != b for a, b in zip(expected, given, strict=True))


def seconds(ask: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of a call, and what it answers."""
    start = time.process_time()
    answers = ask()
    return time.process_time() - start, answers


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--system", required=True, help="NAME=CHECKPOINT")
    parser.add_argument("--data", required=True, help="a dataset's folder")
    parser.add_argument("--config")
    parser.add_argument("--rows", type=int, default=200)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    rows = [*islice(load_split(asked.data, asked.config), asked.rows)]
    systems = loaded(asked.system)
    taken: dict[str, list[float]] = {way: [] for way in systems}
    answers: dict[str, Any] = {}
    for _ in range(ROUNDS):
        for way, system in systems.items():
            spent, answers[way] = seconds(lambda: answered(system, rows))  # noqa: B023
            taken[way].append(spent)
    plain = statistics.median(taken[PLAIN])
    found = {
        way: {
            "ratio_of_cpu_time": plain / statistics.median(taken[way]),
            "rows_with_another_answer": differing(answers[PLAIN][0], answers[way][0]),
            "rows_with_another_decision": differing(answers[PLAIN][1], answers[way][1]),
        }
        for way in systems
    }
    print(json.dumps({"rows": len(rows), **found}, indent=2))


if __name__ == "__main__":
    main()

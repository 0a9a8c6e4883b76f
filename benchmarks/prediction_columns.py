"""Reading predictions: in columns against line by line, the same answers in one run.

CPU time of one process, median of three rounds. Prints one JSON object.
"""

import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pronominal.eval.runs.prediction_blocks import plain_counts
from pronominal.eval.runs.predictions import read_predictions

ROWS, ROUNDS = 100_000, 3


def cpu_seconds(read: Callable[[], object]) -> float:
    """Return the CPU time of one reading."""
    begun = time.process_time()
    read()
    return time.process_time() - begun


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "predictions.jsonl"
        with file.open("w", encoding="utf-8") as lines:
            for row in range(ROWS):
                line = {"id": f"row-{row}", "choice": row % 4, "abstained": None}
                lines.write(f"{json.dumps(line)}\n")
        rounds = [
            (
                cpu_seconds(lambda: [*read_predictions(file)]),
                cpu_seconds(lambda: plain_counts(file)),
            )
            for _ in range(ROUNDS)
        ]
    by_line, in_columns = map(statistics.median, zip(*rounds, strict=True))
    result = {
        "rows": ROWS,
        "lines_to_columns": round(by_line / in_columns, 1),
        "cpu_seconds": {"by_line": round(by_line, 3), "in_columns": round(in_columns, 3)},
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

"""`pronominal score ruff` on all 2,073,600 rows with five distractors: CPU time and peak memory.

Builds the rows from the upstream files (``--sources DIR``) and writes predictions that are right in
most rows. The command runs in a process of its own, imports included. Prints one JSON object, with
the SHA-256 of what the command printed: it does not change with the processor.
"""

import argparse
import hashlib
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from ruff_build import SHARED, whole_columns

PREDICTIONS = "predictions.jsonl"


def write_predictions(table: Path, file: Path) -> int:
    """Answer every row, every seventh one wrong; return how many rows there are."""
    rows = pq.read_table(table, columns=["id", "label"])
    with file.open("w", encoding="utf-8") as lines:
        for row, (name, label) in enumerate(
            zip(rows["id"].to_pylist(), rows["label"].to_pylist(), strict=True)
        ):
            choice = (label + (row % 7 == 0)) % 4
            lines.write(f'{{"id": "{name}", "choice": {choice}, "abstained": null}}\n')
    return int(rows.num_rows)


def prepare(sources: Path, place: Path) -> int:
    """Build the rows and write predictions of them; return how many there are."""
    whole_columns(sources, [5], place)
    return write_predictions(place / "ruff/distractors_5/test.parquet", place / PREDICTIONS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=Path, default=SHARED)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        # a child's peak begins with that of the process that starts it
        with multiprocessing.get_context("spawn").Pool(1) as apart:
            rows = apart.apply(prepare, (parser.parse_args().sources, place))
        given = ("-d", str(place / "ruff"), "-c", "distractors_5", "--split", "test")
        command = (sys.executable, "-m", "pronominal", "score", "ruff", *given)
        told = [*command, "-p", str(place / PREDICTIONS), "--json"]
        process = subprocess.Popen(told, stdout=subprocess.PIPE)
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        assert status == 0
    report = {
        "benchmark": "ruff_scores",
        "rows": rows,
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "peak_megabytes": round(used.ru_maxrss / 1024),
        "scores_sha256": hashlib.sha256(printed).hexdigest(),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()

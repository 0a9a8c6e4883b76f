"""`pronominal.evaluate` of a system that guesses on WinoNB's personal rows, with its scores.

CPU time of one process that has imported what it takes, and its peak memory. Prints one JSON
object.

``python benchmarks/winonb_evaluate.py --sources UPSTREAM``
"""

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import pronominal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sources", type=Path, required=True)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        sample = pronominal.build("sample", place)
        pronominal.evaluate(sample, ["random"], config="double", out=place / "imported")
        built = pronominal.build("winonb", place, sources=asked.sources)
        begun = time.process_time()
        results = pronominal.evaluate(built, ["random"], config="personal", out=place / "runs")
        seconds = time.process_time() - begun
        rows = sum(1 for _ in results.runs["random"].joinpath("predictions.jsonl").open())
    report = {
        "benchmark": "winonb_evaluate",
        "rows": rows,
        "cpu_seconds": round(seconds, 1),
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()

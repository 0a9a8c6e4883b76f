"""`pronominal.evaluate` of 300 systems that guess, on the sample's 576 rows, all tests included.

CPU time of one process, apart for `evaluate` and for its summary, and the process's peak memory.
Prints one JSON object.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import pronominal

SYSTEMS = 300


def main() -> None:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else SYSTEMS
    asked = [{"label": f"seed-{seed:03}", "system": "random", "seed": seed} for seed in range(many)]
    with tempfile.TemporaryDirectory() as name:
        sample = pronominal.build("sample", Path(name) / "built")
        begun = time.process_time()
        results = pronominal.evaluate(sample, asked, config="double", out=Path(name) / "runs")
        evaluated = time.process_time()
        printed = len(results.summary)
    seconds = {"evaluate": evaluated - begun, "summary": time.process_time() - evaluated}
    report = {
        "benchmark": "many_systems",
        "systems": many,
        "cpu_seconds": {name: round(value, 1) for name, value in seconds.items()},
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "characters": printed,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()

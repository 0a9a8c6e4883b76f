"""What a user waits for first: the import, the help, and comparing runs that are finished.

CPU time of whole processes, as ratios to what the same machine needs at the same time for the
least that could do it: an empty interpreter for the import and the help, and for finished runs an
interpreter that imports pyarrow and numpy, which every comparison reads its rows with. Prints one
JSON object.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROUNDS = 5
SYSTEMS = (
    *("random", "first-mention", "nearest-mention", "last-mention"),
    *("parallelism", "toy-nine-in-ten"),
)
PRONOMINAL = (sys.executable, "-m", "pronominal")


def cpu_seconds(*command: str) -> float:
    """Return the CPU time of a process and its children; the median of several."""
    taken = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=os.environ)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(taken)


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(
            [*PRONOMINAL, "build", "sample", "-o", name], check=True, capture_output=True
        )
        evaluate = [*PRONOMINAL, "evaluate", "-d", str(folder / "sample"), "-c", "double"]
        evaluate += ["-o", str(folder / "runs"), *(word for s in SYSTEMS for word in ("-s", s))]
        subprocess.run(evaluate, check=True, capture_output=True)
        empty = cpu_seconds(sys.executable, "-c", "pass")
        tables = cpu_seconds(sys.executable, "-c", "import numpy, pyarrow.parquet, pyarrow.compute")
        imported = cpu_seconds(sys.executable, "-c", "import pronominal")
        helped = cpu_seconds(*PRONOMINAL, "--help")
        compared = cpu_seconds(*evaluate)
    result = {
        "systems": len(SYSTEMS),
        "import_to_empty_interpreter": round(imported / empty, 2),
        "help_to_empty_interpreter": round(helped / empty, 2),
        "finished_runs_to_importing_pyarrow": round(compared / tables, 2),
        "cpu_seconds": {
            "empty_interpreter": round(empty, 3),
            "import": round(imported, 3),
            "help": round(helped, 3),
            "importing_pyarrow": round(tables, 3),
            "finished_runs": round(compared, 3),
        },
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()

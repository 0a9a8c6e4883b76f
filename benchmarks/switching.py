"""Antecedent switching over KnowRef's 8,724 rows, and the regular expression it replaces.

Seconds are CPU time of the process, the median of five rounds; the rows are read before. The
regular expression is that of the definition: an alternation of both names, the longer one first,
compiled for each row. ``python benchmarks/switching.py [SOURCES]``
"""

import json
import re
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pronominal.dataset_scripts import knowref
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.switching import Unswitchable, switch_row

SOURCES = Path(__file__).resolve().parent.parent.parent / "shared" / "upstream"
ROUNDS = 5

Row = dict[str, Any]


def rows(sources: Path) -> list[Row]:
    return [
        row
        for split in knowref.splits(Sources(sources), BuildOptions())
        if split.config == "original"
        for table in split.tables
        for row in table.to_pylist()
    ]


def by_switching(row: Row) -> str | None:
    try:
        return str(switch_row(row)["text"])
    except Unswitchable:
        return None


def by_expression(row: Row) -> str | None:
    first, second = (candidate["text"] for candidate in row["candidates"])
    if first == second or any(candidate["start"] < 0 for candidate in row["candidates"]):
        return None
    names = "|".join(map(re.escape, sorted((first, second), key=len, reverse=True)))
    other = {first: second, second: first}
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda found: other[found.group()], row["text"])


def timed(switch: Callable[[Row], str | None], rows: Sequence[Row]) -> tuple[float, list[Any]]:
    re.purge()
    start = time.process_time()
    texts = [switch(row) for row in rows]
    return time.process_time() - start, texts


def main() -> None:
    every = rows(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCES)
    ways = {"pronominal": by_switching, "regular_expression": by_expression}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        texts = {}
        for name, way in ways.items():
            spent, texts[name] = timed(way, every)
            seconds[name].append(spent)
        assert texts["pronominal"] == texts["regular_expression"], "the texts differ"
    medians = {name: statistics.median(spent) for name, spent in seconds.items()}
    report = {
        "benchmark": "switching",
        "rows": len(every),
        "switched": sum(text is not None for text in texts["pronominal"]),
        "rows_per_cpu_second": {name: round(len(every) / spent) for name, spent in medians.items()},
        "ratio": round(medians["regular_expression"] / medians["pronominal"], 1),
        "identical_texts": True,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()

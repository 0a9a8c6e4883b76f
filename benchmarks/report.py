"""What a report on 100 and on 500 systems costs: CPU time, bytes, memory, seconds to open.

Give the folder of a built dataset of WinoPron's form; without one the sample is built. Twenty
systems that are right at random, more or less often, answer it; their runs are copied under other
labels.
The page is written by the command, in a process of its own, and opened by Chromium from disk with
the network off, in a fresh context for every round; a load is counted from the start of the
navigation to the end of the load event, as the browser's own clock has it. Prints one JSON object.
"""

import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import pronominal
from pronominal.eval.evaluation import evaluate_systems
from pronominal.eval.runs.runner import SystemSettings
from pronominal.instances import ResolutionInstance

SYSTEMS, SIZES, ROUNDS = 20, (100, 500), 5
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


class Guesser:
    """Is right as often as it is told, and seldom with *xe*."""

    def __init__(self, number: int) -> None:
        self.name = f"system-{number:03}"
        self._random = random.Random(number)
        self._skill = self._random.uniform(0.5, 0.95)

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        """Return 1 for the choice and 0 for the other candidate."""
        return [self._choose(instance) for instance in instances]

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        familiar = instance.columns.get("pronoun_set") != "xe"
        right = self._random.random() < self._skill - (0 if familiar else 0.2)
        chosen = instance.label if right else 1 - instance.label
        return [float(place == chosen) for place in (0, 1)]


def make_runs(dataset: Path, out: Path, number: int) -> None:
    """Run some systems and copy what they left until there are as many runs as asked for."""
    split = pronominal.load_split(dataset)
    systems = {one.name: one for one in map(Guesser, range(SYSTEMS))}
    asked = [SystemSettings(label, "own") for label in systems]
    done = evaluate_systems(split, asked, out, systems=systems)
    runs = [one.run for one in done.values()]
    for copy in range(SYSTEMS, number):
        original, label = runs[copy % SYSTEMS], f"system-{copy:03}"
        folder = shutil.copytree(original, original.with_name(f"copy.{label}"))
        record = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps(record | {"label": label}))


def seconds_to_open(browser: Browser, page: Path) -> float:
    context = browser.new_context(offline=True)
    opened = context.new_page()
    opened.goto(page.as_uri())
    milliseconds = opened.evaluate(LOADED)
    context.close()
    return float(milliseconds) / 1000


def written(runs: Path, page: Path) -> dict[str, float]:
    """Write a page in a process of its own and say what that took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "pronominal", "report", str(runs), "--out", str(page)]
    subprocess.run(command, check=True, capture_output=True, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    beside = page.with_name(f"{page.stem}.all-systems")
    return {
        "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "page_megabytes": page.stat().st_size / 1e6,
        "beside_megabytes": sum(file.stat().st_size for file in beside.iterdir()) / 1e6,
        "peak_megabytes": after.ru_maxrss / 1024,  # of all children, the largest one is the last
    }


def main(given: Sequence[str]) -> None:
    results = {}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        place = Path(folder)
        dataset = Path(given[0]) if given else pronominal.build("sample", place / "built")
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for number in SIZES:
            make_runs(dataset, place / str(number), number)
            page = place / f"{number}.html"
            measured = written(place / str(number), page)
            seconds = [seconds_to_open(browser, page) for _ in range(ROUNDS)]
            measured["open_seconds_median"] = statistics.median(seconds)
            results[f"{number} runs"] = {name: round(one, 2) for name, one in measured.items()}
        browser.close()
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main(sys.argv[1:])

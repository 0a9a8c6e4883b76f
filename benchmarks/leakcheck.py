"""Looks for evaluation sentences in a 200 MB text file: `leakcheck` beside ``grep -F -f``.

The text is of our own making: lines of the standard library's sources and of the licences that
lie on this machine, drawn at random with a fixed seed. Two sentences are hidden in it: one letter
by letter on line 40,000, and one on lines 60,000 and 60,001 in capitals. Both sides look for
every distinct sentence of the dataset, grep byte by byte in the C locale.

The dataset is WinoPron where ``../shared/upstream`` is, and our own sample elsewhere; ``--dataset
FOLDER`` takes any other. CPU time (user and system, grep as a child process), the sides take
turns, median of three. Then the clean text alone, and with ``--clean PATH...`` any other text
that should hold nothing. Prints one JSON object, without a sentence.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sysconfig
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.leakcheck.finder import Survey, leakcheck
from pronominal.dataset_scripts.leakcheck.index import LeakIndex

ROUNDS = 3
UPSTREAM = Path(__file__).resolve().parents[2] / "shared" / "upstream"
LICENCES = Path("/usr/share/common-licenses")


def clean_lines() -> list[str]:
    """Return the distinct lines of at least six words."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    files = [path for path in sorted(stdlib.rglob("*.py")) if "site-packages" not in path.parts]
    texts = [path.read_text(errors="replace") for path in (*files, *LICENCES.glob("*"))]
    lines = {line.strip() for text in texts for line in text.splitlines()}
    return sorted(line for line in lines if len(line.split()) >= 6)


def write_text(path: Path, megabytes: int, hidden: dict[int, str]) -> None:
    """Write random clean lines, and the hidden ones in place of those with their numbers."""
    lines, generator, number = clean_lines(), np.random.default_rng(0), 0
    with path.open("w", encoding="utf-8") as file:
        while file.tell() < megabytes * 1_000_000:
            for choice in generator.integers(0, len(lines), 10_000).tolist():
                number += 1
                file.write(hidden.get(number, lines[choice]) + "\n")


def cpu_seconds(of: int, work: Callable[[], object]) -> float:
    """Return the CPU time that some work takes in this process or in its children."""
    before = resource.getrusage(of)
    work()
    after = resource.getrusage(of)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--clean", nargs="*", default=[])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(measure(Path(folder), arguments), indent=2))


def measure(folder: Path, arguments: argparse.Namespace) -> dict[str, object]:
    dataset = arguments.dataset or built_dataset(folder)
    tables = [pq.read_table(file, columns=["text"]) for file in sorted(dataset.glob("*/*.parquet"))]
    sentences = list(dict.fromkeys(text for table in tables for text in table["text"].to_pylist()))
    patterns, text, clean = (folder / name for name in ("patterns", "text", "clean"))
    patterns.write_text("\n".join(" ".join(sentence.split()) for sentence in sentences))
    first, second = sentences[len(sentences) // 3], sentences[len(sentences) // 2].upper().split()
    middle = len(second) // 2
    halves = {60_000: " ".join(second[:middle]), 60_001: " ".join(second[middle:])}
    write_text(text, arguments.megabytes, {40_000: first, **halves})
    write_text(clean, arguments.megabytes, {})

    started = time.process_time()
    index = LeakIndex.of([dataset])
    building = time.process_time() - started
    found: dict[str, object] = {}

    def ours() -> None:
        found["leakcheck"] = [leak.line for leak in leakcheck([str(text)], index)]

    def grep() -> None:
        command = ["grep", "--line-number", "--fixed-strings", f"--file={patterns}", text]
        environment = {**os.environ, "LC_ALL": "C"}
        output = subprocess.run(command, capture_output=True, env=environment, check=False).stdout
        found["grep"] = [int(line.split(b":")[0]) for line in output.splitlines()]

    times: dict[str, list[float]] = {"leakcheck": [], "grep": []}
    for _ in range(ROUNDS):
        times["leakcheck"].append(cpu_seconds(resource.RUSAGE_SELF, ours))
        times["grep"].append(cpu_seconds(resource.RUSAGE_CHILDREN, grep))
    size = text.stat().st_size / 1e6
    sides = {
        name: {
            "megabytes_per_cpu_second": round(size / statistics.median(seconds), 1),
            "found_on_lines": found[name],
        }
        for name, seconds in times.items()
    }
    return {
        "dataset": dataset.name,
        "sentences": len(sentences),
        "megabytes": round(size, 1),
        "index_cpu_seconds": round(building, 2),
        **sides,
        "clean": [count(path, index) for path in (str(clean), *arguments.clean)],
    }


def count(path: str, index: LeakIndex) -> dict[str, object]:
    survey = Survey()
    found = sum(1 for _ in leakcheck([path], index, history=False, survey=survey))
    name = Path(path).name
    return {"path": name, "megabytes": round(survey.size / 1e6, 1), "found": found}


def built_dataset(folder: Path) -> Path:
    name = "winopron" if UPSTREAM.is_dir() else "sample"
    write_dataset(dataset_script(name), Sources(UPSTREAM), BuildOptions(), folder)
    return folder / name


if __name__ == "__main__":
    main()

"""A construction over millions of generated sentences: nothing lost, bounded, linear in cores.

Writes files of sentences of our own: one in 5,000 has everything that is asked for, each other one
fails at one stage (it is too short, has digits, no connective, a pronoun too early, a name that
recurs, two names of one gender, three names). Found must be the planted sentences and nothing
else, in every run.

``python benchmarks/construction_scale.py [--sentences 5000000] [--workers 2]`` kills the run when
two in five of its shards are done, and continues it. ``parts_before_the_kill`` are not made again.

``python benchmarks/construction_scale.py --cores 1 2 [--sentences 10000000]`` runs the corpus whole
with each number of processes, and a tenth of it with the first: the peak memory of the largest
process is not to grow with the corpus, the CPU seconds are not to grow with the processes, and
``wall_speedup`` is to be the number of cores. Wall time says something on a quiet machine only.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pronominal.dataset_scripts.reading.loading import read_split

FILES = 8
PLANTED = 5_000
MALE = ("Adam", "Bruno", "Carl", "Dennis", "Felix", "Gustav", "Paul", "Victor")
FEMALE = ("Anna", "Berta", "Clara", "Doris", "Frieda", "Greta", "Paula", "Vera")
FAILING = (
    "{male} asked {female} about {word}, because she knew.",
    "{male} quietly asked {female} about 7 {word} gardens, because she had planted them.",
    "{male} quietly asked {female} about the {word} garden and everybody else there knew.",
    "He quietly asked {female} about the {word} garden, because she had planted it.",
    "{male} quietly asked {female} about the {word} garden, because {female} said that she knew.",
    "{male} quietly asked {other} about the {word} garden, because he had planted it.",
    "{male} asked {female} and {other} about the {word} garden, because she had planted it.",
    "A neighbour from the {word} street had never seen the old garden before that day.",
)
RUN = [sys.executable, "-m", "pronominal", "construct", "knowref", "--proper-names-only"]


def planted(number: int) -> str:
    """A sentence that passes every stage, another one for each number."""
    word = "w" + "".join("klmnpqtuvx"[int(digit)] for digit in str(number))
    male, female = MALE[number % 8], FEMALE[number // 8 % 8]
    return f"{male} quietly asked {female} about the {word} garden, because she had planted it."


def write_corpus(folder: Path, sentences: int) -> set[str]:
    source, found = random.Random(0), set()
    for file in range(FILES):
        with (folder / f"{file}.txt").open("w", encoding="ascii") as lines:
            for number in range(file, sentences, FILES):
                if number % PLANTED == 0:
                    line = planted(number)
                    found.add(line)
                else:
                    line = source.choice(FAILING).format(
                        male=source.choice(MALE),
                        female=source.choice(FEMALE),
                        other=source.choice(MALE),
                        word="".join(source.choices("klmnpqtuvx", k=8)),
                    )
                lines.write(f"{line}\n")
    return found


def write_names(path: Path) -> None:
    rows = [f"{name},male" for name in MALE] + [f"{name},female" for name in FEMALE]
    path.write_text("\n".join(["name,gender", *rows]), encoding="ascii")


def run_command(folder: Path, workers: int) -> list[str]:
    """Return the command that constructs ``folder/out`` from ``folder/corpus``."""
    options = {
        "--input": folder / "corpus",
        "--out": folder / "out",
        "--names": folder / "names.csv",
        "--workers": workers,
        "--report": folder / "report.json",
    }
    return [*RUN, *(str(part) for option in options.items() for part in option)]


def kill_in_the_middle(command: list[str], work: Path) -> int:
    """Start the run and kill it; return the number of parts that it had finished."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **quiet)
    wanted = max(1, len(list((work.parent.parent / "corpus").iterdir())) * 2 // 5)
    while len(list(work.glob("*/damage.json"))) < wanted and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (work.parent / "constructed").exists(), "the run was over before it was killed"
    return len(list(work.glob("*/*.parquet")))


def run_whole(folder: Path, workers: int, expected: set[str]) -> dict[str, float]:
    """Run the command to its end; return what it took, processes of its own included."""
    started = time.monotonic()
    process = subprocess.Popen(run_command(folder, workers), stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - started
    assert process.returncode == 0, "the run has failed"
    table = read_split(str(folder / "out" / "constructed"), "original", "train").table
    found = set(table["original"].to_pylist())
    read = json.loads((folder / "report.json").read_text())["stages"]["sentences"]["kept"]
    return {
        "workers": workers,
        "read": read,
        "planted": len(expected),
        "missed": len(expected - found),
        "others": len(found - expected),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 1),
        "wall_seconds": round(wall, 1),
        "peak_megabytes_of_a_process": round(used.ru_maxrss / 1024, 1),
    }


def corpus(folder: Path, sentences: int) -> tuple[set[str], float]:
    """Write a corpus and its names; return the planted sentences and its size in megabytes."""
    (folder / "corpus").mkdir(parents=True)
    expected = write_corpus(folder / "corpus", sentences)
    write_names(folder / "names.csv")
    return expected, sum(file.stat().st_size for file in (folder / "corpus").iterdir()) / 1e6


def killed(folder: Path, sentences: int, workers: int) -> dict[str, object]:
    expected, megabytes = corpus(folder, sentences)
    work = folder / "out" / ".constructed.parts"
    parts = kill_in_the_middle(run_command(folder, workers), work)
    return {
        "sentences": sentences,
        "megabytes": round(megabytes, 1),
        "parts_before_the_kill": parts,
        "continued": run_whole(folder, workers, expected),
    }


def scaling(folder: Path, sentences: int, cores: list[int]) -> dict[str, object]:
    expected, megabytes = corpus(folder / "whole", sentences)
    tenth, _ = corpus(folder / "tenth", sentences // 10)
    runs = [run_whole(folder / "whole", workers, expected) for workers in cores]
    for run in runs:
        run["sentences_per_cpu_second"] = round(sentences / run["cpu_seconds"])
        run["sentences_per_wall_second"] = round(sentences / run["wall_seconds"])
        run["cpu_seconds_against_the_first"] = run["cpu_seconds"] / runs[0]["cpu_seconds"]
        run["wall_speedup"] = runs[0]["wall_seconds"] / run["wall_seconds"]
    return {
        "sentences": sentences,
        "megabytes": round(megabytes, 1),
        "cores_of_the_machine": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "runs": runs,
        "a_tenth_of_the_corpus": run_whole(folder / "tenth", cores[0], tenth),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--cores", type=int, nargs="+", help="run whole, with so many processes")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if given.cores:
            found = scaling(Path(name), given.sentences or 10_000_000, given.cores)
        else:
            found = killed(Path(name), given.sentences or 5_000_000, given.workers)
    print(json.dumps({"benchmark": "construction_scale", **found}, indent=2))


if __name__ == "__main__":
    main()

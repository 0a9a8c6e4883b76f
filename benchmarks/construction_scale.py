"""A construction over millions of generated sentences, killed and continued once.

Writes files of sentences of our own: one in 5,000 has everything that is asked for, each other one
fails at one stage (it is too short, has digits, no connective, a pronoun too early, a name that
recurs, two names of one gender, three names). The run takes place in a process of its own, is
killed when two in five of its shards are done, and is continued. Found must be the planted
sentences and nothing else.

Prints CPU seconds of the continued run and of the workers that ended before the kill, sentences
a second of them (more than a core does, by what the killed processes did), and the peak memory of
the largest process. ``python benchmarks/construction_scale.py [--sentences 5000000] [--workers 2]``
"""

import argparse
import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pronominal.dataset_scripts.published import read_split

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


def kill_in_the_middle(command: list[str], work: Path) -> int:
    """Start the run and kill it; return the number of parts that it had finished."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wanted = max(1, len(list((work.parent.parent / "corpus").iterdir())) * 2 // 5)
    while len(list(work.glob("*/damage.json"))) < wanted and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    return len(list(work.glob("*/*.parquet")))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=5_000_000)
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        print(json.dumps(measure(Path(name), arguments.sentences, arguments.workers), indent=2))


def measure(folder: Path, sentences: int, workers: int) -> dict[str, object]:
    (folder / "corpus").mkdir()
    expected = write_corpus(folder / "corpus", sentences)
    write_names(folder / "names.csv")
    told = folder / "report.json"
    options = {
        "--input": folder / "corpus",
        "--out": folder / "out",
        "--names": folder / "names.csv",
        "--workers": workers,
        "--report": told,
    }
    command = [*RUN, *(str(part) for option in options.items() for part in option)]
    parts = kill_in_the_middle(command, folder / "out" / ".constructed.parts")
    assert not (folder / "out" / "constructed").exists(), "the run was over before it was killed"
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    table = read_split(str(folder / "out" / "constructed"), "original", "train").table
    found = set(table["original"].to_pylist())
    report = json.loads(told.read_text())
    return {
        "benchmark": "construction_scale",
        "sentences": sentences,
        "megabytes": round(sum(f.stat().st_size for f in (folder / "corpus").iterdir()) / 1e6, 1),
        "workers": workers,
        "parts_before_the_kill": parts,
        "planted": len(expected),
        "missed": len(expected - found),
        "others": len(found - expected),
        "read": report["stages"]["sentences"]["kept"],
        "cpu_seconds": round(cpu, 1),
        "sentences_per_cpu_second": round(sentences / cpu),
        "peak_megabytes_of_a_process": round(used.ru_maxrss / 1024, 1),
    }


if __name__ == "__main__":
    main()

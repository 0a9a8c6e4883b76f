"""Kill commands at random moments: ``python -m tests.fuzzing.kills --kills 30``.

The same command, given again, has to end with the same bytes, and to leave nothing else behind.
"""

import argparse
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random
from typing import Any

from tests.cli.test_main import pronominal
from tests.conftest import SHARED
from tests.dataset_scripts.construction.texts import corpus, write_names
from tests.fuzzing.commands import PAIRS
from tests.processes import command_line, started

TIMES = ("times", "seconds", "started", "finished")
"""Fields of JSON files that say when something was done."""

REPO = "uds-lsv/sample"

LOOPBACK_HUB = SHARED / "tools" / "loopback_hub.py"
"""The stand-in for the Hub, beside the project."""


@dataclass(frozen=True)
class Killed:
    """What is killed: a command, and what it leaves.

    Attributes:
        words: the command, in which ``{}`` is a folder of its own.
        left: what it left, name -> digest; that of its ``OUT`` folder without it.
        around: opened around all calls with one folder; gives environment variables.
        between: checks what holds right after a kill.
    """

    words: tuple[str, ...]
    left: Callable[[Path], Mapping[str, str]] | None = None
    around: Callable[[Path], Any] | None = None
    between: Callable[[Path], None] | None = None


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of every file in a folder; of JSON objects without their times."""
    return {
        file.relative_to(folder).as_posix(): hashlib.sha256(_untimed(file)).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() or file.name.endswith(".unfinished")
    }


def _differing(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    return sorted(n for n in one.keys() | other.keys() if one.get(n) != other.get(n))


def _untimed(file: Path) -> bytes:
    if file.suffix != ".json":
        return file.read_bytes() if file.is_file() else b""
    content = json.loads(file.read_bytes())
    return json.dumps(_without_times(content), sort_keys=True).encode()


def _without_times(content: Any) -> Any:
    if isinstance(content, dict):
        return {k: _without_times(value) for k, value in content.items() if k not in TIMES}
    return content


def _start(
    words: tuple[str, ...], folder: Path, environment: Mapping[str, str]
) -> tuple[int, Callable[[], int]]:
    """Start a command; return its process, and what waits for it and returns how it ended.

    It is forked from a process that has imported what it needs, so that kills hit its work. The
    Hub's client reads its environment when it is imported, and needs a process of its own.
    """
    given = [word.replace("{}", str(folder)) for word in words]
    if not environment:
        forked = started(command_line, *given)

        def wait() -> int:
            forked.join()
            return forked.exitcode or 0

        return forked.pid or 0, wait
    command = [sys.executable, "-m", "pronominal", *given]
    return (one := subprocess.Popen(command, env=os.environ | environment)).pid, one.wait


def _end(words: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> float:
    began = time.monotonic()
    _, wait = _start(words, folder, environment)
    status = wait()
    assert status == 0, f"it exits with {status}"
    return time.monotonic() - began


@contextmanager
def _prepared(one: Killed, folder: Path) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Give the folder of a call, empty: always the same one, for some files name their place."""
    folder.mkdir()
    try:
        if one.around is None:
            yield folder, {}
        else:
            with one.around(folder) as environment:
                yield folder, environment
    finally:
        shutil.rmtree(folder)


def kill(one: Killed, folder: Path, kills: int, seed: int = 0) -> list[str]:
    """Kill a command so many times, each time from its beginning; return what went wrong.

    `folder` is made and removed for each call.
    """
    chance, faults = Random(seed), []
    left = one.left or (lambda folder: digests(folder / "out"))
    started(os.getpid).join()  # what forks has imported all: that is no part of the command's time
    with _prepared(one, folder) as (_, environment):
        seconds = _end(one.words, folder, environment)
        whole = left(folder)
    for number in range(kills):
        with _prepared(one, folder) as (_, environment):
            process, wait = _start(one.words, folder, environment)
            moment = chance.uniform(0, 1) * seconds
            time.sleep(moment)
            with suppress(ProcessLookupError):  # it was faster than the first time
                os.kill(process, signal.SIGKILL)
            wait()
            try:
                if one.between is not None:
                    one.between(folder)
                _end(one.words, folder, environment)
                differing = _differing(whole, left(folder))
                assert not differing, f"other bytes or files: {differing}"
            except AssertionError as error:
                faults.append(f"kill {number} after {moment:.2f} of {seconds:.2f} s: {error}")
                print(faults[-1], flush=True)
    return faults


@contextmanager
def _hub(folder: Path) -> Iterator[dict[str, str]]:
    """Run the loopback Hub beside the project; give what a client needs to know of it."""
    spec = spec_from_file_location("loopback_hub", LOOPBACK_HUB)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    users, orgs = [("owner", "hf_owner", "write")], [("uds-lsv", ["owner"])]
    with module.LoopbackHub(folder / "hub", users=users, orgs=orgs) as hub:
        (folder / "url").write_text(hub.url)
        yield {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(folder / "home"),
            "HF_TOKEN": "hf_owner",
            "HF_HUB_OFFLINE": "0",
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
        }


def _meta(folder: Path) -> Any:
    file = folder / "hub" / "repos" / "datasets" / REPO / "meta.json"
    return json.loads(file.read_text()) if file.exists() else None


def _published(folder: Path) -> dict[str, str]:
    meta = _meta(folder)
    commit = folder / "hub" / "repos" / "datasets" / REPO / "commits"
    head = next(sha for name, sha in _flat(meta) if name.endswith("main"))
    files = json.loads((commit / f"{head}.json").read_text())
    told = {name: value for name, value in _flat(files) if "date" not in name}
    seen = {path: digest for path, digest in told.items() if path.endswith(("oid", "etag"))}
    return seen | {key: str(meta[key]) for key in ("private", "gated")}


def _flat(content: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _flat(value, f"{name}/{key}")
    else:
        yield name, str(content)


def _nobody_reads(folder: Path) -> None:
    """Refuse a moment at which strangers could read the tables."""
    meta = _meta(folder)
    assert meta is None or meta["private"] or meta["gated"], "it is open to strangers"


def commands(inputs: Path) -> dict[str, Killed]:
    """Write what the commands read, and return them by their names."""
    assert pronominal("build", "sample", "--out", inputs).returncode == 0
    corpus(inputs, files=3, lines=2_000)
    write_names(inputs)
    rows = ("--dataset", str(inputs / "sample"), "--config", "double")
    systems = ("--system", PAIRS, "--system", "random", "--system", "first-mention")
    evaluated = ("evaluate", *rows, *systems, "--out", str(inputs / "runs"))
    assert pronominal(*evaluated).returncode == 0
    texts = [word for file in sorted(inputs.glob("*.txt*")) for word in ("--input", str(file))]
    names = ("--proper-names-only", "--names", str(inputs / "names.csv"), "--out", "{}/out")
    pages = ("--out", "{}/out/report.html", "--markdown", "{}/out/t.md", "--csv", "{}/out/tables")
    return {
        "evaluate": Killed(("evaluate", *rows, *systems, "--out", "{}/out")),
        "report": Killed(("report", str(inputs / "runs"), *pages)),
        "construct": Killed(("construct", "knowref", *texts, *names, "--list-rejected", "texts")),
        "publish": Killed(
            ("publish", str(inputs / "sample"), "--repo", REPO, "--gated", "manual"),
            _published,
            _hub,
            _nobody_reads,
        ),
    }


def training(inputs: Path) -> Killed:
    """Write a tiny encoder and rows, and return a training that validates and saves."""
    from tests.eval.training import test_bert

    encoder = test_bert.write_encoder("bert", inputs / "encoder")
    rows = test_bert.write_rows(inputs / "own.jsonl", [test_bert.row(n) for n in range(60)])
    words = ("train", "bert", "--data", str(rows), "--encoder", str(encoder), "--out", "{}/out")
    return Killed((*words, "--epochs", "3", "--save-every", "3"), _trained)


def _trained(folder: Path) -> dict[str, str]:
    """Return what a training left, but for its card, which says how long it took."""
    found = digests(folder / "out")
    return {name: digest for name, digest in found.items() if not name.endswith("README.md")}


def main() -> None:
    """Kill every command, or one of them, and print how often it ended with other bytes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--command")
    given = parser.parse_args()
    counts = {}
    with tempfile.TemporaryDirectory() as name:
        read = Path(name) / "read"
        read.mkdir()
        made = commands(read)
        if given.command in (None, "train bert"):
            made["train bert"] = training(read)
        for command, one in made.items():
            if given.command in (None, command):
                faults = kill(one, Path(name) / "call", given.kills, given.seed)
                counts[command] = {"kills": given.kills, "faults": len(faults)}
                print(command, counts[command], flush=True)
    print(json.dumps(counts, indent=2))


if __name__ == "__main__":
    main()

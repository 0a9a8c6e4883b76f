"""Whole runs: the same bytes however they are run, and a dataset like the others at the end."""

import importlib.util
import json
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pronominal.atomic import held_folder
from pronominal.dataset_scripts.construction import constructed_dataset, engine
from pronominal.dataset_scripts.construction.checks import violations
from pronominal.dataset_scripts.construction.constructed_dataset import (
    Description,
    construct_dataset,
)
from pronominal.dataset_scripts.construction.engine import Construction
from pronominal.dataset_scripts.construction.inputs import Shard
from pronominal.dataset_scripts.construction.pipeline import STAGES, Report
from pronominal.dataset_scripts.construction.rules import PAPER, RELEASED
from pronominal.dataset_scripts.hub.release import read_release
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.tables.checksums import SUMS
from pronominal.errors import InputError
from tests.cli.test_main import pronominal
from tests.dataset_scripts.construction.texts import corpus, planted, write_names

NO_MODEL = replace(PAPER, pipeline=None)
LINES = 1_500


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> tuple[Construction, set[str]]:
    folder = tmp_path_factory.mktemp("corpus")
    paths, positives = corpus(folder, files=4, lines=LINES)
    shared = write_names(folder)
    return Construction(tuple(paths), NO_MODEL, names=shared, piece=50_000, part=1), positives


@pytest.fixture(scope="module")
def built(
    text: tuple[Construction, set[str]], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Any]:
    out = tmp_path_factory.mktemp("built")
    report = construct_dataset(text[0], Description(licence="cc0-1.0"), out)
    return out / "constructed", report


def sums(folder: Path) -> str:
    return (folder / SUMS).read_text()


def test_every_planted_sentence_is_found_and_nothing_else(
    text: tuple[Construction, set[str]], built: tuple[Path, Any]
) -> None:
    table = read_split(str(built[0]), "original", "train").table
    assert set(table["original"].to_pylist()) == text[1]
    assert table.num_rows == len(text[1]) > 200
    # nothing stays behind that a later run could trip over
    assert [path.name for path in built[0].parent.iterdir()] == ["constructed"]


def test_the_report_counts_every_sentence(built: tuple[Path, Any]) -> None:
    stages = built[1].describe()["stages"]
    assert list(stages) == list(STAGES)
    for name, counts in stages.items():
        if name != "sentences":
            assert counts["read"] == counts["kept"] + sum(counts["dropped"].values())
    for before, after in pairwise(STAGES):
        assert stages[after]["read"] == stages[before]["kept"]
    # the distractors fail one at each of these
    for name in ("filters", "connectives", "noun_phrases", "labels"):
        assert stages[name]["dropped"]


def test_the_report_as_text_names_twenty_faults_and_sums_up_the_rest() -> None:
    report = Report(damage=Counter({f"file {number}.txt: damaged": 2 for number in range(25)}))
    lines = [line for line in report.lines() if line.startswith("not read")]
    assert len(lines) == 21
    assert lines[-1].split()[2:] == ["10", "more,", "named", "in", "the", "JSON", "report"]
    assert len(report.describe()["damage"]) == 25


def test_any_number_of_workers_gives_the_same_bytes(
    text: tuple[Construction, set[str]], built: tuple[Path, Any], tmp_path: Path
) -> None:
    construct_dataset(text[0], Description(licence="cc0-1.0"), tmp_path, workers=2)
    assert sums(tmp_path / "constructed") == sums(built[0])


KILLED = """
import os, pickle, signal, sys
from pathlib import Path
from pronominal.dataset_scripts.construction.constructed_dataset import (
    Description,
    construct_dataset,
)

def die(done, shards):
    if done == 2:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    construction, out = pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2])
    construct_dataset(construction, Description(licence="cc0-1.0"), out, workers=2, progress=die)
"""


def test_a_killed_run_goes_on_to_the_same_bytes(
    text: tuple[Construction, set[str]], built: tuple[Path, Any], tmp_path: Path
) -> None:
    (tmp_path / "construction").write_bytes(pickle.dumps(text[0]))
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    command = [sys.executable, script, tmp_path / "construction", tmp_path / "out"]
    work = tmp_path / "out" / ".constructed.parts"
    done = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "out" / "constructed").exists()
    before = {path: path.stat().st_mtime_ns for path in work.glob("*/*.parquet")}
    kept = work.parent / "kept"
    shutil.copytree(work, kept)
    report = construct_dataset(text[0], Description(licence="cc0-1.0"), tmp_path / "out")
    assert before
    assert sums(tmp_path / "out" / "constructed") == sums(built[0])
    assert report.describe() == built[1].describe()
    # the parts that stood there were not made again
    shutil.copytree(kept, work, copy_function=shutil.copy2)
    touched = {path: path.stat().st_mtime_ns for path in work.glob("*/*.parquet")}
    engine.run(text[0], work)
    assert {path: path.stat().st_mtime_ns for path in touched} == touched


def test_a_run_killed_as_it_removed_its_parts_ends_with_the_same_bytes(
    text: tuple[Construction, set[str]],
    built: tuple[Path, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work, remove = tmp_path / ".constructed.parts", shutil.rmtree

    def remove_one_part(folder: Path, **how: bool) -> None:
        if Path(folder) != work:
            remove(folder, **how)
            return
        min(work.glob("*/*.parquet")).unlink()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", remove_one_part)
        with pytest.raises(KeyboardInterrupt):
            construct_dataset(text[0], Description(licence="cc0-1.0"), tmp_path)
    assert (work / "000000" / "damage.json").exists()  # which says that all its parts are there
    construct_dataset(text[0], Description(licence="cc0-1.0"), tmp_path)
    assert sums(tmp_path / "constructed") == sums(built[0])
    assert not work.exists()


def test_parts_of_other_rules_are_not_gone_on_with(
    text: tuple[Construction, set[str]], tmp_path: Path
) -> None:
    engine.prepare(text[0], tmp_path / "work")
    engine.prepare(text[0], tmp_path / "work")
    other = replace(text[0], rules=replace(RELEASED, pipeline=None))
    with pytest.raises(InputError, match="unfinished run of other inputs, rules or lists"):
        engine.prepare(other, tmp_path / "work")


def test_two_processes_do_not_construct_one_corpus(
    text: tuple[Construction, set[str]], tmp_path: Path
) -> None:
    with (
        held_folder(tmp_path / "out" / ".constructed.parts"),
        pytest.raises(InputError, match="another process is writing there; wait until it is done"),
    ):
        construct_dataset(text[0], Description(), tmp_path / "out")


def test_what_cannot_be_written_loses_no_part(
    text: tuple[Construction, set[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> None:
        raise InputError("another process has written the folder", cure="wait", file=folder)

    monkeypatch.setattr(constructed_dataset, "write_checksums", refuse)
    with pytest.raises(InputError, match="another process has written"):
        construct_dataset(text[0], Description(), tmp_path / "out")
    work = tmp_path / "out" / ".constructed.parts"
    assert len(list(work.glob("*/damage.json"))) == len(list(work.glob("0*"))) > 1


def test_a_refusal_does_not_wait_for_every_shard(tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    begun.mkdir()
    todo = [Shard(number, begun / str(number)) for number in range(40)]
    with pytest.raises(InputError, match="no such names"):
        engine.run_in_processes(partial(refused_shard, at=0), todo, 1, lambda done, shards: None)
    assert len(list(begun.iterdir())) < len(todo)


def refused_shard(shard: Shard, at: int) -> tuple[str, str] | None:
    shard.path.touch()
    if shard.number == at:
        return "no such names", "give others"
    time.sleep(0.1)  # work enough that the refusal is read before all of it is done
    return None


def killed_shard(shard: Shard) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_process_is_told_with_its_cure(tmp_path: Path) -> None:
    todo = [Shard(number, tmp_path) for number in range(3)]
    with pytest.raises(InputError, match="want of memory; give the same command again, with fewer"):
        engine.run_in_processes(killed_shard, todo, 1, lambda done, shards: None)


def free_ports(number: int) -> list[int]:
    with ExitStack() as stack:
        open_ones = [stack.enter_context(socket.create_server(("", 0))) for _ in range(number)]
        return [one.getsockname()[1] for one in open_ones]


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra ray is not here")
def test_ray_gives_the_same_bytes(
    text: tuple[Construction, set[str]],
    built: tuple[Path, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import ray

    from pronominal.dataset_scripts.construction import ray_engine

    # a node dies where its agents have not written their ports after 15 seconds, as on a machine
    # with much to do; it waits for none where their ports are told, which `ray.init` cannot
    agents = ("metrics_agent_port", "metrics_export_port", "runtime_env_agent_port")
    ports = dict(zip((*agents, "dashboard_agent_listen_port"), free_ports(4), strict=True))
    alone = {"no_monitor": True, "include_log_monitor": False}
    parameters = partial(ray._private.parameter.RayParams, **ports, **alone)
    monkeypatch.setattr(ray._private.parameter, "RayParams", parameters)
    for limit in ("agent_register_timeout_ms", "worker_register_timeout_seconds"):
        monkeypatch.setenv(f"RAY_{limit}", "600000")
    before = signal.getsignal(signal.SIGTERM)  # Ray takes it over and does not give it back
    # workers are told by hand: a test must not take every core of the machine
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        construct_dataset(
            text[0], Description(licence="cc0-1.0"), tmp_path, workers=2, run=ray_engine.run
        )
    finally:
        ray.shutdown()
        signal.signal(signal.SIGTERM, before)
    assert sums(tmp_path / "constructed") == sums(built[0])


def test_without_ray_its_extra_is_named(
    text: tuple[Construction, set[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pronominal.dataset_scripts.construction import ray_engine

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pronominal\[ray\]"):
        ray_engine.run(text[0], tmp_path / "work", 2)


def test_the_result_may_be_published_once_a_licence_is_stated(
    text: tuple[Construction, set[str]], built: tuple[Path, Any], tmp_path: Path
) -> None:
    release = read_release(built[0])
    assert release.name == "constructed"
    construct_dataset(text[0], Description("mine"), tmp_path)
    with pytest.raises(InputError, match=r"must not leave this machine.*--licence"):
        read_release(tmp_path / "mine")
    assert read_split(str(tmp_path / "mine"), "original", "train").num_rows
    canaries = [
        set(pq.read_table(path)["canary"].to_pylist())
        for folder in (built[0], tmp_path / "mine")
        for path in folder.glob("*/*.parquet")
    ]
    assert canaries[0] == canaries[1] != canaries[2] == canaries[3]


def test_a_good_corpus_passes_its_check(built: tuple[Path, Any]) -> None:
    assert list(violations(built[0])) == []


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        ("gender", lambda row: {"male": "female", "female": "male"}[row["gender"]], "not the pron"),
        ("label", lambda row: 1 - row["label"], "not what the gender giveaway said"),
        ("candidates", lambda row: row["candidates"][::-1], "one after the other"),
        ("pronoun", lambda row: row["candidates"][0], "behind the pronoun"),
        ("candidates", lambda row: row["candidates"][:1] * 2, "the same name"),
        ("label", lambda row: 7, "the label 7 is none"),
    ],
)
def test_a_planted_fault_is_found(
    built: tuple[Path, Any], tmp_path: Path, column: str, change: Any, message: str
) -> None:
    folder = tmp_path / "constructed"
    shutil.copytree(built[0], folder)
    path = folder / "original" / "train.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    rows[3][column] = change(rows[3])
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    found = [str(violation) for violation in violations(folder)]
    assert any(f"id {rows[3]['id']}: " in line and message in line for line in found)
    assert any("not its original switched" in line for line in found)


def test_a_missing_column_is_named(built: tuple[Path, Any], tmp_path: Path) -> None:
    folder = tmp_path / "constructed"
    shutil.copytree(built[0], folder)
    path = folder / "original" / "train.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["giveaway", "source"]), path)
    found = [str(violation) for violation in violations(folder)]
    assert [line.partition(": ")[2] for line in found] == [
        "the column 'giveaway' is missing",
        "the column 'source' is missing",
    ]


def test_unlabelled_sentences_keep_their_guess(
    text: tuple[Construction, set[str]], tmp_path: Path
) -> None:
    rules = replace(NO_MODEL, labels="none")
    one = replace(text[0], inputs=text[0].inputs[:1], rules=rules)
    construct_dataset(one, Description(split="test"), tmp_path)
    table = read_split(str(tmp_path / "constructed"), "original", "test").table
    assert set(table["label"].to_pylist()) == {-1}
    assert set(table["giveaway"].to_pylist()) == {-1, 1}
    assert list(violations(tmp_path / "constructed")) == []
    # nothing is right or wrong about them, so no system is run to be scored
    runs = ("--system", "first-mention", "--out", tmp_path / "runs")
    refused = pronominal("evaluate", "--dataset", tmp_path / "constructed", *runs)
    assert refused.returncode == 2
    assert "rows have no label" in refused.stderr
    assert not (tmp_path / "runs").exists()


def test_the_command(tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    lines = [json.dumps({"body": planted(number)}) for number in (0, 1, 1)]
    source.write_text("\n".join([*lines, "{", '{"text": 1}']))
    names = write_names(tmp_path)
    options = ["--field", "body", "--proper-names-only", "--names", names]
    paths = ["--input", source, "--out", tmp_path / "out", "--report", tmp_path / "report.json"]
    done = pronominal("construct", "knowref", *paths, *options)
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "report.json").read_text())
    assert told["stages"]["duplicates"] == {
        "read": 3,
        "kept": 2,
        "dropped": {"the sentence stood there before": 1},
        "noted": {},
    }
    assert sorted(told["damage"].values()) == [1, 1]
    folder = tmp_path / "out" / "constructed"
    assert pronominal("construct", "check", folder, "--names", names).returncode == 0
    refused = pronominal("construct", "knowref", "--input", source, "--out", tmp_path / "b")
    assert refused.returncode == 2
    assert "python -m spacy download en_core_web_sm" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("content", ["", "\n\n", "Ann left.\n"])
def test_a_corpus_without_a_fitting_sentence_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.txt").write_text(content)
    construction = Construction((tmp_path / "a.txt",), NO_MODEL, names=write_names(tmp_path))
    with pytest.raises(InputError, match="no sentence is left"):
        construct_dataset(construction, Description(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_names_of_folders_are_plain(text: tuple[Construction, set[str]], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no folder can be called"):
        construct_dataset(text[0], Description("../x"), tmp_path)
    with pytest.raises(InputError, match="no split can be called 'a/b'"):
        construct_dataset(text[0], Description(split="a/b"), tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "diary.txt").write_text("x")
    with pytest.raises(InputError, match="not a built dataset"):
        construct_dataset(text[0], Description("mine"), tmp_path)
    assert os.listdir(tmp_path) == ["mine"]

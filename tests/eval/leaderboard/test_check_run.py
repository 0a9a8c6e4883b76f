"""`check-run` finds what is wrong with a submission, and nothing with a sound one."""

import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pronominal.dataset_scripts.leakcheck.index import LeakIndex
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.eval.leaderboard import checks
from pronominal.eval.leaderboard.checks import check_runs
from pronominal.eval.runs.record import PredictionsRecord
from pronominal.eval.runs.runner import SystemSettings
from pronominal.instances import FillingInstance
from tests.cli.test_main import pronominal
from tests.eval.evaluated import evaluate
from tests.fuzzing.pairs import Pairs

NAME = "sample.double.test.toy-blind-to-xe"


@pytest.fixture(scope="module")
def evaluated(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluated")
    system = SystemSettings("toy-blind-to-xe", "toy-blind-to-xe")
    evaluate(read_split(sample, "double"), system, out)
    return out / NAME


@pytest.fixture(autouse=True, scope="module")
def indexes_are_made_once() -> Iterator[None]:
    """The rows that a submission must not show are the same each time."""
    made = cache(LeakIndex.of)
    once = SimpleNamespace(of=lambda folders: made(tuple(folders)))
    with patch.object(checks, "LeakIndex", once):
        yield


@pytest.fixture
def run(evaluated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(evaluated, tmp_path / "submissions" / NAME))


def edit(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))


def edit_lines(run: Path, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the predictions, and let the run vouch for them."""
    file = run / "predictions.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    change(lines)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    of = PredictionsRecord.of(file)
    told = {"rows": of.rows, "sha256": of.sha256}
    edit(run / "run.json", lambda record: record.update(predictions=told))


def other_answers(run: Path) -> None:
    def change(lines: list[dict[str, Any]]) -> None:
        for line in lines[:40]:
            line |= {"choice": 0, "abstained": None}

    edit_lines(run, change)


def better_units(run: Path) -> None:
    units = dict(np.load(run / "units.npz"))
    units["accuracy"] = np.ones_like(units["accuracy"])
    np.savez_compressed(run / "units.npz", **units)


FAULTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "a changed byte": (
        lambda run: (run / "predictions.jsonl").open("a").write("\n"),
        "are not those that the run ended with",
    ),
    "half of the predictions": (
        lambda run: (run / "predictions.jsonl").write_text(""),
        "predictions that the run ended with are missing",
    ),
    "a better score": (
        lambda run: edit(run / "score.json", lambda one: one["overall"].update(accuracy=0.99)),
        "score.json says otherwise than its predictions: overall.accuracy is 0.99, and 0.75 again",
    ),
    "better units": (better_units, "units.npz is not what its predictions give"),
    "other answers": (other_answers, "score.json says otherwise than its predictions"),
    "an unknown id": (
        lambda run: edit_lines(run, lambda lines: lines[0].update(id="nobody")),
        "the id 'nobody' is not in the dataset",
    ),
    "an id twice": (
        lambda run: edit_lines(run, lambda lines: lines[0].update(id=lines[1]["id"])),
        "is given twice",
    ),
    "a text": (
        lambda run: edit_lines(run, lambda lines: lines[2].update(generation={"plain": "A cook"})),
        "predictions.jsonl, line 3: generation holds text",
    ),
    "words in another field": (
        lambda run: edit_lines(run, lambda lines: lines[0].update(why=["because she was so late"])),
        "line 1: why holds text",
    ),
    "other rows": (
        lambda run: edit(run / "run.json", lambda one: one["dataset"].update(digest="f" * 64)),
        "the run is of other rows",
    ),
    "no scores": (lambda run: (run / "score.json").unlink(), "it has no score.json"),
    "no record": (lambda run: (run / "run.json").write_text("{"), "is not valid JSON"),
    "a script": (lambda run: (run / "run.py").touch(), "run.py is no file of a run: delete it"),
    "what cannot be read": (
        lambda run: (run / "score.json.gz").write_bytes(b"\x1f\x8b\x08"),
        "score.json.gz: cannot be read",
    ),
    "the run again": (
        lambda run: shutil.copytree(run, run.parent / "again"),
        "is called toy-blind-to-xe, too",
    ),
}


def faults(folder: Path, *datasets: Path) -> list[str]:
    return [fault for one in check_runs(folder, map(str, datasets)) for fault in one.faults]


def test_a_sound_run_is_scored_again(run: Path, sample: Path) -> None:
    before = {file: file.read_bytes() for file in run.iterdir()}
    result = pronominal("check-run", run.parent, "--dataset", sample)
    assert result.returncode == 0
    assert result.stdout.endswith(
        "sound; sample/double/test, 576 rows, toy-blind-to-xe; scored again, with the same result\n"
    )
    assert {file: file.read_bytes() for file in run.iterdir()} == before
    result = pronominal("check-run", run)
    assert result.returncode == 0
    assert "not scored again" in result.stdout


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault: str, run: Path, sample: Path) -> None:
    plant, told = FAULTS[fault]
    plant(run)
    result = pronominal("check-run", run.parent, "--dataset", sample, "--json")
    assert result.returncode == 1
    found = [one for checked in json.loads(result.stdout) for one in checked["faults"]]
    assert any(told in one for one in found), found


def inspect_log(file: Path, text: str) -> None:
    """Write an archive of members packed with Zstandard, as inspect does."""
    content = json.dumps({"input": text}).encode()
    packed = pa.compress(content, "zstd", asbytes=True)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", packed)
    raw = bytearray(file.read_bytes())
    for start, method in ((raw.find(b"PK\x03\x04"), 8), (raw.find(b"PK\x01\x02"), 10)):
        raw[start + method] = 93
    file.write_bytes(raw)


@pytest.mark.parametrize(
    ("name", "whose"),
    [
        ("2026_ruff.eval", "inspect"),
        ("samples_ruff_2026.jsonl", "lm-evaluation-harness"),
    ],
)
def test_a_log_of_another_harness_is_looked_into(
    name: str, whose: str, run: Path, sample: Path, own_ruff: str
) -> None:
    text = read_split(sample, "double").table["text"][7].as_py()
    file = run.parent / name
    if name.endswith(".eval"):
        inspect_log(file, text)
        assert text.encode() not in file.read_bytes()
    else:
        file.write_text(json.dumps({"doc": {"text": text}}) + "\n")
    named, leak = faults(run.parent, Path(own_ruff), sample)
    assert f"{name} is a log of {whose}" in named
    assert re.search(rf"{name}:1: sentence of sample double/test, row \d+: delete the file$", leak)
    assert text not in leak
    assert len(faults(file, sample)) == 3  # and it is no run


class Guess:
    """Finds the first form likeliest, and less so the longer the text is."""

    name = "guess"

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        return [[-float(len(one.text) % 7), -3.0, -4.0, -5.0] for one in instances]


def test_companion_splits_are_part_of_a_submission(
    own_ruff: str, sample: Path, tmp_path: Path
) -> None:
    split = load_split(own_ruff, "distractors_0")
    evaluate(split, SystemSettings("guess", "guess"), tmp_path, system=Guess())
    checked = check_runs(tmp_path, [own_ruff, str(sample)])
    told = sorted((one.scored, one.serves, one.faults) for one in checked)
    assert told == [(False, True, []), (True, False, [])]
    shutil.rmtree(tmp_path / "ruff.no_context.test.guess")
    (fault,) = faults(tmp_path, Path(own_ruff), sample)
    assert "score.json says otherwise than its predictions" in fault


def test_decisions_are_those_of_the_clusters(sample: Path, tmp_path: Path) -> None:
    split = read_split(sample, "double").first(24)
    rows = Path(shutil.copytree(sample, tmp_path / "sample"))
    pq.write_table(split.table, rows / "double" / "test.parquet")
    evaluate(read_split(rows, "double"), SystemSettings("p", "p"), tmp_path / "r", system=Pairs())
    (run,) = (tmp_path / "r").iterdir()
    assert faults(run, rows) == []
    edit_lines(run, lambda lines: lines[3].update(choice=1 - (lines[3]["choice"] or 0)))
    assert "1 of 24 decisions are not those that its decision rule makes of its clusters" in faults(
        run, rows
    )


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    result = pronominal("check-run", tmp_path / "nowhere")
    assert result.returncode == 2
    assert "there is no such folder" in result.stderr

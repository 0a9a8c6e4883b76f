"""Runs: resumed to the same bytes, never mixed, and free of evaluation text."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pronominal import InputError, Span
from pronominal.adapters import load
from pronominal.dataset_scripts.published import PublishedSplit, read_split
from pronominal.eval.runner import CHUNK, SystemSettings, predict, run

RANDOM = SystemSettings("random", "random")


class Shingles:
    """Clusters that differ from batch to batch, so that resuming must keep the batches."""

    name = "shingles"

    def cluster(self, texts: Sequence[str]) -> list[list[list[Span]]]:
        size = len(texts)
        return [[[Span(0, 1 + size % 7), Span(len(text) - 4, len(text) - 1)]] for text in texts]


@pytest.fixture(scope="module")
def split(sample: Path) -> PublishedSplit:
    return read_split(str(sample), "double")


@pytest.fixture(scope="module")
def whole(split: PublishedSplit, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = run(
        split, Shingles(), SystemSettings("shingles", "shingles"), tmp_path_factory.mktemp("whole")
    )
    return folder.predictions.read_bytes()


def test_a_run_says_what_was_run(split: PublishedSplit, tmp_path: Path) -> None:
    folder = run(split, load("random"), RANDOM, tmp_path)
    description = json.loads((folder.path / "run.json").read_text())
    assert description["schema_version"] == 1
    assert description["dataset"] == {
        "name": "sample",
        "config": "double",
        "split": "test",
        "digest": split.digest,
        "rows": 576,
    }
    assert description["system"] == {"name": "random", "kind": "choosing"}
    assert description["complete"] is True
    assert description["versions"]["pronominal"]
    assert description["counts"] == {"rows": 576, "none": 0, "both": 0}
    line = json.loads(folder.predictions.read_text().splitlines()[0])
    assert list(line) == ["id", "choice", "abstained", "scores"]


def test_no_file_of_a_run_holds_evaluation_text(split: PublishedSplit, tmp_path: Path) -> None:
    run(split, Shingles(), SystemSettings("shingles", "shingles"), tmp_path)
    content = "".join(path.read_text() for path in tmp_path.rglob("*.json*"))
    for text in split.table["text"].to_pylist():
        assert text[:25] not in content


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cut=st.integers(0, 10**9))
def test_a_run_cut_at_any_byte_ends_with_the_same_bytes(
    split: PublishedSplit, whole: bytes, tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    out = tmp_path_factory.mktemp("cut")
    asked = SystemSettings("shingles", "shingles")
    folder = run(split, Shingles(), asked, out)
    folder.describe(complete=False)
    folder.predictions.write_bytes(whole[: cut % (len(whole) + 1)])
    assert run(split, Shingles(), asked, out).predictions.read_bytes() == whole


KILLED = """
import os, signal, sys
from pathlib import Path
from pronominal.adapters import load
from pronominal.dataset_scripts.published import read_split
from pronominal.eval import runner

random = load("random")
choose, calls = random.choose, []

def choose_or_die(instances):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return choose(instances)

random.choose = choose_or_die
split = read_split(sys.argv[1], "double")
runner.run(split, random, runner.SystemSettings("random", "random"), Path(sys.argv[2]))
"""


def test_a_killed_run_goes_on(sample: Path, split: PublishedSplit, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, sample, tmp_path / "killed"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (part,) = tmp_path.glob("killed/*/predictions.jsonl")
    assert len(part.read_text().splitlines()) == CHUNK
    resumed = run(split, load("random"), RANDOM, tmp_path / "killed")
    straight = run(split, load("random"), RANDOM, tmp_path / "straight")
    assert resumed.predictions.read_bytes() == straight.predictions.read_bytes()


def test_two_processes_do_not_write_to_one_run(split: PublishedSplit, tmp_path: Path) -> None:
    class Nosy:
        name = "random"

        def choose(self, instances):
            with pytest.raises(InputError, match="another process is writing to this run"):
                run(split, load("random"), RANDOM, tmp_path)
            return load("random").choose(instances)

    first = run(split, Nosy(), RANDOM, tmp_path)
    assert len(first.predictions.read_text().splitlines()) == split.table.num_rows


def test_any_pairs_of_integers_are_spans(split: PublishedSplit) -> None:
    class Tuples:
        name = "tuples"

        def cluster(self, texts):
            return [[((0, 3), (4, 7))] for _ in texts]

    (prediction,) = predict(Tuples(), split.instances()[:1])
    assert prediction.given["clusters"] == [[[0, 3], [4, 7]]]


def test_a_finished_run_is_not_run_again(split: PublishedSplit, tmp_path: Path) -> None:
    run(split, load("random"), RANDOM, tmp_path)

    class Broken:
        name = "random"

        def choose(self, instances):
            raise AssertionError("asked again")

    run(split, Broken(), RANDOM, tmp_path)


def test_another_dataset_or_setting_is_refused(sample: Path, tmp_path: Path) -> None:
    double, single = (read_split(str(sample), config) for config in ("double", "single"))
    folder = run(double, load("random"), RANDOM, tmp_path)
    with pytest.raises(InputError, match="another dataset"):
        run(single, load("random"), RANDOM, folder.path)
    with pytest.raises(InputError, match="another settings"):
        run(double, load("random"), SystemSettings("random", "random", None, {"seed": 1}), tmp_path)
    with pytest.raises(InputError, match="another system"):
        run(double, load("first-mention"), SystemSettings("random", "first-mention"), tmp_path)


def test_predictions_of_other_rows_are_not_resumed(split: PublishedSplit, tmp_path: Path) -> None:
    folder = run(split, load("random"), RANDOM, tmp_path)
    folder.describe(complete=False)
    lines = folder.predictions.read_text().splitlines(keepends=True)
    folder.predictions.write_text("".join(lines[1:] + lines[:1]))
    with pytest.raises(InputError, match="line 1: the prediction is not that of the instance"):
        run(split, load("random"), RANDOM, tmp_path)


@pytest.mark.parametrize(
    ("answers", "cause"),
    [
        (lambda texts: [[]], "1 answers to 2 inputs"),
        (lambda texts: None, "a NoneType"),
        (lambda texts: [[[Span(0, 1), Span(0, 999)]] for _ in texts], "0:999 outside the text"),
        (lambda texts: [[[Span(2, 2), Span(0, 1)]] for _ in texts], "2:2 outside the text"),
    ],
)
def test_a_system_that_breaks_its_contract_is_named(split, answers, cause: str) -> None:
    class Wrong:
        name = "wrong"

        def cluster(self, texts):
            return answers(texts)

    with pytest.raises(InputError, match=f"wrong gives.*{cause}"):
        predict(Wrong(), split.instances()[:2])


def test_something_that_is_no_system_is_refused(split: PublishedSplit) -> None:
    with pytest.raises(InputError, match="object is not a system"):
        predict(object(), split.instances()[:2])

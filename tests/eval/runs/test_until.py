"""Runs until a precision: they stop, go on, end with the same bytes, and say what they know."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pronominal
from pronominal import InputError
from pronominal.cli.main import app
from pronominal.dataset_scripts.reading import loading
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.sampling import Draws
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.evaluation import refuse_no_share
from pronominal.eval.runs import until
from pronominal.eval.runs.record import read_record
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.runs.until import Precision, run_until
from pronominal.eval.scores import task_of
from pronominal.instances import FillingInstance


class Guesser:
    """Is right in about so many of its answers, always the same."""

    def __init__(self, name: str, share: float) -> None:
        self.name, self.share = name, share

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        return [self._scores(instance) for instance in instances]

    def _scores(self, instance: FillingInstance) -> list[float]:
        seed = int.from_bytes(f"{self.name}{instance.id}".encode()[-64:], "big")
        right = np.random.default_rng(seed).random() < self.share
        chosen = instance.label if right else (instance.label + 1) % 4
        return [float(option == chosen) for option in range(4)]


class Killed(BaseException):
    """What ends a process."""


HALF = SystemSettings("half", "own")


@pytest.fixture(scope="module")
def split(own_ruff: str) -> Split:
    """2,880 rows, 720 of each pronoun set."""
    return load_split(own_ruff, "distractors_1")


@pytest.fixture(scope="module")
def draws(split: Split) -> Draws:
    return Draws(split)


def drawn(draws: Draws, points: float, out: Path, share: float = 0.5) -> Path:
    folder = run_until(Precision(points, draws), Guesser("half", share), HALF, out)
    return folder.path


def test_every_draw_has_a_row_of_each_pronoun_set_and_no_row_comes_twice(draws: Draws) -> None:
    assert (draws.size, sorted(draws.order)) == (4, [*range(2880)])
    rows = draws.first(12).table
    sets = rows["pronoun_set"].to_pylist()
    assert [sorted(sets[start : start + 4]) for start in (0, 4, 8)] == [
        ["he", "she", "they", "xe"]
    ] * 3
    assert draws.first(8).table["id"].to_pylist() == rows["id"].to_pylist()[:8]


def test_the_order_does_not_change_with_versions(draws: Draws) -> None:
    assert draws.order[:4].tolist() == [1302, 1068, 1615, 2536]


def test_rows_of_unequal_sets_are_drawn_one_by_one(split: Split) -> None:
    assert Draws(split.only(range(1, 2880))).size == 1


def test_rows_on_the_disk_are_drawn_as_those_in_memory(
    own_ruff: str, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loading, "MOST_IN_MEMORY", 100)
    far = load_split(own_ruff, "distractors_1")
    assert far.in_memory is None
    assert Draws(far).first(40).digest == Draws(split).first(40).digest


def test_a_run_stops_and_goes_on_to_the_same_bytes(draws: Draws, tmp_path: Path) -> None:
    path = drawn(draws, 7, tmp_path / "twice")
    first = read_record(path).stopped
    assert first is not None
    assert (first.why, first.of) == (until.NARROW, 2880)
    assert 0 < first.high - first.low <= 0.14
    assert first.rows == 4 * first.draws < 2880
    before = (path / "run.json").read_bytes()
    assert drawn(draws, 9, tmp_path / "twice") == path  # which is known already
    assert (path / "run.json").read_bytes() == before
    drawn(draws, 3.5, tmp_path / "twice")
    once = drawn(draws, 3.5, tmp_path / "once")
    then, straight = read_record(path), read_record(once)
    assert then.stopped == straight.stopped
    assert then.stopped is not None
    assert then.stopped.rows > first.rows
    assert then.predictions == straight.predictions
    assert then.dataset.split == f"test.sampled-{then.stopped.rows}"


def test_a_killed_run_goes_on_to_the_same_bytes(draws: Draws, tmp_path: Path) -> None:
    class Mortal(Guesser):
        calls = 0

        def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
            self.calls += 1
            if self.calls == 5:
                raise Killed
            return super().loglikelihood(instances)

    precision = Precision(4, draws)
    with pytest.raises(Killed):
        run_until(precision, Mortal("half", 0.5), HALF, tmp_path / "killed")
    path = drawn(draws, 4, tmp_path / "killed")
    straight = drawn(draws, 4, tmp_path / "straight")
    assert read_record(path).stopped == read_record(straight).stopped
    assert read_record(path).predictions == read_record(straight).predictions


def test_all_rows_are_asked_where_fewer_do_not_suffice(draws: Draws, tmp_path: Path) -> None:
    stopped = read_record(drawn(draws, 0.01, tmp_path)).stopped
    assert stopped is not None
    assert (stopped.why, stopped.rows, stopped.low) == (until.ALL_ROWS, 2880, stopped.high)


def test_a_run_does_not_go_on_with_other_versions(
    draws: Draws, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = drawn(draws, 7, tmp_path)
    before = (path / "run.json").read_bytes()
    monkeypatch.setattr(until, "versions", lambda: {"pronominal": "another"})
    with pytest.raises(InputError, match="with other versions"):
        drawn(draws, 3, tmp_path)
    assert (path / "run.json").read_bytes() == before


@pytest.fixture(scope="module")
def compared(own_ruff: str, tmp_path_factory: pytest.TempPathFactory) -> pronominal.Results:
    out = tmp_path_factory.mktemp("compared")
    systems = [Guesser("good", 0.97), Guesser("half", 0.5)]
    return pronominal.evaluate(own_ruff, systems, config="distractors_1", out=out, until=5)


def test_systems_that_are_compared_answer_the_same_rows(compared: pronominal.Results) -> None:
    good, half = (read_record(compared.runs[label]) for label in ("good", "half"))
    assert good.dataset == half.dataset
    assert compared.split.num_rows == half.dataset.rows < 2880
    for label in ("good", "half"):
        said = compared.scores[label]["drawn"]
        assert (said["n"], said["of"]) == (half.dataset.rows, 2880)
        low, high = said["interval"]["accuracy"]
        assert low < said["accuracy"] < high
        assert said["accuracy"] == pytest.approx(compared.scores[label]["accuracy"])
        assert f"{label}: {said['n']:,} of 2,880 rows, drawn at random" in " ".join(
            compared.summary.split()
        )
    assert "errors" in compared.scores["half"]  # the companion split was asked, too


def test_reports_say_that_rows_were_drawn(compared: pronominal.Results, tmp_path: Path) -> None:
    page = compared.report(tmp_path / "report.html").read_text()
    assert "of 2,880 rows, drawn at random until" in page


def test_a_drawn_run_is_scored_by_its_folder_alone(
    compared: pronominal.Results, own_ruff: str
) -> None:
    given = ("-d", own_ruff, "-c", "distractors_1", "-p", str(compared.runs["half"]), "--json")
    done = CliRunner().invoke(app, ["score", *given])
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["drawn"] == compared.scores["half"]["drawn"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--until", "0"), "no half width"),
        (("--until", "5", "--shard", "1/2"), "a shard is of all rows"),
        (("--until", "5", "--reading", "upstream-spanbert"), "rows are drawn"),
        (("--until", "5", "-c", "no_context"), "no answer to no_context is right"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    given: Sequence[str], told: str, own_ruff: str, tmp_path: Path
) -> None:
    config = () if "-c" in given else ("-c", "distractors_1")
    command = ["run", "-d", own_ruff, *config, "-s", "first-pronoun", "-o", str(tmp_path), *given]
    refused = CliRunner().invoke(app, command)
    assert isinstance(refused.exception, InputError)
    assert told in str(refused.exception)
    assert not [*tmp_path.iterdir()]


def test_parts_and_figures_that_are_no_share_of_rows_are_refused(
    own_ruff: str, tmp_path: Path
) -> None:
    given = {"config": "distractors_1", "out": tmp_path, "until": 5}
    with pytest.raises(InputError, match="part of a split"):
        pronominal.evaluate(own_ruff, "first-pronoun", limit=9, **given)
    with pytest.raises(InputError, match="no share of rows"):
        refuse_no_share(task_of("knowref"))
    assert not [*tmp_path.iterdir()]

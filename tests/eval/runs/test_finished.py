"""A finished run answers again without its system, and only where it is the run that was asked."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.runs.runner import SystemSettings
from tests.eval.evaluated import evaluate_several

SYSTEM = """
class Pairs:
    name = "pairs"

    def cluster(self, texts):
        return [[[(0, 3), (4, 9)]] for _ in texts]
"""


class Weighed:
    """Takes the first candidate, with the weights of a folder."""

    name = "weighed"

    def __init__(self, folder: Path) -> None:
        digest = (folder / "weights").read_text()
        self.checkpoint = Checkpoint(str(folder), folder, digest)

    def choose(self, instances: Sequence[Any]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in instances]


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return read_split(sample, "double").first(48)


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The labels of the systems that were loaded."""
    found: list[str] = []
    load: Callable[[SystemSettings], Any] = SystemSettings.load

    def loading(asked: SystemSettings) -> Any:
        found.append(asked.label)
        return Weighed(Path(asked.checkpoint)) if asked.checkpoint else load(asked)

    monkeypatch.setattr(SystemSettings, "load", loading)
    return found


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "weights").write_text("a")
    os.utime(folder / "weights", (1e9, 1e9))
    return folder


def test_a_finished_run_loads_nothing(split: Split, tmp_path: Path, loads: list[str]) -> None:
    asked = [SystemSettings("random", "random"), SystemSettings("b", "random", None, {"seed": 1})]
    first = evaluate_several(split, asked, tmp_path)
    assert {*loads} == {"random", "b"}
    loads.clear()
    again = evaluate_several(split, asked, tmp_path)
    assert loads == []
    assert {label: one.content for label, one in again.items()} == {
        label: one.content for label, one in first.items()
    }


def test_only_what_is_not_finished_is_loaded(
    split: Split, tmp_path: Path, loads: list[str]
) -> None:
    evaluate_several(split, [SystemSettings("random", "random")], tmp_path)
    loads.clear()
    both = [SystemSettings("random", "random"), SystemSettings("first", "first-mention")]
    evaluate_several(split, both, tmp_path)
    assert {*loads} == {"first"}


def test_other_settings_are_refused_as_ever(split: Split, tmp_path: Path) -> None:
    evaluate_several(split, [SystemSettings("random", "random")], tmp_path)
    with pytest.raises(InputError, match="another settings: seed"):
        evaluate_several(split, [SystemSettings("random", "random", None, {"seed": 3})], tmp_path)


def test_weights_that_changed_are_opened(
    split: Split, tmp_path: Path, weights: Path, loads: list[str]
) -> None:
    asked = [SystemSettings("mine", "bert", str(weights))]
    evaluate_several(split, asked, tmp_path / "runs")
    loads.clear()
    evaluate_several(split, asked, tmp_path / "runs")
    assert loads == []
    (weights / "weights").write_text("b")
    with pytest.raises(InputError, match="another checkpoint"):
        evaluate_several(split, asked, tmp_path / "runs")


def test_code_that_changed_is_loaded(
    split: Split, tmp_path: Path, loads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = tmp_path / "finished_pairs.py"
    module.write_text(SYSTEM)
    asked = [SystemSettings("pairs", "finished_pairs:Pairs")]
    evaluate_several(split, asked, tmp_path / "runs")
    loads.clear()
    evaluate_several(split, asked, tmp_path / "runs")
    assert loads == []
    module.write_text(f"{SYSTEM}\n# another version\n")
    with pytest.raises(InputError, match="another settings: source"):
        evaluate_several(split, asked, tmp_path / "runs")


@pytest.mark.parametrize("reading", ["upstream", "upstream-spanbert"])
def test_a_finished_run_is_read_anew_in_its_place(
    split: Split, tmp_path: Path, loads: list[str], reading: str
) -> None:
    asked = [SystemSettings("pairs", "tests.fuzzing.pairs:Pairs")]
    evaluate_several(split, asked, tmp_path / "runs")
    loads.clear()
    anew = evaluate_several(split, asked, tmp_path / "runs", reading=reading)
    assert loads == []
    fresh = evaluate_several(split, asked, tmp_path / "fresh", reading=reading)
    assert anew["pairs"].content == fresh["pairs"].content
    (one,), (other,) = ((*(tmp_path / name).iterdir(),) for name in ("runs", "fresh"))
    assert {file.name for file in one.iterdir()} == {file.name for file in other.iterdir()}
    for name in ("predictions.jsonl", "score.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    records = [json.loads((run / "run.json").read_text()) for run in (one, other)]
    assert records[0]["settings"] == records[1]["settings"]
    assert records[0]["predictions"] == records[1]["predictions"]


def test_an_unknown_reading_leaves_the_run_as_it_is(split: Split, tmp_path: Path) -> None:
    asked = [SystemSettings("pairs", "tests.fuzzing.pairs:Pairs")]
    evaluate_several(split, asked, tmp_path)
    (run,) = tmp_path.iterdir()
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    with pytest.raises(InputError, match="'upstraem'"):
        evaluate_several(split, asked, tmp_path, reading="upstraem")
    assert {file.name: file.read_bytes() for file in run.iterdir()} == before

"""A finished run answers again without its system, and only where it is the run that was asked."""

import json
import linecache
import os
import shutil
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import pronominal
from pronominal import InputError
from pronominal.adapters.catalogue.own_object import object_at
from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.evaluation import FinishedRunWarning
from pronominal.eval.runs import runner
from pronominal.eval.runs.own_checkpoint import checkpoint_digest, checkpoint_place
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
    with pytest.raises(InputError, match="other settings: seed"):
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
    with pytest.raises(InputError, match="the code of pairs has changed since this run; give it"):
        evaluate_several(split, asked, tmp_path / "runs")


def test_another_checkpoint_of_an_object_of_ones_own_is_refused(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    keeps = "\n\n    def __init__(self, checkpoint=None):\n        self.checkpoint = checkpoint\n"
    made = SYSTEM.replace('name = "pairs"', f'name = "pairs"{keeps}')
    (tmp_path / "weighted_pairs.py").write_text(made)
    for checkpoint in ("a", "a"):
        asked = [SystemSettings("pairs", "weighted_pairs:Pairs", checkpoint)]
        evaluate_several(split, asked, tmp_path / "runs")
    for checkpoint in ("b", None):
        asked = [SystemSettings("pairs", "weighted_pairs:Pairs", checkpoint)]
        with pytest.raises(InputError, match="a run with other settings: checkpoint"):
            evaluate_several(split, asked, tmp_path / "runs")


def test_other_files_in_the_checkpoint_of_an_object_of_ones_own_are_refused(
    split: Split, tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    takes = "\n\n    def __init__(self, checkpoint):\n        pass\n"
    made = SYSTEM.replace('name = "pairs"', f'name = "pairs"{takes}')
    (tmp_path / "filed_pairs.py").write_text(made)
    asked = [SystemSettings("pairs", "filed_pairs:Pairs", str(weights))]
    for _ in range(2):
        evaluate_several(split, asked, tmp_path / "runs")
    (weights / "weights").write_text("b")
    os.utime(weights / "weights", (1e9, 1e9))  # files that are copied keep their times
    with pytest.raises(InputError, match="checkpoint of pairs has changed since this run; give it"):
        evaluate_several(split, asked, tmp_path / "runs")


KEEPS_A_PATH = """
class Keeps:
    name = "keeps"

    def __init__(self, checkpoint="weights"):
        self.checkpoint = checkpoint

    def choose(self, instances):
        return [[1.0, 0.0] for _ in instances]


class Caches(Keeps):
    name = "caches"
    cache = "cache.bin"

    def choose(self, instances):
        with open(f"{self.checkpoint}/{self.cache}", "w") as file:
            file.write(str(len(instances)))
        return super().choose(instances)


class Hides(Caches):
    name, cache = "hides", ".cache"
"""


@pytest.fixture
def asks(
    split: Split, tmp_path: Path, weights: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Runs a system of one's own that has the weights' folder, beside it, as a user does."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "keeps_a_path.py").write_text(KEEPS_A_PATH)

    def ask(name: str, checkpoint: str | None = None, *, made: bool = False) -> Any:
        place = f"keeps_a_path:{name}"
        asked = object_at(place)() if made else {"system": place, "checkpoint": checkpoint}
        return pronominal.evaluate(split, [asked], out="runs")

    return ask


@pytest.mark.parametrize("made", [True, False])
def test_files_at_the_path_that_an_object_keeps_are_compared(
    asks: Callable[..., Any], weights: Path, made: bool
) -> None:
    for _ in range(2):
        asks("Keeps", made=made)
    asks("Keeps", made=not made)
    (weights / "weights").write_text("b")
    with pytest.raises(InputError, match=r"checkpoint of keeps has changed.*\(weights written"):
        asks("Keeps", made=made)


def test_a_file_that_the_system_writes_is_named_unless_it_is_hidden(
    asks: Callable[..., Any], weights: Path
) -> None:
    for _ in range(2):
        asks("Hides", "weights")
    asks("Caches", "weights")
    with pytest.raises(InputError, match=r"\(cache.bin written since\).*in a hidden folder"):
        asks("Caches", "weights")


def test_the_folder_of_runs_may_lie_in_the_checkpoint(asks: Callable[..., Any]) -> None:
    for _ in range(2):
        asks("Keeps", ".")


def test_a_run_that_does_not_say_its_files_is_taken_as_it_is(
    asks: Callable[..., Any], tmp_path: Path
) -> None:
    for made in (True, False):
        (run,) = asks("Keeps", "weights", made=made).runs.values()
        record = json.loads((run / "run.json").read_text())
        del record["settings"]["checkpoint_files"]
        (run / "run.json").write_text(json.dumps(record))
        asks("Keeps", "weights", made=made)
        shutil.rmtree(run)


def test_files_behind_links_are_compared(weights: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "adapter").write_text("a")
    (weights / "linked").symlink_to(other)
    (weights / "back").symlink_to(weights)
    (weights / "__pycache__").mkdir()
    (weights / "__pycache__" / "read.pyc").write_text("1")
    before = checkpoint_digest(weights)
    (weights / "__pycache__" / "read.pyc").write_text("2")
    assert checkpoint_digest(weights) == before
    (other / "adapter").write_text("b")
    assert checkpoint_digest(weights) != before


def test_what_is_no_place_is_no_checkpoint(weights: Path) -> None:
    for given in (None, "", 3, "org/model", "x" * 5000, "a\0b", object()):
        assert checkpoint_place(given) is None
    assert checkpoint_place(str(weights)) == checkpoint_place(weights) == weights.resolve()


@pytest.fixture
def digested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The checkpoints that are read from here on; the test's own folder is the current one."""
    monkeypatch.chdir(tmp_path)
    read: list[Path] = []

    def digest(place: Path) -> str:
        read.append(place)
        return "digest"

    monkeypatch.setattr(runner, "checkpoint_digest", digest)
    return read


def test_a_checkpoint_is_read_once_for_rows_and_their_companions(
    knowref: Path, tmp_path: Path, weights: Path, digested: list[Path]
) -> None:
    (tmp_path / "keeps_for_knowref.py").write_text(KEEPS_A_PATH)
    rows = read_split(knowref, "original")
    evaluate_several(rows, [SystemSettings("a", "keeps_for_knowref:Keeps")], tmp_path / "runs")
    assert len([*(tmp_path / "runs").iterdir()]) == 2
    assert digested == [weights.resolve()]


def test_and_once_for_rows_that_are_drawn(
    sample: Path, tmp_path: Path, weights: Path, digested: list[Path]
) -> None:
    (tmp_path / "keeps_for_draws.py").write_text(KEEPS_A_PATH)
    system = f"keeps_for_draws:Keeps={weights}"
    pronominal.evaluate(sample, system, config="double", out=tmp_path / "runs", until=20)
    assert digested == [weights.resolve()]


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


def test_a_baseline_passes_another_reading_by(
    split: Split, tmp_path: Path, loads: list[str]
) -> None:
    asked = [SystemSettings("first", "first-mention")]
    asked.append(SystemSettings("pairs", "tests.fuzzing.pairs:Pairs"))
    before = evaluate_several(split, asked, tmp_path)
    loads.clear()
    anew = evaluate_several(split, asked, tmp_path, reading="upstream")
    assert loads == []
    assert anew["first"]["overall"] == before["first"]["overall"]
    records = [json.loads((run / "run.json").read_text()) for run in sorted(tmp_path.iterdir())]
    assert {record["settings"]["reading"] for record in records} == {"upstream"}


def test_an_unknown_reading_leaves_the_run_as_it_is(split: Split, tmp_path: Path) -> None:
    asked = [SystemSettings("pairs", "tests.fuzzing.pairs:Pairs")]
    evaluate_several(split, asked, tmp_path)
    (run,) = tmp_path.iterdir()
    before = {file.name: file.read_bytes() for file in run.iterdir()}
    with pytest.raises(InputError, match="'upstraem'"):
        evaluate_several(split, asked, tmp_path, reading="upstraem")
    assert {file.name: file.read_bytes() for file in run.iterdir()} == before


CELL = """
class Changed:
    name = "changed"

    def __init__(self, place):
        self.place = place

    def choose(self, instances):
        return [[float(n == {place}) for n in (0, 1)] for _ in instances]
"""


def made_in(cell: str, lines: str | None, place: int = 0) -> Any:
    """Return an object of a class of a notebook's cell, whose lines are kept or not."""
    if lines is not None:
        linecache.cache[lines] = (len(cell), None, cell.splitlines(keepends=True), lines)
    module: dict[str, Any] = {"__name__": "a_notebook"}
    exec(compile(cell, lines or "<stdin>", "exec"), module)
    return module["Changed"](place)


def test_what_an_object_holds_is_not_compared_and_that_is_said(
    split: Split, tmp_path: Path
) -> None:
    cell = CELL.format(place="self.place")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FinishedRunWarning)
        first = pronominal.evaluate(split, made_in(cell, "<cell 1>"), out=tmp_path)
    with pytest.warns(FinishedRunWarning, match=r"not asked again.*values that it was made with"):
        again = pronominal.evaluate(split, made_in(cell, "<cell 1>", 1), out=tmp_path)
    assert again.scores["changed"].content == first.scores["changed"].content


def test_an_object_that_is_its_file_alone_is_not_warned_of(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file_alone.py").write_text(SYSTEM)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FinishedRunWarning)
        for asked in ("file_alone:Pairs", object_at("file_alone:Pairs")()):
            done = pronominal.evaluate(split, [asked], out=tmp_path / "runs")
    assert len(done.runs) == 1


@pytest.mark.parametrize("base", ["list", "Inherited"])
def test_an_object_of_a_class_that_inherits_is_warned_of(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    """A list holds a value without a `__dict__`, and a base may stand in another file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "with_a_base.py").write_text("class Inherited: pass\n")
    module = f"inherits_{base.lower()}"
    text = SYSTEM.replace("class Pairs", f"from with_a_base import *\nclass Pairs({base})")
    (tmp_path / f"{module}.py").write_text(text)
    system = object_at(f"{module}:Pairs")()
    pronominal.evaluate(split, [system], out=tmp_path / "runs")
    with pytest.warns(FinishedRunWarning, match="values that it was made with are not compared"):
        pronominal.evaluate(split, [system], out=tmp_path / "runs")


def test_a_cell_may_hang_on_what_other_cells_say(split: Split, tmp_path: Path) -> None:
    cell = CELL.format(place=0).replace("self.place = place", "pass")
    pronominal.evaluate(split, made_in(cell, "<cell 1>"), out=tmp_path)
    with pytest.warns(FinishedRunWarning, match="values"):
        pronominal.evaluate(split, made_in(cell, "<cell 1>"), out=tmp_path)


def test_another_cell_is_other_code(split: Split, tmp_path: Path) -> None:
    pronominal.evaluate(split, made_in(CELL.format(place=0), "<cell 1>"), out=tmp_path)
    with pytest.raises(InputError, match="the code of changed has changed"):
        pronominal.evaluate(split, made_in(CELL.format(place=1), "<cell 2>"), out=tmp_path)


def test_code_that_cannot_be_read_is_said(split: Split, tmp_path: Path) -> None:
    pronominal.evaluate(split, made_in(CELL.format(place=0), None), out=tmp_path)
    with pytest.warns(FinishedRunWarning, match="its code is not compared"):
        pronominal.evaluate(split, made_in(CELL.format(place=1), None), out=tmp_path)


def test_settings_that_an_object_declares_are_compared(split: Split, tmp_path: Path) -> None:
    cell = CELL.format(place="self.settings['place']").replace(
        "self.place = place", "self.settings = {'place': place}"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", FinishedRunWarning)
        first = pronominal.evaluate(split, made_in(cell, "<cell 1>"), out=tmp_path)
        again = pronominal.evaluate(split, made_in(cell, "<cell 1>"), out=tmp_path)
    assert again.scores["changed"].content == first.scores["changed"].content
    with pytest.raises(InputError, match="place"):
        pronominal.evaluate(split, made_in(cell, "<cell 1>", 1), out=tmp_path)


@pytest.mark.parametrize("first_in_python", [True, False])
def test_the_command_line_reads_what_an_object_declares(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first_in_python: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    module = f"declared_{first_in_python}"
    text = SYSTEM.replace('name = "pairs"', 'name = "pairs"\n    settings = {"first": True}')
    (tmp_path / f"{module}.py").write_text(text)
    place = f"{module}:Pairs"
    given = [object_at(place)(), place]
    for asked in given if first_in_python else reversed(given):
        done = pronominal.evaluate(split, [asked], out=tmp_path / "runs")
        (run,) = done.runs.values()
        assert json.loads((run / "run.json").read_text())["settings"]["first"] is True

"""What a task may say of itself, and what its functions may return."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pronominal import Companion, InputError, Measure, Option, Task
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Decision
from pronominal.eval.scores import task_of, task_of_run
from pronominal.eval.task import Answered

RESAMPLES = Option("resamples", int, "Draws.", least=1)
ACCURACY = Measure("accuracy", "Accuracy", ("accuracy",))
ROWS = Split("mine", "plain", "test", pa.table({"id": ["a", "b"]}), "0" * 64, Path("mine"))
ANSWERED = Answered(ROWS, [Decision(0), Decision(1)])


def task(score: Any, **more: Any) -> Task:
    return Task("mine", lambda answered: score, (ACCURACY,), "accuracy", **more)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ({"path": "accuracy"}, "the path 'accuracy', which is no tuple of keys"),
        ({"path": ()}, "which is no tuple of keys"),
        ({"divisions": {"verb": ("by_verb", "accuracy")}}, "for verb a pattern without one key"),
        ({"divisions": {"verb": ("*", "*", "accuracy")}}, "for verb a pattern without one key"),
        ({"chart_divisions": ("verb",)}, "no division 'verb'"),
        ({"card_divisions": ("verb",)}, "no division 'verb'"),
        ({"unit": "percent"}, "choose one of share, ratio, count"),
    ],
)
def test_a_measure_that_cannot_be_shown_is_refused(field: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match="the measure accuracy has") as refused:
        Measure(**{"key": "accuracy", "heading": "Accuracy", "path": ("accuracy",)} | field)
    assert message in str(refused.value)


def test_names_in_a_task_are_unique() -> None:
    with pytest.raises(InputError, match="two measures called 'accuracy'"):
        Task("mine", lambda answered: {}, (ACCURACY, ACCURACY), "accuracy")
    again = Option("again", int, "How often."), Companion("again", "plain", "again")
    with pytest.raises(InputError, match="two option or companions called 'again'"):
        task({}, options=again[:1], companions=again[1:])


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (None, "is a NoneType; return a mapping"),
        ([0.5], "is a list; return a mapping"),
        ({"accuracy": float("nan")}, "has the field accuracy, which fits no scores"),
        ({"accuracy": 0.5, "by": {"x": np.inf}}, "has the field by.x, which fits no scores"),
        ({"accuracy": 0.5, "run": object()}, "has the field run, which fits no scores"),
        ({"accuracy": 0.5, "interval": {"accuracy": [0.5]}}, "the field interval.accuracy"),
        ({"acuracy": 0.5}, "has none of the task's measures; fill one of accuracy"),
    ],
)
def test_what_are_no_scores_is_refused(score: Any, message: str) -> None:
    with pytest.raises(InputError, match="the score of the task mine") as refused:
        task(score).scores_of(ANSWERED)
    assert message in str(refused.value)


def test_numbers_of_numpy_are_numbers() -> None:
    given = {"n": np.int64(2), "accuracy": np.float32(0.5), "interval": {"accuracy": (0, np.True_)}}
    content = task(given).scores_of(ANSWERED).content
    assert content == {"n": 2, "accuracy": 0.5, "interval": {"accuracy": [0, True]}}
    assert [type(value) for value in (content["n"], content["accuracy"])] == [int, float]


@pytest.mark.parametrize("units", [[0.5, 1.5], [float("nan")], ["a"], [[1.0], [0.0, 1.0]], 0.5])
def test_units_are_shares(units: Any) -> None:
    with pytest.raises(InputError, match="the paired units of the task mine for accuracy"):
        task({}, paired_units=lambda answered: {"accuracy": units}).checked_units(ANSWERED)


def test_units_of_whole_numbers_are_right_or_wrong() -> None:
    made = task({}, paired_units=lambda answered: {"accuracy": [1, 0]}).checked_units(ANSWERED)
    assert made["accuracy"].dtype == bool


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        (RESAMPLES, "ten", "the option resamples is 'ten'; give a whole number"),
        (RESAMPLES, -3, "the option resamples is -3; give at least 1"),
        (RESAMPLES, True, "the option resamples is True; give a whole number"),
        (RESAMPLES, 2.5, "the option resamples is 2.5; give a whole number"),
        (Option("all", bool, "All."), "banana", "the option all is 'banana'; give true or false"),
        (Option("sources", Path, "Files."), 3, "the option sources is 3; give a path"),
        (Option("sources", Path, "Files."), "/nowhere", "/nowhere: there is no such place"),
    ],
)
def test_an_option_has_its_type(option: Option, given: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        option.value(given)
    assert str(refused.value).startswith(message)


def test_an_option_is_read_from_what_is_given(tmp_path: Path) -> None:
    names = Option("folder", Path, "A folder.", read=lambda folder: folder.name)
    assert names.value(str(tmp_path)) == names.value(tmp_path) == tmp_path.name
    assert RESAMPLES.value(np.int64(3)) == 3


def test_a_companion_fits_configs_by_a_pattern() -> None:
    companion = Companion("context_free", "distractors_*", "no_context")
    assert companion.fits("distractors_2")
    assert not companion.fits("no_context")


def test_runs_find_the_task_that_scored_them() -> None:
    mine, other, ours = task({}), task({}, title="Other"), task_of("sample")
    assert task_of_run("sample", "winopron", [mine]) is ours
    assert task_of_run("sample", None, [mine]) is ours
    assert task_of_run("sample", "mine", [mine]) is mine
    assert task_of_run("anything", "mine", [mine]) is mine
    assert task_of_run("anything", None, [mine]) is mine
    with pytest.raises(InputError, match="scored by the task anything, which is not ours"):
        task_of_run("anything", None, [mine, other])
    with pytest.raises(InputError, match="scored by the task mine, which is not ours"):
        task_of_run("sample", "mine")


def test_a_task_of_ones_own_has_a_name_of_its_own() -> None:
    winopron = Task("winopron", lambda answered: {}, (ACCURACY,), "accuracy")
    with pytest.raises(InputError, match="the task of sample is called winopron, too"):
        task_of("sample", winopron)
    assert task_of("sample", task_of("sample")) is task_of("sample")

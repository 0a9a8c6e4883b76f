"""Settings of millions of rows are scored without their texts in memory, and to the same numbers.

What fails prints counts, names and booleans, no sentences.
"""

from pathlib import Path

import pytest

from pronominal import InputError
from pronominal.dataset_scripts.reading import loading
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.eval.evaluation import evaluate_systems
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores.ruff.task import TASK as RUFF
from tests.eval.evaluated import evaluate, rows_to_score, score_predictions
from tests.eval.scores.test_ruff import dataset as dataset

CONFIG = "distractors_1"
SYSTEMS = [SystemSettings(name, name) for name in ("always-he", "last-pronoun")]


@pytest.fixture
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "MOST_IN_MEMORY", 50)


def test_a_large_split_is_the_same_rows(dataset: str, small_memory: None) -> None:
    whole, large = read_split(dataset, CONFIG), load_split(dataset, CONFIG)
    assert not {"text", "blank"} & set(large.table.column_names)
    assert (large.digest, large.num_rows, large.file) == (whole.digest, whole.num_rows, whole.file)
    for name in large.table.column_names:
        assert large.table[name].to_pylist() == whole.table[name].to_pylist()
    for start, stop in ((0, None), (0, 1), (70, 75), (whole.num_rows - 1, None)):
        same = [*large.stream(start, stop)] == [*whole.stream(start, stop)]
        assert same


def test_a_split_is_large_by_its_rows(dataset: str, small_memory: None) -> None:
    assert load_split(dataset, CONFIG).in_memory is None
    assert load_split(dataset, "no_context").in_memory is not None
    assert load_split(dataset, CONFIG, "seed_13+seed_17").in_memory is not None
    with pytest.raises(InputError, match="are not all different; name each one once"):
        load_split(dataset, CONFIG, "seed_13+seed_13")
    for wrong in ({"config": 3}, {"split": None}):
        with pytest.raises(InputError, match=r"give the (config|split)'s name"):
            load_split(dataset, **wrong)
    with pytest.raises(InputError, match="there is no split 'tset'; did you mean 'test'"):
        load_split(dataset, CONFIG, "tset")


def kept(folder: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in folder.rglob("predictions.jsonl")}


def test_a_comparison_has_the_numbers_of_memory(
    dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, runs = [], []
    for place, most in (("memory", 10_000), ("disk", 50)):
        monkeypatch.setattr(loading, "MOST_IN_MEMORY", most)
        rows = load_split(dataset, CONFIG)
        assert (rows.in_memory is None) == (place == "disk")
        done = evaluate_systems(rows, SYSTEMS, tmp_path / place)
        found.append({label: one.scores for label, one in done.items()})
        runs.append(kept(tmp_path / place))
    assert (found[0] == found[1], runs[0] == runs[1]) == (True, True)
    assert found[1]["last-pronoun"]["errors"]["distraction"] == 1


def test_a_run_is_scored_alone(dataset: str, tmp_path: Path, small_memory: None) -> None:
    expected = evaluate(read_split(dataset, CONFIG), SYSTEMS[0], tmp_path)
    folder = tmp_path / f"ruff.{CONFIG}.test.always-he"
    rows = rows_to_score(RUFF, dataset, CONFIG, None, folder)
    assert rows.in_memory is None
    found = score_predictions(rows, folder)
    for key in ("n", "accuracy", "sd", "by_form", "test"):
        without_errors = {k: v for k, v in expected["test"].items() if k != "errors"}
        assert found[key] == (without_errors if key == "test" else expected[key])

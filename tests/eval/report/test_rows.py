"""The rows on the page: ids and answers survive their packing, outcomes follow the dataset."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from pronominal.dataset_scripts.reading import loading
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.evaluation import companion_runs
from pronominal.eval.report import rows
from pronominal.eval.report.rows import front_coded, row_browser
from pronominal.eval.report.scored import Comparison, read_comparisons
from pronominal.eval.runs.runner import SystemSettings
from tests.eval.evaluated import evaluate_several

SYSTEMS = ("first-mention", "random")


@pytest.fixture(scope="module")
def runs(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    out = tmp_path_factory.mktemp("runs")
    asked = [SystemSettings(name, name) for name in SYSTEMS]
    evaluate_several(read_split(str(sample), "double"), asked, out)
    (comparison,) = read_comparisons([out])
    return comparison


def unpacked(packed: list[str]) -> list[str]:
    """As the page's script does."""
    names, before = [], ""
    for line in packed:
        same, _, rest = line.partition(" ")
        before = before[: int(same, 36)] + rest
        names.append(before)
    return names


@given(some.lists(some.text("ab-1 é", max_size=60)))
def test_ids_survive_their_packing(names: list[str]) -> None:
    assert unpacked([*front_coded(names)]) == names


def test_answers_and_kinds_are_those_of_the_dataset(runs: Comparison, sample: Path) -> None:
    split = read_split(str(sample), "double")
    browser = row_browser(runs, split)
    found: dict[str, Any] = json.loads(browser.content)
    table = split.table
    assert unpacked(found["ids"].split("\n")) == table["id"].to_pylist()
    assert [*map(int, found["right"])] == table["label"].to_pylist()
    assert found["names"] == ["occupation", "participant"]
    right = sum(a == b for a, b in zip(found["answers"]["random"], found["right"], strict=True))
    assert right / split.num_rows == runs.scores["random"]["overall"]["accuracy"]
    for name in ("case", "pronoun_set"):
        values, codes = found["columns"][name]
        assert [values[int(code, 36)] for code in codes] == table[name].to_pylist()
    assert not browser.with_text
    assert not any(text in browser.content for text in table["text"].to_pylist())


def test_rows_on_a_disk_are_shown_as_those_in_memory_are(
    runs: Comparison, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_memory = row_browser(runs, read_split(str(sample), "double")).content
    monkeypatch.setattr(loading, "MOST_IN_MEMORY", 50)
    on_disk = loading.load_split(str(sample), "double")
    assert on_disk.in_memory is None
    assert json.loads(row_browser(runs, on_disk).content) == json.loads(in_memory)


def test_without_the_dataset_there_are_ids_and_answers_alone(runs: Comparison) -> None:
    found = json.loads(row_browser(runs, None, include_text=True).content)
    assert found.keys() == {"ids", "answers"}


def test_text_comes_with_the_places_of_its_mentions(runs: Comparison, sample: Path) -> None:
    split = read_split(str(sample), "double")
    found = json.loads(row_browser(runs, split, include_text=True).content)
    for row, (text, places) in zip(split.table.to_pylist(), found["texts"], strict=True):
        mentions = {-1: row["pronoun"], **dict(enumerate(row["candidates"]))}
        assert text == row["text"]
        assert {text[a:b] for a, b, _ in places} == {one["text"] for one in mentions.values()}
        assert all(text[a:b] == mentions[kind]["text"] for a, b, kind in places)


def test_of_many_rows_those_with_different_answers_come_first(
    runs: Comparison, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = read_split(str(sample), "double")
    whole = json.loads(row_browser(runs, split).content)["answers"]
    differing = sum(a != b for a, b in zip(*whole.values(), strict=True))
    monkeypatch.setattr(rows, "MOST", differing)
    browser = row_browser(runs, split)
    found = json.loads(browser.content)["answers"].values()
    assert (browser.shown, browser.rows) == (differing, split.num_rows)
    assert all(a != b for a, b in zip(*found, strict=True))


def test_knowrefs_rows_have_the_answers_to_their_switched_versions(
    knowref: Path, tmp_path: Path
) -> None:
    split = read_split(str(knowref), "original")
    evaluate_several(split, [SystemSettings("first-mention", "first-mention")], tmp_path)
    (comparison,) = read_comparisons([tmp_path])
    found = json.loads(row_browser(comparison, split).content)
    switched = found["switched"]
    assert switched["name"] == "switched"
    beside = companion_runs(comparison.task, split, comparison.folders["first-mention"])
    assert {name: run.name for name, (_, run) in beside.items()} == {
        "switched": "knowref.switched.test.first-mention"
    }
    (_, other) = beside["switched"]
    record = json.loads((other / "run.json").read_text())
    record["system"]["name"] = "random"
    (other / "run.json").write_text(json.dumps(record))
    assert not companion_runs(comparison.task, split, comparison.folders["first-mention"])
    assert "switched" not in json.loads(row_browser(comparison, split).content)
    both = zip(found["answers"]["first-mention"], found["right"], strict=True)
    others = zip(switched["answers"]["first-mention"], switched["right"], strict=True)
    pairs = [(a == b, c == d) for (a, b), (c, d) in zip(both, others, strict=True) if c != "-"]
    consistency = comparison.scores["first-mention"]["consistency"]
    assert len(pairs) == consistency["pairs"]
    in_both = sum(one and other for one, other in pairs)
    assert in_both / len(pairs) == consistency["consistently_correct"]
    neither = sum(not (one or other) for one, other in pairs)
    assert neither / len(pairs) == consistency["consistently_wrong"]

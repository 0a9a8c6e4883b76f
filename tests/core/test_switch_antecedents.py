"""Whoever trains with an own program doubles the data in two lines, and loses no row unseen."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("datasets")

import datasets

from pronominal import InputError, switch_antecedents
from pronominal.instances import ResolutionInstance
from pronominal.switching import switch

NAMES = ("Anna", "Bella", "Clara", "Dora", "Emma")


def row(number: int, **changes: Any) -> dict[str, Any]:
    first, second = NAMES[number % 5], NAMES[(number + 1 + number // 5 % 4) % 5]
    fields = {
        "id": f"own-{number}",
        "text": f"{first} thanked {second} because she had helped with task {number}.",
        "pronoun": "she",
        "candidates": [first, second] if number % 2 else [second, first],
        "label": number % 2,
        "source": number,
    }
    return {**fields, **changes}


def dataset(*rows: dict[str, Any]) -> Any:
    return datasets.Dataset.from_list([*rows])


def test_a_thousand_rows_become_two_thousand() -> None:
    rows = [row(number) for number in range(1000)]
    augmented, left_out = switch_antecedents(dataset(*rows))
    assert (len(augmented), left_out) == (2000, [])
    assert augmented["id"][:1000] == augmented["id"][1000:]
    assert augmented["source"][1000:] == list(range(1000))
    for original, switched in zip(
        augmented.select(range(1000)), augmented.select(range(1000, 2000)), strict=True
    ):
        expected = switch(ResolutionInstance.from_row(original))
        assert ResolutionInstance.from_row(switched) == expected
        assert switched["label"] == 1 - original["label"]


def test_the_command_line_makes_the_same_rows(tmp_path: Path) -> None:
    rows = [row(number) for number in range(1000)]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    command = [sys.executable, "-m", "pronominal", "switch", "own.jsonl", "switched.jsonl"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    lines = (tmp_path / "switched.jsonl").read_text().splitlines()
    switched, _ = switch_antecedents(dataset(*rows), originals=False)
    assert [json.loads(line) for line in lines] == list(switched)


def test_twice_is_never() -> None:
    once, _ = switch_antecedents(dataset(row(0), row(1)), originals=False)
    twice, _ = switch_antecedents(once, originals=False)
    plain, _ = switch_antecedents(dataset(row(0), row(1)))
    assert list(twice) == list(plain.select(range(2)))


def test_a_row_that_cannot_be_switched_is_named_and_stays() -> None:
    absent = row(3, candidates=["Dora", "Zoe"])
    augmented, left_out = switch_antecedents(dataset(row(0), absent, row(5)))
    assert augmented["id"] == ["own-0", "own-3", "own-5", "own-0", "own-5"]
    assert [tuple(one) for one in left_out] == [(1, "candidate 1 is not in the text")]


def test_nothing_may_be_left() -> None:
    switched, left_out = switch_antecedents(
        dataset(row(0, candidates=["Zoe", "Yara"])), originals=False
    )
    assert (len(switched), len(left_out)) == (0, 1)


def test_class_labels_stay_class_labels() -> None:
    own = dataset(row(0), row(1)).cast_column(
        "label", datasets.ClassLabel(names=["first", "second", "neither"])
    )
    augmented, _ = switch_antecedents(own)
    assert augmented.features["label"] == own.features["label"]
    assert augmented["label"] == [0, 1, 1, 0]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"label": 5}, "row 1: the label is outside 0, 1 and 2"),
        ({"label": None}, "row 1: there is no label; add it"),
        ({"candidates": ["Anna"]}, "row 1: there are not two candidates"),
        ({"pronoun": "thanked because"}, "row 1: the pronoun does not occur"),
        ({"text": None}, "row 1: there is no text; add it"),
    ],
)
def test_a_row_that_cannot_be_is_an_error(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        switch_antecedents(dataset(row(0), row(1, **changes)))


def mention(text: str | None, start: int | None, end: int | None, **more: str) -> dict[str, Any]:
    return {"text": text, "start": start, "end": end, **more}


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"pronoun": mention("she", 0, 3)}, "the offsets 0:3 of the pronoun do not hold its text"),
        ({"pronoun": mention("she", -5, 3)}, "the offsets -5:3 of the pronoun do not hold"),
        ({"pronoun": mention("she", None, 3)}, "the pronoun has half an offset"),
        ({"pronoun": mention("she", 25, 28, case="nominative")}, "the pronoun is no mention"),
        ({"pronoun": 7}, "the pronoun is no mention"),
        (
            {"candidates": [mention(None, 0, 4), mention("Bella", 13, 18)]},
            "candidate 0 has no text",
        ),
        ({"candidates": [1, 2]}, "candidate 0 is no mention"),
        ({"candidates": ["", "Bella"]}, "candidate 0 has no text"),
    ],
)
def test_a_mention_that_is_none_is_an_error(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(InputError, match=f"row 0: {fault}"):
        switch_antecedents(dataset(row(0, **changes)))


def test_mentions_need_no_offsets() -> None:
    candidates = [mention(name, None, None) for name in row(0)["candidates"]]
    bare, _ = switch_antecedents(dataset(row(0, pronoun={"text": "she"}, candidates=candidates)))
    assert list(bare) == list(switch_antecedents(dataset(row(0)))[0])


def test_a_dataset_of_tensors_is_one_of_rows() -> None:
    pytest.importorskip("torch")
    own = dataset(row(0), row(1))
    tensors, _ = switch_antecedents(own.with_format("torch"))
    assert list(tensors) == list(switch_antecedents(own)[0])


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ([row(0)], "was given a list"),
        (datasets.DatasetDict({"train": dataset(row(0))}), "was given a DatasetDict"),
        (dataset({"text": "x"}), "there is no column pronoun"),
    ],
    ids=["list", "splits", "column"],
)
def test_what_is_no_dataset_is_an_error(given: Any, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        switch_antecedents(given)

"""Predictions read as columns say what the same lines say one by one, and digests stay the same."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal import InputError
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.eval.results import evaluate, score
from pronominal.eval.runs import prediction_blocks
from pronominal.eval.runs.answers import read_answers
from pronominal.eval.runs.prediction_blocks import (
    NotPlainError,
    decisions_in_order,
    plain_counts,
    score_blocks,
)
from pronominal.eval.runs.predictions import read_predictions

DIGESTS = {
    "first-mention": "a7d451bb7a40cb2d5be7223c9a0940e6a76a3461c93bae0b60c5f415e228fa45",
    "random": "cd365060f81e5e51a412bf34e9198c1377a6ea070803c76207e8ab5a4cdf83cc",
}
"""SHA-256 of the predictions on the sample, from before they were read in columns."""

UNUSUAL = (
    b'{"id": "a", "choice": 0}{"id": "b", "choice": 0}\n\n',
    b'{"id": "a",\n"choice": 0}\n{"id": "b", "choice": 0}\n',
    b'{"id": "a", "choice": 0}\n\n{"id": "b", "choice": 0}\n',
    b'{"id": "a", "choice": 0}\r\n{"id": "b", "choice": 0}\r\n',
    b'{"id": "a", "choice": 0, "choice": 1}\n',
    b'{"id": "a", "choice": true}\n',
    b'{"id": "a", "choice": 0.0}\n',
    b'{"id": "a", "choice": "0"}\n',
    b'{"id": "a", "choice": 0, "abstained": "none"}\n',
    b'{"id": "a", "abstained": "never"}\n',
    b'{"id": "a"}\n',
    b'{"id": null, "choice": 0}\n',
    b'{"id": "\xff", "choice": 0}\n',
    b'{"id": "\\ud800", "choice": 0}\n',
    b'{"id": "a", "choice": 0, "clusters": []}\n',
    b'{"id": "a", "choice": 99999999999999999999}\n',
    b'[{"id": "a", "choice": 0}]\n',
    b"\n",
)


def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file be one that is read line by line."""

    def refuse(lines: bytes) -> None:
        raise NotPlainError

    monkeypatch.setattr(prediction_blocks, "_columns", refuse)


@pytest.mark.parametrize("lines", UNUSUAL)
def test_unusual_lines_are_left_to_who_reads_them_one_by_one(tmp_path: Path, lines: bytes) -> None:
    file = tmp_path / "predictions.jsonl"
    file.write_bytes(lines)
    assert plain_counts(file) is None


WORDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
LINES = st.lists(
    st.fixed_dictionaries(
        {"id": WORDS},
        optional={
            "choice": st.none() | st.integers(-1, 3),
            "abstained": st.sampled_from([None, "none", "both", "unfinished", "never"]),
            "scores": st.lists(st.floats(0, 1), min_size=1, max_size=3),
        },
    ),
    min_size=1,
    max_size=6,
)


@given(LINES, st.booleans(), st.integers(20, 200))
def test_columns_are_what_the_lines_say(
    tmp_path_factory: pytest.TempPathFactory, lines: list[object], ascii_only: bool, block: int
) -> None:
    file = tmp_path_factory.mktemp("lines") / "predictions.jsonl"
    text = "\n".join(json.dumps(line, ensure_ascii=ascii_only) for line in lines)
    file.write_bytes(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prediction_blocks, "BLOCK", block)
        counts = plain_counts(file)
    if counts is None:
        with pytest.raises(InputError):
            [*read_predictions(file)]
        return
    decisions = [prediction.decision for _, prediction in read_predictions(file)]
    assert counts.pop("rows") == len(decisions)
    given = [decision.abstained for decision in decisions]
    assert counts == {why: given.count(why) for why in counts}  # type: ignore[arg-type]


def test_decisions_in_order_are_those_of_the_lines(sample: Path, tmp_path: Path) -> None:
    split = load_split(sample, "double")
    results = evaluate(split, ["random"], out=tmp_path)
    run = results.runs["random"]
    by_line = [prediction.decision for _, prediction in read_predictions(run)]
    assert decisions_in_order(run, split) == by_line == read_answers(run, split)
    scores = [prediction.given["scores"] for _, prediction in read_predictions(run)]
    assert np.concatenate([*score_blocks(run)]).tolist() == scores


def test_rows_in_another_order_or_missing_are_read_one_by_one(sample: Path, tmp_path: Path) -> None:
    split = load_split(sample, "double")
    run = evaluate(split, ["first-mention"], out=tmp_path).runs["first-mention"]
    lines = (run / "predictions.jsonl").read_text("utf-8").splitlines(keepends=True)
    given = read_answers(run, split)
    for name, kept in (("turned", lines[::-1]), ("fewer", lines[:-1]), ("more", lines + lines[:1])):
        file = tmp_path / f"{name}.jsonl"
        file.write_text("".join(kept), "utf-8")
        assert decisions_in_order(file, split) is None
        if name == "turned":
            assert read_answers(file, split) == given
        else:
            with pytest.raises(InputError):
                read_answers(file, split)


def test_a_choice_outside_the_candidates_is_named(sample: Path, tmp_path: Path) -> None:
    split = load_split(sample, "double")
    ids = split.table["id"].to_pylist()
    file = tmp_path / "predictions.jsonl"
    rows = [{"id": name, "choice": 7 if row == 3 else 0} for row, name in enumerate(ids)]
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    with pytest.raises(InputError, match="outside its candidates") as error:
        read_answers(file, split)
    assert error.value.row == "line 4"


@pytest.mark.parametrize("system", DIGESTS)
def test_predictions_are_byte_by_byte_what_they_were(
    sample: Path, tmp_path: Path, system: str
) -> None:
    run = evaluate(sample, [system], config="double", out=tmp_path).runs[system]
    found = hashlib.sha256((run / "predictions.jsonl").read_bytes()).hexdigest()
    assert found == DIGESTS[system]


@pytest.mark.parametrize("where", ["distractors_0/test", "distractors_2/seed_13"])
def test_scores_of_columns_and_of_lines_are_the_same(
    own_ruff: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    split = load_split(own_ruff, *where.split("/"))
    draw = np.random.default_rng(29)
    rows: list[dict[str, object]] = []
    for one in split.table["id"].to_pylist():
        scores = draw.random(4).tolist()
        rows.append({"id": one, "choice": int(np.argmax(scores)), "scores": scores})
    rows[5] |= {"choice": None, "abstained": "none"}
    file = tmp_path / "predictions.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")

    def scored() -> list[dict[str, object]]:
        return [dict(one.content) for one in score(split, file).scores.values()]

    by_columns = scored()
    one_by_one(monkeypatch)
    assert scored() == by_columns

"""A run's clusters can be read in another way, SpanBERT's as the WinoPron authors did too."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError, Span
from pronominal.cli.main import app
from pronominal.dataset_scripts.published import read_split
from pronominal.decisions import NONE, Decision
from pronominal.eval.evaluation import evaluate
from pronominal.eval.readings import by_strings_carried_over, carried_over_answers
from pronominal.eval.rereading import reread
from pronominal.eval.runner import SystemSettings
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Mention


def question(text: str, pronoun: str, *clusters: Sequence[str]) -> tuple[Any, list[Cluster]]:
    """Place strings where they first stand; the reading compares strings alone."""
    candidates = (Mention("baker", -1, -1), Mention("guest", -1, -1))
    mention = Mention(pronoun, *place(text, pronoun))
    instance = ResolutionInstance("x", text, mention, candidates, 0)
    return instance, [[place(text, string) for string in cluster] for cluster in clusters]


def place(text: str, string: str) -> Span:
    return Span(text.index(string), text.index(string) + len(string))


def test_answers_are_those_of_upstreams_converter(goldens: Path) -> None:
    folder = goldens / "c2f"
    lines = (folder / "winopron-convert-input.jsonl").read_text().splitlines()
    rows = [converter_row(json.loads(line)) for line in lines]
    with (folder / "winopron-convert-expected.tsv").open(newline="") as file:
        expected = [row["generation"] for row in csv.DictReader(file, delimiter="\t")]
    answers = list(carried_over_answers(rows))
    wrong = [n for n, pair in enumerate(zip(answers, expected, strict=True)) if pair[0] != pair[1]]
    assert not wrong


def converter_row(given: dict[str, Any]) -> tuple[ResolutionInstance, list[Cluster]]:
    """Take the text to be its pieces put together, with every piece's place in it."""
    text, places = "", []
    for piece in (piece for segment in given["sentences"] for piece in segment):
        continued = piece.startswith("##")
        text += "" if continued or not text else " "
        start = len(text)
        text += piece.removeprefix("##")
        places.append(Span(start, len(text)))
    row = given["stimulus"]
    candidates = tuple(Mention(row[key], -1, -1) for key in ("occupation", "participant"))
    clusters = [
        [Span(places[start].start, places[end].end) for start, end in cluster]
        for cluster in given["predicted_clusters"]
    ]
    return ResolutionInstance("x", text, Mention(row["pronoun"], -1, -1), candidates, 0), clusters


TEXT = "The baker's guest saw the baker because she fell."


@pytest.mark.parametrize(
    ("rows", "decisions"),
    [
        ([question(TEXT, "she")], [NONE]),
        ([question(TEXT, "she", ["the baker", "she"])], [Decision(0)]),
        # a clitic is a string of its own
        ([question(TEXT, "she", ["The baker's", "she"])], [Decision(0)]),
        # the row before answers for a pronoun without a cluster
        ([question(TEXT, "she", ["guest", "she"]), question(TEXT, "she")], [Decision(1)] * 2),
        (
            [question(TEXT, "she", ["guest", "she"]), question(TEXT, "she", ["guest", "baker"])],
            [Decision(1)] * 2,
        ),
        # the first cluster answers for the second one's pronoun
        ([question(TEXT, "she", ["guest", "The"], ["the baker", "she"])], [Decision(1)]),
        ([question(TEXT, "she", ["The baker's guest", "she"])], [Decision(None, "both")]),
    ],
)
def test_carried_over(rows: list[Any], decisions: list[Decision]) -> None:
    assert list(by_strings_carried_over(rows)) == decisions


class Halves:
    """Puts the pronoun into a cluster with the first candidate in every other text."""

    name = "halves"

    def __init__(self, sample: Path) -> None:
        rows = read_split(str(sample), "double").instances()
        self._clusters = {
            row.text: [[row.candidates[0].span, row.pronoun.span]] if number % 2 == 0 else []
            for number, row in enumerate(rows)
        }

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        return [self._clusters[text] for text in texts]


def test_reread_a_run(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double")
    asked = SystemSettings("halves", "halves")
    evaluate(split, asked, tmp_path, system=Halves(sample))
    run = tmp_path / "sample.double.test.halves"
    reread(split, run, "offsets", tmp_path / "offsets.jsonl")
    assert (tmp_path / "offsets.jsonl").read_bytes() == (run / "predictions.jsonl").read_bytes()
    command = ["reread", str(run), str(tmp_path / "stale.jsonl"), "--dataset", str(sample)]
    app([*command, "--config", "double", "--reading", "upstream-spanbert"], standalone_mode=False)
    answered = [line["choice"] is not None for line in lines(tmp_path / "stale.jsonl")]
    offsets = [line["choice"] is not None for line in lines(tmp_path / "offsets.jsonl")]
    assert sum(offsets) < sum(answered)
    assert all(stale for stale, own in zip(answered, offsets, strict=True) if own)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_what_cannot_be_reread(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double")
    evaluate(split, SystemSettings("first-mention", "first-mention"), tmp_path)
    run = tmp_path / "sample.double.test.first-mention"
    with pytest.raises(InputError, match="did you mean 'upstream-spanbert'"):
        reread(split, run, "upstream-spanbret", tmp_path / "out.jsonl")
    with pytest.raises(InputError, match="no clusters"):
        reread(split, run, "upstream", tmp_path / "out.jsonl")
    with pytest.raises(InputError, match="other rows"):
        reread(read_split(str(sample), "single"), run, "upstream", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()

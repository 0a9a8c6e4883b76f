"""A run's clusters can be read in another way, SpanBERT's as the WinoPron authors did too."""

import csv
import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import InputError, Span
from pronominal.cli.main import app
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import NONE, Decision
from pronominal.eval.runs.answers import reread
from pronominal.eval.runs.decision_rules import (
    DECISION_RULES,
    StringsCarriedOver,
    decision_rule,
)
from pronominal.eval.runs.runner import SystemSettings, predict, run
from pronominal.eval.runs.shards import Shard
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Mention
from tests.eval.evaluated import evaluate, score_predictions


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
    reading, wrong = StringsCarriedOver(), []
    for number, (row, answer) in enumerate(zip(rows, expected, strict=True)):
        reading(*row)
        if reading.answer != answer:
            wrong.append(number)
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
    reading = decision_rule("upstream-spanbert")
    assert [reading(*row) for row in rows] == decisions
    for begun in range(len(rows)):
        going_on = decision_rule("upstream-spanbert", rows[:begun])
        assert [going_on(*row) for row in rows[begun:]] == decisions[begun:]


class Halves:
    """Puts the pronoun into a cluster with the first candidate in every other text."""

    name = "halves"

    def __init__(self, split: Split) -> None:
        self._clusters = {
            row.text: [[row.candidates[0].span, row.pronoun.span]] if number % 2 == 0 else []
            for number, row in enumerate(split.instances())
        }

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        return [self._clusters[text] for text in texts]


HALVES = SystemSettings("halves", "halves")


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return read_split(str(sample), "double")


@pytest.fixture(scope="module")
def by_offsets(split: Split, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(split, Halves(split), HALVES, tmp_path_factory.mktemp("offsets")).path


@pytest.fixture(scope="module")
def stale(split: Split, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("stale")
    return run(split, Halves(split), HALVES, out, reading="upstream-spanbert").path


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_run_reads_a_row_after_the_row_before_it(by_offsets: Path, stale: Path) -> None:
    own, carried = (lines(path / "predictions.jsonl") for path in (by_offsets, stale))
    assert [line["choice"] for line in own] == [0, None] * (len(own) // 2)
    assert all(line["choice"] is not None for line in carried)
    assert all(line["choice"] == 0 for line in carried[::2])
    assert [line["clusters"] for line in own] == [line["clusters"] for line in carried]


@pytest.mark.parametrize("reading", [*DECISION_RULES, "upstream-spanbert"])
def test_reading_in_a_run_is_reading_it_again(
    split: Split, by_offsets: Path, tmp_path: Path, sample: Path, reading: str
) -> None:
    read = run(split, Halves(split), HALVES, tmp_path, reading=reading).predictions
    again = tmp_path / "again.jsonl"
    command = ["reread", str(by_offsets), str(again), "--dataset", str(sample)]
    app([*command, "--config", "double", "--reading", reading], standalone_mode=False)
    assert read.read_bytes() == again.read_bytes()


@settings(max_examples=20)
@given(cut=st.integers(0, 10**9))
def test_a_killed_run_reads_on_after_the_row_before(
    split: Split, stale: Path, tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = shutil.copytree(stale, tmp_path_factory.mktemp("cut") / stale.name)
    whole = (stale / "predictions.jsonl").read_bytes()
    description = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(description | {"complete": False}))
    (folder / "predictions.jsonl").write_bytes(whole[: cut % (len(whole) + 1)])
    resumed = run(split, Halves(split), HALVES, folder.parent, reading="upstream-spanbert")
    assert resumed.predictions.read_bytes() == whole


@pytest.mark.parametrize("reading", [*DECISION_RULES, "upstream-spanbert"])
def test_scores_of_another_reading(
    split: Split, by_offsets: Path, sample: Path, tmp_path: Path, reading: str
) -> None:
    evaluated = evaluate(split, HALVES, tmp_path, reading, system=Halves(split))
    assert score_predictions(split, by_offsets, reading=reading) == {
        name: score for name, score in evaluated.items() if name != "readings_differ"
    }
    assert (evaluated["overall"]["none"] == 0) is (reading == "upstream-spanbert")


def test_the_command_line_scores_another_reading(
    by_offsets: Path, sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["score", "sample", "--dataset", str(sample), "--config", "double", "--json"]
    none = {}
    for options in ((), ("--reading", "upstream-spanbert")):
        app([*command, "--predictions", str(by_offsets), *options], standalone_mode=False)
        none[options] = json.loads(capsys.readouterr().out)["overall"]["none"]
    assert [*none.values()] == [0.5, 0]


def test_systems_without_clusters_pass_a_reading_of_clusters_by(
    split: Split, tmp_path: Path
) -> None:
    first = SystemSettings("first-mention", "first-mention")
    found = [
        run(split, first.load(), first, tmp_path / reading, reading=reading).predictions
        for reading in ("offsets", "upstream-spanbert")
    ]
    assert found[0].read_bytes() == found[1].read_bytes()


class Writes:
    name = "writes"

    def generate(self, prompts: Sequence[str]) -> list[str]:
        return ["" for _ in prompts]


def test_what_a_sequential_reading_is_not_for(split: Split, tmp_path: Path) -> None:
    stale: dict[str, Any] = {"reading": "upstream-spanbert"}
    with pytest.raises(InputError, match="reads clusters, and writes writes"):
        run(split, Writes(), SystemSettings("writes", "writes"), tmp_path, **stale)
    with pytest.raises(InputError, match="which a shard may lack; merge shards"):
        run(split, Halves(split), HALVES, tmp_path, shard=Shard(1, 2), **stale)
    with pytest.raises(InputError, match="did you mean 'upstream-spanbert'"):
        run(split, Halves(split), HALVES, tmp_path, reading="upstream-spanbret")
    assert list(tmp_path.iterdir()) == []
    assert predict(Halves(split), split.instances()[1:2], **stale)[0].decision == NONE


def test_what_cannot_be_reread(split: Split, sample: Path, tmp_path: Path) -> None:
    evaluate(split, SystemSettings("first-mention", "first-mention"), tmp_path)
    run = tmp_path / "sample.double.test.first-mention"
    with pytest.raises(InputError, match="did you mean 'upstream-spanbert'"):
        reread(split, run, "upstream-spanbret", tmp_path / "out.jsonl")
    with pytest.raises(InputError, match="no clusters"):
        reread(split, run, "upstream", tmp_path / "out.jsonl")
    with pytest.raises(InputError, match="other rows"):
        reread(read_split(str(sample), "single"), run, "upstream", tmp_path / "out.jsonl")
    assert not (tmp_path / "out.jsonl").exists()
    ids = split.table["id"].to_pylist()
    damaged = [{"id": i, "choice": 0, "abstained": None, "clusters": [[[0]]]} for i in ids]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(line) + "\n" for line in damaged))
    with pytest.raises(InputError, match="line 1: these are no clusters"):
        score_predictions(split, tmp_path / "own.jsonl", reading="upstream")

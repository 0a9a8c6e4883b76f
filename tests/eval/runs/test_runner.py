"""Runs: resumed to the same bytes, never mixed, and free of evaluation text."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import InputError, Span
from pronominal.adapters import load
from pronominal.adapters.contract.refusals import RefusedTextError
from pronominal.dataset_scripts.reading import loading
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.runs.runner import CHUNK, SystemSettings, predict, run
from pronominal.eval.runs.shards import Shard, merge
from pronominal.instances import FillingInstance, ResolutionInstance
from tests.cli.test_main import pronominal

RANDOM = SystemSettings("random", "random")


class Shingles:
    """Clusters that differ from batch to batch, so that resuming must keep the batches."""

    name = "shingles"

    def cluster(self, texts: Sequence[str]) -> list[list[list[Span]]]:
        size = len(texts)
        return [[[Span(0, 1 + size % 7), Span(len(text) - 4, len(text) - 1)]] for text in texts]


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return read_split(str(sample), "double")


def test_a_run_says_what_was_run(split: Split, tmp_path: Path) -> None:
    folder = run(split, load("random"), RANDOM, tmp_path)
    description = json.loads((folder.path / "run.json").read_text())
    assert description["schema_version"] == 1
    assert description["dataset"] == {
        "name": "sample",
        "config": "double",
        "split": "test",
        "digest": split.digest,
        "rows": 576,
    }
    assert description["system"] == {"name": "random", "kind": "choosing", "question": None}
    assert description["complete"] is True
    assert description["versions"]["pronominal"]
    assert description["counts"] == {"rows": 576, "none": 0, "both": 0}
    line = json.loads(folder.predictions.read_text().splitlines()[0])
    assert list(line) == ["id", "choice", "abstained", "scores"]


def test_no_file_of_a_run_holds_evaluation_text(split: Split, tmp_path: Path) -> None:
    run(split, Shingles(), SystemSettings("shingles", "shingles"), tmp_path)
    content = "".join(path.read_text() for path in tmp_path.rglob("*.json*"))
    for text in split.table["text"].to_pylist():
        assert text[:25] not in content


def test_a_run_cut_at_any_byte_ends_with_the_same_bytes(split: Split, tmp_path: Path) -> None:
    asked = SystemSettings("shingles", "shingles")
    ends_alike_wherever_it_is_cut(lambda: run(split, Shingles(), asked, tmp_path), 25)


def ends_alike_wherever_it_is_cut(go_on: Callable[[], RunFolder], examples: int) -> None:
    folder = go_on()
    whole = folder.predictions.read_bytes()

    @settings(max_examples=examples)
    @given(cut=st.integers(0, len(whole)))
    def cut_at(cut: int) -> None:
        folder.describe(complete=False)
        folder.predictions.write_bytes(whole[:cut])
        assert go_on().predictions.read_bytes() == whole

    cut_at()


KILLED = """
import os, signal, sys
from pathlib import Path
from pronominal.adapters import load
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.eval.runs import runner

random = load("random")
choose, calls = random.choose, []

def choose_or_die(instances):
    calls.append(1)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return choose(instances)

random.choose = choose_or_die
split = read_split(sys.argv[1], "double")
runner.run(split, random, runner.SystemSettings("random", "random"), Path(sys.argv[2]))
"""


def test_a_killed_run_goes_on(sample: Path, split: Split, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, sample, tmp_path / "killed"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (part,) = tmp_path.glob("killed/*/predictions.jsonl")
    assert len(part.read_text().splitlines()) == CHUNK
    resumed = run(split, load("random"), RANDOM, tmp_path / "killed")
    straight = run(split, load("random"), RANDOM, tmp_path / "straight")
    assert resumed.predictions.read_bytes() == straight.predictions.read_bytes()


def test_two_processes_do_not_write_to_one_run(split: Split, tmp_path: Path) -> None:
    class Nosy:
        name = "random"

        def choose(self, instances):
            with pytest.raises(InputError, match="another process is writing there"):
                run(split, load("random"), RANDOM, tmp_path)
            return load("random").choose(instances)

    first = run(split, Nosy(), RANDOM, tmp_path)
    assert len(first.predictions.read_text().splitlines()) == split.table.num_rows


def test_any_pairs_of_integers_are_spans(split: Split) -> None:
    class Tuples:
        name = "tuples"

        def cluster(self, texts):
            return [[((0, 3), (4, 7))] for _ in texts]

    (prediction,) = predict(Tuples(), split.instances()[:1])
    assert prediction.given["clusters"] == [[[0, 3], [4, 7]]]


def test_a_finished_run_is_not_run_again(split: Split, tmp_path: Path) -> None:
    run(split, load("random"), RANDOM, tmp_path)

    class Broken:
        name = "random"

        def choose(self, instances):
            raise AssertionError("asked again")

    run(split, Broken(), RANDOM, tmp_path, strict=True)


def test_another_dataset_or_setting_is_refused(sample: Path, tmp_path: Path) -> None:
    double, single = (read_split(str(sample), config) for config in ("double", "single"))
    folder = run(double, load("random"), RANDOM, tmp_path)
    with pytest.raises(InputError, match="another dataset"):
        run(single, load("random"), RANDOM, folder.path)
    with pytest.raises(InputError, match="other settings"):
        run(double, load("random"), SystemSettings("random", "random", None, {"seed": 1}), tmp_path)
    with pytest.raises(InputError, match="another system"):
        run(double, load("first-mention"), SystemSettings("random", "first-mention"), tmp_path)


def test_predictions_of_other_rows_are_not_resumed(split: Split, tmp_path: Path) -> None:
    folder = run(split, load("random"), RANDOM, tmp_path)
    folder.describe(complete=False)
    lines = folder.predictions.read_text().splitlines(keepends=True)
    folder.predictions.write_text("".join(lines[1:] + lines[:1]))
    with pytest.raises(InputError, match="line 1: the prediction is not that of the instance"):
        run(split, load("random"), RANDOM, tmp_path)


@pytest.mark.parametrize(
    ("answers", "cause"),
    [
        (lambda texts: [[]], "1 answers to 2 inputs"),
        (lambda texts: None, "a NoneType"),
        (lambda texts: [[[Span(0, 1), Span(0, 999)]] for _ in texts], "0:999 outside the text"),
        (lambda texts: [[[Span(2, 2), Span(0, 1)]] for _ in texts], "2:2 outside the text"),
        (lambda texts: [[[Span(0, 1), Span(0, 1)]] for _ in texts], "a span twice in one cluster"),
    ],
)
def test_a_system_that_breaks_its_contract_is_named(split, answers, cause: str) -> None:
    class Wrong:
        name = "wrong"

        def cluster(self, texts):
            return answers(texts)

    with pytest.raises(InputError, match=f"wrong gives.*{cause}"):
        predict(Wrong(), split.instances()[:2])


@pytest.mark.parametrize(
    "probabilities", [[1.0], [], [0.2, 0.3, 0.5], [0.5, 1.5], [-0.5, 1.0], None, ["a", "b"]]
)
def test_a_choice_needs_one_probability_for_each_candidate(
    split: Split, probabilities: object
) -> None:
    class Wrong:
        name = "wrong"

        def choose(self, instances: Sequence[ResolutionInstance]) -> list[object]:
            return [probabilities for _ in instances]

    first = split.instances()[0]
    cause = f"^id {first.id}: wrong does not give one probability for each candidate"
    with pytest.raises(InputError, match=cause):
        predict(Wrong(), [first])


def test_a_refused_text_is_named_by_its_id(split: Split, tmp_path: Path) -> None:
    refused = split.instances()[CHUNK + 2]

    class Refusing:
        name = "refusing"

        def cluster(self, texts: Sequence[str]) -> list[list[list[Span]]]:
            if refused.text in texts:
                index = texts.index(refused.text)
                raise RefusedTextError("too long", cure="cut it", index=index, checkpoint="mine")
            return [[] for _ in texts]

    with pytest.raises(InputError) as caught:
        run(split, Refusing(), SystemSettings("refusing", "refusing"), tmp_path, strict=True)
    assert str(caught.value) == f"mine, id {refused.id}: too long; cut it"


def test_something_that_is_no_system_is_refused(split: Split) -> None:
    with pytest.raises(InputError, match="object is not a system"):
        predict(object(), split.instances()[:2])


class Lengths:
    """Scores slots and resolves nothing; the batch shows in the scores."""

    name = "lengths"
    chunk = 7

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        size = len(instances)
        return [[float(len(i.text)), float(i.blank.start), size, -1.0] for i in instances]


LENGTHS = SystemSettings("lengths", "lengths")


@pytest.fixture
def on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every split is too large for the memory."""
    monkeypatch.setattr(loading, "MOST_IN_MEMORY", 0)


@pytest.mark.usefixtures("on_disk")
def test_a_streamed_split_is_the_split(own_ruff: str, tmp_path: Path) -> None:
    read = read_split(own_ruff, "distractors_1")
    table = pq.read_table(read.file)
    folder = tmp_path / "ruff" / "distractors_1"
    folder.mkdir(parents=True)
    pq.write_table(table.slice(0, 1000), folder / "test-00000.parquet", row_group_size=333)
    pq.write_table(table.slice(1000, 40), folder / "test-00001.parquet", row_group_size=1)
    pq.write_table(table.slice(1040), folder / "test-00002.parquet", row_group_size=700)
    streamed = load_split(str(tmp_path / "ruff"), "distractors_1")
    assert (streamed.digest, streamed.num_rows) == (read.digest, read.num_rows)
    assert list(streamed.stream()) == list(read.stream())
    every = [instance.id for instance in read.stream()]
    for start, stop in ((0, 0), (0, 1), (332, 334), (999, 1001), (1020, None), (2880, None)):
        assert [i.id for i in streamed.stream(start, stop)] == every[start:stop], (start, stop)
        assert [i.id for i in read.stream(start, stop)] == every[start:stop], (start, stop)


@pytest.mark.usefixtures("on_disk")
def test_a_streamed_split_is_checked(own_ruff: str, tmp_path: Path) -> None:
    table = pq.read_table(read_split(own_ruff, "distractors_0").file)
    folder = tmp_path / "ruff" / "distractors_0"
    folder.mkdir(parents=True)
    pq.write_table(pa.concat_tables([table, table.slice(5, 1)]), folder / "test.parquet")
    with pytest.raises(InputError, match=r"row 240: the id .* is also that of row 5"):
        load_split(str(tmp_path / "ruff"), "distractors_0")
    (folder / "test.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="the Parquet file is damaged"):
        load_split(str(tmp_path / "ruff"), "distractors_0")


def test_samples_can_be_joined(own_ruff: str) -> None:
    joined = load_split(own_ruff, "distractors_0", "seed_13+seed_17")
    ids = [
        i.id
        for s in ("seed_13", "seed_17")
        for i in read_split(own_ruff, "distractors_0", s).stream()
    ]
    assert [i.id for i in joined.stream()] == [*dict.fromkeys(ids)]
    assert len(ids) > joined.num_rows


@pytest.mark.usefixtures("on_disk")
@pytest.mark.parametrize("of", [1, 2, 3, 50])
def test_shards_merge_to_the_same_bytes(own_ruff: str, tmp_path: Path, of: int) -> None:
    rows = load_split(own_ruff, "distractors_0")
    whole = run(rows, Lengths(), LENGTHS, tmp_path / "whole")
    parts = [
        run(rows, Lengths(), LENGTHS, tmp_path, shard=Shard(index, of)).path
        for index in range(1, of + 1)
    ]
    if of == 1:
        with pytest.raises(InputError, match="the run is no shard"):
            merge(parts)
        return
    merged = merge(parts[::-1])
    assert merged.name == whole.path.name
    assert (merged / "predictions.jsonl").read_bytes() == whole.predictions.read_bytes()
    ours, theirs = (json.loads((p / "run.json").read_text()) for p in (merged, whole.path))
    for key in ("dataset", "system", "settings", "counts", "complete"):
        assert ours[key] == theirs[key], key
    assert merge(parts) == merged  # a command that was killed at its end is given again
    with (merged / "predictions.jsonl").open("a") as file:
        file.write("\n")
    with pytest.raises(InputError, match="not those that the run ended with"):
        merge(parts)
    (merged / "run.json").unlink()
    with pytest.raises(InputError, match="there is a run already"):
        merge(parts)


@pytest.mark.usefixtures("on_disk")
def test_shards_that_do_not_make_up_a_run_are_refused(own_ruff: str, tmp_path: Path) -> None:
    rows = load_split(own_ruff, "distractors_0")
    one, two = (run(rows, Lengths(), LENGTHS, tmp_path, shard=Shard(i, 3)) for i in (1, 2))
    other = run(
        rows, load("always-he"), SystemSettings("he", "always-he"), tmp_path, shard=Shard(3, 3)
    )
    with pytest.raises(InputError, match="the shard 3/3 is missing"):
        merge([one.path, two.path])
    with pytest.raises(InputError, match="another system"):
        merge([one.path, two.path, other.path])
    two.describe(complete=False)
    with pytest.raises(InputError, match="the shard is not done"):
        merge([one.path, two.path])


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "a/b", "1/0"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no shard"):
        Shard.parse(text)


@pytest.mark.usefixtures("on_disk")
def test_a_streamed_run_cut_at_any_byte_ends_with_the_same_bytes(
    own_ruff: str, tmp_path: Path
) -> None:
    rows = load_split(own_ruff, "distractors_0")
    ends_alike_wherever_it_is_cut(lambda: run(rows, Lengths(), LENGTHS, tmp_path), 15)


def test_the_likeliest_option_is_chosen_and_a_tie_is_both(own_ruff: str) -> None:
    class Tied:
        name = "tied"

        def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
            return [[-2.0, -1.0, -1.0, -3.0], [-2.0, -1.0, -0.5, -3.0]][: len(instances)]

    first, second = predict(Tied(), [*read_split(own_ruff, "distractors_0").stream(0, 2)])
    assert (first.decision.abstained, second.decision.choice) == ("both", 2)
    assert second.given["scores"] == [-2.0, -1.0, -0.5, -3.0]


@pytest.mark.parametrize("scores", [[0.0, float("nan"), 0, 0], [0.0] * 3, None, ["x"] * 4])
def test_scores_that_are_no_numbers_are_refused(own_ruff: str, scores: object) -> None:
    class Wrong:
        name = "wrong"

        def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[object]:
            return [scores for _ in instances]

    with pytest.raises(InputError, match=r"id .*: wrong does not give one finite number"):
        predict(Wrong(), [*read_split(own_ruff, "distractors_0").stream(0, 2)])


def test_a_question_of_another_kind_is_refused(own_ruff: str, split: Split) -> None:
    with pytest.raises(InputError, match="random looks for antecedents"):
        predict(load("random"), [*read_split(own_ruff, "distractors_0").stream(0, 2)])
    with pytest.raises(InputError, match="always-he fills slots"):
        predict(load("always-he"), split.instances()[:2])


def test_a_question_of_another_kind_is_refused_before_weights_or_servers_are_looked_for(
    own_ruff: str, sample: Path, tmp_path: Path
) -> None:
    slots = ("-d", own_ruff, "-c", "distractors_0", "-o", tmp_path)
    candidates = ("-d", sample, "-c", "double", "-o", tmp_path)
    for command in ("evaluate", "run"):
        for rows, system, told in (
            (slots, "lingmess=no/weights", "lingmess looks for antecedents"),
            (candidates, "lm=no/weights", "lm fills slots"),
            (candidates, "lm-server-scores=http://localhost:1", "lm-server-scores fills slots"),
        ):
            refused = pronominal(command, *rows, "-s", system)
            assert refused.returncode == 2
            assert refused.stderr.startswith(f"pronominal: {told}, and the dataset asks for")


def test_a_refused_question_leaves_nothing_behind(own_ruff: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="random looks for antecedents"):
        run(load_split(own_ruff, "distractors_0"), load("random"), RANDOM, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_run_goes_on_at_another_url(own_ruff: str, tmp_path: Path) -> None:
    rows = load_split(own_ruff, "distractors_0")
    for port in (1, 2):
        asked = SystemSettings("lengths", "lengths", None, {"url": f"http://localhost:{port}"})
        folder = run(rows, Lengths(), asked, tmp_path)
        folder.describe(complete=False)
    assert "url" not in folder.record.settings

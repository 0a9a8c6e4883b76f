"""What a coreference training is asked for: all of it counts, or it is refused."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from pronominal import InputError
from pronominal.adapters.c2f.bert.training_settings import TransformerTraining
from pronominal.adapters.c2f.e2e.training_settings import E2ETraining
from pronominal.eval.training.data.reading import read_data
from pronominal.eval.training.data.request import DataRequest
from tests.adapters.c2f.elmo.test_network import options, random_weights, written
from tests.eval.training.coreference_rows import run, write_conll, write_rows, write_vectors

pytestmark = pytest.mark.usefixtures("blank_pictures")


@pytest.fixture
def command(tmp_path: Path) -> list[object]:
    rows = write_rows(tmp_path / "own.jsonl", 20)
    vectors = write_vectors(tmp_path / "vectors.txt")
    length = ("--size", "small", "--updates", 2, "--batch-size", 8, "--out", tmp_path / "out")
    return ["train", "e2e", "--data", rows, "--context-embeddings", vectors, *length]


def described(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "out/seed-1/training.json").read_text())
    return found


def test_a_system_with_elmo_is_tested_with_it(
    command: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elmo = written(tmp_path / "elmo", options(), random_weights(options()))
    tested = [*command, "--test", tmp_path / "own.jsonl"]
    assert run([*tested, "--elmo-weights", elmo]) == 0
    for config in ("original", "switched"):
        place = tmp_path / "out/seed-1/runs" / f"own.{config}.test.e2e" / "run.json"
        assert json.loads(place.read_text())["settings"]["elmo_weights"] == str(elmo)
    assert 'elmo_weights="ELMO")' in (tmp_path / "out/seed-1/README.md").read_text()
    capsys.readouterr()
    # without ELMo, or with another one, it is another training
    assert run(tested) == 2
    assert "another begins_with.elmo_weights" in capsys.readouterr().err
    other = written(tmp_path / "other", options(), random_weights(options(), seed=1))
    assert run([*tested, "--elmo-weights", other]) == 2


def test_another_share_is_another_training(
    command: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command) == 0
    capsys.readouterr()
    assert run([*command, "--validation-share", "0.5"]) == 2
    assert "another data.held_out" in capsys.readouterr().err


def test_tests_may_be_added_to_a_finished_training(command: list[object], tmp_path: Path) -> None:
    assert run(command) == 0
    before = described(tmp_path)
    weights = tmp_path / "out/seed-1/model.safetensors"
    written_at = weights.stat().st_mtime_ns
    assert before["scores"] == before["tests"] == {}
    assert run([*command, "--test", tmp_path / "own.jsonl"]) == 0
    after = described(tmp_path)
    assert after["scores"]["as_given"]["original"]["n"] == 20
    assert "| test, original | 20 |" in (tmp_path / "out/seed-1/README.md").read_text()
    assert {**after, "scores": {}, "tests": {}} == before
    assert weights.stat().st_mtime_ns == written_at
    # a command without tests leaves those that were made
    assert run(command) == 0
    assert described(tmp_path) == after
    # other rows take their place
    other = write_rows(tmp_path / "other.jsonl", 12)
    assert run([*command, "--test", other]) == 0
    assert described(tmp_path)["scores"]["as_given"]["original"]["n"] == 12


def test_warnings_are_lines_of_the_command(
    command: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--test", tmp_path / "own.jsonl"], warned=True) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines
    assert all(line.startswith("pronominal: ") for line in lines)


NO_EFFECT: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "own validation": (["gap"], {"validation": ["own.jsonl"]}, "--validation own.jsonl .* on gap"),
    "own test": (["knowref"], {"test": Path("own.jsonl")}, "--test own.jsonl .* on knowref"),
    "dataset": (["own.jsonl"], {"dataset": "out/gap"}, "--dataset out/gap .* on own.jsonl"),
    "sources": (["conll:a"], {"sources": Path("b")}, "--sources b .* on documents alone"),
    "rows to stop by": (["conll:a"], {"validation": ["b.jsonl"]}, "b.jsonl .* on documents alone"),
    "two ways to hold documents out": (
        ["conll:a"],
        {"validation": ["conll:b"], "validation_share": 0.5},
        "--validation-share 0.5 .* on documents alone",
    ),
}


def test_a_dataset_and_own_rows_are_learnt_together(tmp_path: Path, upstream: Path) -> None:
    own = write_rows(tmp_path / "own.jsonl", 20)
    alone = read_data(DataRequest(data=["gap"], sources=upstream))
    data = read_data(DataRequest(data=[str(own), "gap"], sources=upstream, validation_share=0.5))
    assert data.name == "own+gap"
    assert len(data.rows) == len(alone.rows) + 10
    assert len(data.validation_rows) == len(alone.validation_rows) + 10
    ids = [row.id for row in [*data.rows, *data.validation_rows]]
    assert len({*ids}) == len(ids)
    assert {one.partition("-")[0] for one in ids} == {"own", "gap"}
    assert (data.tests.keys(), data.test_name) == (alone.tests.keys(), "gap")
    assert data.digests["gap:train"] == alone.digests["train"]
    with pytest.raises(InputError, match="--data names 2 datasets with one --dataset; give --so"):
        read_data(DataRequest(data=["gap", "knowref"], dataset="out/gap"))


@pytest.mark.parametrize("case", NO_EFFECT)
def test_what_would_have_no_effect_is_refused(case: str) -> None:
    data, given, message = NO_EFFECT[case]
    with pytest.raises(InputError, match=message):
        read_data(DataRequest(data=data, **given))


@pytest.mark.parametrize(("documents", "share", "parts"), [(2, 0.1, (1, 1)), (3, 0.9, (1, 2))])
def test_a_share_leaves_something_to_learn_from(
    tmp_path: Path, documents: int, share: float, parts: Sequence[int]
) -> None:
    file = write_conll(tmp_path / "own_conll", documents)
    found = read_data(DataRequest(data=[f"conll:{file}"], validation_share=share))
    assert (len(found.documents), len(found.validation_documents)) == parts


def test_one_document_is_not_enough(tmp_path: Path) -> None:
    file = write_conll(tmp_path / "own_conll", 1)
    with pytest.raises(InputError, match=r"fewer than two documents .* --validation conll:PATH"):
        read_data(DataRequest(data=[f"conll:{file}"]))


def test_documents_of_two_words_are_nothing_to_learn_from(
    command: list[object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = write_conll(tmp_path / "own_conll", 1).read_text().splitlines()
    short = [line for line in lines if " left " not in line and " house " not in line]
    (tmp_path / "own_conll").write_text("\n".join(short) + "\n")
    documents = f"conll:{tmp_path / 'own_conll'}"
    command[3:4] = [documents, "--validation", documents]
    assert run(command) == 2
    assert "none of 1 documents can be learnt: it is too short" in capsys.readouterr().err


def test_settings_are_those_of_the_system() -> None:
    e2e = E2ETraining(context_embeddings="vectors.txt").identity()
    c2f = TransformerTraining(encoder="encoder").identity()
    assert e2e.keys() - c2f.keys() == {"e2e_rates"}
    assert c2f.keys() - e2e.keys() == {"recipe", "transformer_rates"}
    reduced = E2ETraining(embeddings_of="encoder", embedding_size=7)
    assert reduced.identity() == {**e2e, "embeddings": {"size": 7}}


def test_the_former_name_of_a_command_goes_on_working(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["train", "c2f", "--data", "none.jsonl", "--out", "out"]) == 2
    assert "not said what the training begins with" in capsys.readouterr().err
    assert run(["train", "--help"]) == 0
    assert "c2f" not in capsys.readouterr().out

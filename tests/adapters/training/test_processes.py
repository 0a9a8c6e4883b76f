"""Several processes train one classifier: the one that a single process would have made."""

import json
import socket
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")
pytest.importorskip("matplotlib")

import torch

from tests.eval.training.test_bert import command, row, run, write_encoder, write_rows
from tests.processes import command_line_of_one_of_two, started

if not torch.distributed.is_available():
    pytest.skip("this torch has no processes", allow_module_level=True)

UPDATES = 16
"""The fourteen batches of the first epoch, whose last one is smaller, and two of the second."""


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An encoder without dropout, which no two processes draw alike."""
    folder = write_encoder("bert", tmp_path_factory.mktemp("encoder"))
    config = json.loads((folder / "config.json").read_text())
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps({**config, **dropout}))
    return folder


def losses(out: Path) -> list[float]:
    points = map(json.loads, (out / "seed-2" / "curves.jsonl").open())
    return [point["loss"] for point in points if "loss" in point]


def test_two_processes_go_on_and_learn_what_one_learns(encoder: Path, tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "own.jsonl", [row(number) for number in range(61)])
    options = ("--updates", str(UPDATES), "--batch-size", "8", "--scorer", "span", "--switching")
    options += ("--pair-batches", "--consistency-penalty", "0.5", "--balanced-loss", "--seeds")
    one, two = (command(encoder, rows, tmp_path / name, *options) for name in ("one", "two"))
    assert run(*one, "2") == 0
    assert run(*two, "1") == 0
    # the first seed is complete, so that none of the processes may train it
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    both = [started(command_line_of_one_of_two, rank, port, *two, "2") for rank in range(2)]
    for process in both:
        process.join(120)
    ended = [process.exitcode for process in both]
    for process in both:
        process.kill()
    assert ended == [0, 0]
    summary = json.loads((tmp_path / "two" / "summary.json").read_text())
    assert summary["seeds"] == [1, 2]
    expected = losses(tmp_path / "one")
    assert len(expected) == UPDATES
    assert losses(tmp_path / "two") == pytest.approx(expected, abs=1e-4)

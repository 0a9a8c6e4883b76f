"""Several processes train one system: the one that a single process would have made."""

import json
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytest.importorskip("fastcoref")
pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)
pytest.importorskip("pronominal.adapters.caw.system", exc_type=ImportError)
pytest.importorskip("matplotlib")

import torch

from pronominal.eval.training import training
from tests.adapters.c2f.new_systems import NEW
from tests.adapters.training.dropout import remove_dropout
from tests.conftest import ROOT
from tests.eval.training.coreference_rows import row, run
from tests.eval.training.test_bert import write_encoder, write_rows
from tests.processes import blank_curves, command_lines_of_one_of_two, started

if not torch.distributed.is_available():
    pytest.skip("this torch has no processes", allow_module_level=True)

GOLDENS = ROOT / "tests" / "goldens"
ROWS = 13
"""Batches of four rows, of which the last one is for one process alone."""
UPDATES = 5
"""The four batches of the first epoch, and one of the second."""
RATES = ("--encoder-learning-rate", "1e-3", "--task-learning-rate", "3e-3")
OPTIONS = {
    "bert": (
        *("--scorer", "span", "--learning-rate", "0.01"),
        *("--consistency-penalty", "0.5", "--balanced-loss"),
    ),
    "caw": ("--head-dropout", "0", *RATES),
    "fcoref": RATES,
    "lingmess": RATES,
    "spanbert": ("--recipe", "tensorflow", *RATES),
    "e2e": (),
}


def unequal_row(number: int) -> dict[str, object]:
    """Return a row with more words than others; each third one cannot be switched."""
    plain = row(number)
    text, (first, second) = plain["text"], plain["candidates"]
    if number % 3 == 0:
        text, first = f"{text.replace(first, 'jordan')} Jordan .", "jordan"
    return {**plain, "text": "So , " * (number % 5) + text, "candidates": [first, second]}


def without_dropout(system: str, folder: Path) -> Path:
    """Write a tiny checkpoint whose training draws nothing, for no two processes draw alike."""
    folder.mkdir()
    if system == "bert":
        write_encoder("bert", folder)
    elif system in NEW:
        new = NEW[system](folder.with_name(f"new-{system}"))
        new.save(new.new_model(), folder)
    else:
        shutil.copytree(GOLDENS / system / "checkpoint", folder, dirs_exist_ok=True)
    remove_dropout(folder)
    return folder


def in_two_processes(commands: Sequence[Sequence[str]]) -> list[int | None]:
    """Run commands one after the other, each in both processes, and return how these ended."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    both = [started(command_lines_of_one_of_two, rank, port, *commands) for rank in range(2)]
    for process in both:
        process.join(240)
    ended = [process.exitcode for process in both]
    for process in both:
        process.kill()
    return ended


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every system trained by one process, and by two that share each batch."""
    folder = tmp_path_factory.mktemp("trained")
    rows = str(write_rows(folder / "own.jsonl", [unequal_row(number) for number in range(ROWS)]))
    data = ("--data", rows, "--validation", rows, "--switching", "--pair-batches")
    length = ("--updates", str(UPDATES), "--batch-size", "8")
    commands = {}
    for system, options in OPTIONS.items():
        begins = "--encoder" if system == "bert" else "--checkpoint"
        checkpoint = str(without_dropout(system, folder / system))
        shared = ("train", system, begins, checkpoint, *data, *length, *options)
        for name in ("one", "two"):
            commands[system, name] = (*shared, "--out", str(folder / f"{system}-{name}"))
    second = ("--seeds", "1", "--first-seed", "2")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(training, "draw_curves", blank_curves)
        for system in OPTIONS:
            assert run((*commands[system, "one"], *second)) == 0
    # the first seed is complete, so that none of the processes may train it
    assert run((*commands["bert", "two"], "--seeds", "1")) == 0
    goes_on = {"bert": ("--seeds", "2")}
    several = [(*commands[name, "two"], *goes_on.get(name, second)) for name in OPTIONS]
    assert in_two_processes(several) == [0, 0]
    return folder


def losses(out: Path) -> list[float]:
    points = map(json.loads, (out / "seed-2" / "curves.jsonl").open())
    return [point["loss"] for point in points if "loss" in point]


@pytest.mark.parametrize("system", OPTIONS)
def test_two_processes_go_on_and_learn_what_one_learns(system: str, trained: Path) -> None:
    left_out = map(json.loads, (trained / f"{system}-two" / "left-out.jsonl").open())
    assert [one["version"] for one in left_out if one["split"] == "train"] == ["switched"] * 5
    summary = json.loads((trained / f"{system}-two" / "summary.json").read_text())
    assert summary["seeds"] == ([1, 2] if system == "bert" else [2])
    expected = losses(trained / f"{system}-one")
    assert len(expected) == UPDATES
    assert losses(trained / f"{system}-two") == pytest.approx(expected, abs=1e-4)

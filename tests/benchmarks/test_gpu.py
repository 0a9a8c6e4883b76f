"""The commands for a GPU run on a CPU with tiny shapes: nobody has to mend them where one is."""

import json
import runpy
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

from tests.conftest import ROOT

if find_spec("transformers") is None or find_spec("accelerate") is None:
    pytest.skip("needs the extras lm and training", allow_module_level=True)

from tests.adapters.lm.engines.vllm_stub import stub

Command = Callable[..., dict[str, Any]]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a benchmark as its command does, and returns what it prints."""

    def printed(name: str, *words: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", [name, *words])
        runpy.run_path(str(ROOT / "benchmarks" / f"{name}.py"), run_name="__main__")
        result: dict[str, Any] = json.loads(capsys.readouterr().out)
        return result

    return printed


def test_scoring(command: Command, own_ruff: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", stub())
    found = command(
        "gpu_scoring",
        *("--dataset", own_ruff, "--split", "seed_13", "--shape", "tiny", "--rows", "8"),
        *("--device", "cpu", "--ways", "tree,plain,vllm", "--peak", "0.1"),
    )
    assert (found["rows"], found["config"], found["dtype"]) == (
        8,
        "distractors_2/seed_13",
        "bfloat16",
    )
    assert found["tree"]["fed_tokens"] < found["plain"]["fed_tokens"] <= found["text_tokens"]
    for way in ("tree", "plain", "vllm"):
        assert found[way]["text_tokens_per_second"] > 0
    speed = found["plain"]
    operations = 2 * found["parameters"] * speed["fed_tokens"] / speed["seconds"]
    assert speed["share_of_peak"] == pytest.approx(operations / 0.1e12, rel=0.1, abs=1e-4)
    assert found["vllm"]["share_of_peak"] is None
    compared = found["compared_with_float32"]
    assert compared["rows"] == 8
    assert 0 < compared["largest_difference"] < 1
    assert compared["decisions_changed"] <= compared["rows"]


def test_training(command: Command) -> None:
    found = command(
        "gpu_training",
        *("--shape", "tiny", "--updates", "3", "--batch-size", "2", "--precisions", "no,bf16"),
    )
    assert found["updates"] == 3
    full, mixed = found["precisions"]["no"], found["precisions"]["bf16"]
    assert full["first_loss"] == pytest.approx(mixed["first_loss"], rel=2e-2)
    assert full["first_loss"] != mixed["first_loss"]  # bfloat16 was at work
    assert full["most_memory"] is None

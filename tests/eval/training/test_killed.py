"""A training of a coreference system that is killed ends with the weights of one that is not."""

import json
import signal
from pathlib import Path

import pytest

pytest.importorskip("pronominal.adapters.c2f.e2e.system", exc_type=ImportError)
pytest.importorskip("pronominal.adapters.c2f.bert.system", exc_type=ImportError)
pytest.importorskip("pronominal.adapters.caw.system", exc_type=ImportError)
pytest.importorskip("fastcoref")
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from pronominal.adapters.training import state
from tests.adapters.c2f.bert.test_training import write_encoder
from tests.conftest import ROOT
from tests.eval.training.coreference_rows import run, write_rows, write_vectors
from tests.processes import command_line_until_loss, started

pytestmark = pytest.mark.usefixtures("blank_pictures")

UPDATES_OF_AN_EPOCH = 14
LAST_LOSS = 20
"""In the second epoch, after a validation, and two updates after the last saved state."""

LENGTH = ("--updates", 24, "--save-every", 3, "--validate-every", 12, "--batch-size", 2)


@pytest.fixture(params=["caw", "e2e", "fcoref", "lingmess", "spanbert"])
def command(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[object, ...]:
    """A training of 27 rows, but for where it goes."""
    if request.param == "e2e":
        vectors = write_vectors(tmp_path / "vectors.txt")
        beginning: tuple[object, ...] = ("--context-embeddings", vectors, "--size", "small")
    elif request.param == "lingmess":
        beginning = ("--checkpoint", ROOT / "tests/goldens/lingmess/checkpoint")
    else:
        size = ("--size", "small") if request.param == "spanbert" else ("--ffnn-size", 16)
        beginning = (
            "--encoder",
            write_encoder(ROOT / "tests/goldens/c2f", tmp_path / "encoder"),
            *size,
        )
    rows = write_rows(tmp_path / "own.jsonl", 30)
    return ("train", request.param, "--data", rows, *beginning, *LENGTH, "--out")


def test_a_killed_training_ends_with_the_same_weights(
    command: tuple[object, ...], tmp_path: Path
) -> None:
    assert run((*command, tmp_path / "whole")) == 0
    whole, killed = (tmp_path / name / "seed-1" for name in ("whole", "killed"))
    arguments = map(str, (*command, tmp_path / "killed"))
    process = started(command_line_until_loss, LAST_LOSS, *arguments)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    place = state.Position(**state.load(killed / "state.pt")["place"])
    assert (place.update, place.epoch, place.batch) == (18, 1, 18 - UPDATES_OF_AN_EPOCH)
    assert not (killed / "model.safetensors").exists()
    # what is there when the process dies while it saves
    (killed / ".best.pt.abcdefgh.unfinished").mkdir()
    (killed / ".best.pt.abcdefgh.unfinished" / "best.pt").write_bytes(b"half")
    assert run((*command, tmp_path / "killed")) == 0
    for name in ("model.safetensors", "curves.jsonl"):
        assert (whole / name).read_bytes() == (killed / name).read_bytes(), name
    assert {path.name for path in killed.iterdir()} == {path.name for path in whole.iterdir()}
    updates = [json.loads(line)["update"] for line in (whole / "curves.jsonl").open()]
    assert max(updates) == 24

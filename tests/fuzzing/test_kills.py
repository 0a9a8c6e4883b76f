"""A killed command ends with the same bytes; ``python -m tests.fuzzing.kills`` asks all of them."""

from pathlib import Path

import pytest

from tests.fuzzing.kills import LOOPBACK_HUB, Killed, commands, kill, training

KILLS = 2


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Killed]:
    return commands(tmp_path_factory.mktemp("read"))


@pytest.mark.parametrize("name", ["construct", "evaluate", "report"])
def test_the_same_command_ends_with_the_same_bytes(
    killed: dict[str, Killed], tmp_path: Path, name: str
) -> None:
    assert kill(killed[name], tmp_path / "call", KILLS) == []


def test_a_training_ends_with_the_same_bytes(tmp_path: Path) -> None:
    for package in ("torch", "transformers", "matplotlib"):
        pytest.importorskip(package)
    (tmp_path / "read").mkdir()
    assert kill(training(tmp_path / "read"), tmp_path / "call", 1) == []


@pytest.mark.skipif(not LOOPBACK_HUB.exists(), reason="the loopback Hub (../shared/tools) is gone")
def test_a_publication_ends_with_the_same_bytes(killed: dict[str, Killed], tmp_path: Path) -> None:
    assert kill(killed["publish"], tmp_path / "call", 1) == []

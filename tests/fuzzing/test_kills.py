"""A killed command ends with the same bytes; ``python -m tests.fuzzing.kills`` asks all of them."""

from pathlib import Path

import pytest

from tests.fuzzing.kills import Killed, commands, kill

KILLS = 2


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Killed]:
    return commands(tmp_path_factory.mktemp("read"))


@pytest.mark.parametrize("name", ["construct", "evaluate", "report"])
def test_the_same_command_ends_with_the_same_bytes(
    killed: dict[str, Killed], tmp_path: Path, name: str
) -> None:
    assert kill(killed[name], tmp_path / "call", KILLS) == []

"""What all commands read, written once."""

from pathlib import Path

import pytest

from tests.fuzzing.commands import write_inputs


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sound inputs of every command; not to be changed."""
    folder = tmp_path_factory.mktemp("fuzzing") / "inputs"
    write_inputs(folder)
    return folder

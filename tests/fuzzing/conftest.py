"""What all commands read, written once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzzing.commands import write_inputs
from tests.fuzzing.harness import Inputs


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """Sound inputs of every command; whoever changes them restores them."""
    folder = tmp_path_factory.mktemp("fuzzing") / "inputs"
    write_inputs(folder)
    return Inputs(folder)


@pytest.fixture
def folder(inputs: Inputs) -> Iterator[Path]:
    """The folder of those inputs, which are sound again after the test."""
    yield inputs.folder
    inputs.restore()

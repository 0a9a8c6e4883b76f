"""No file that a stranger sends ends in a traceback, a hang or half a result."""

from pathlib import Path

import pytest

from tests.fuzzing.commands import CASES, NEEDS_WEIGHTS, READS_NOTHING, Case, commands, write_inputs
from tests.fuzzing.harness import fuzzed

CALLS = 1
"""For each case; ``python -m tests.fuzzing --cases 300`` makes as many as are asked for."""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzzing") / "inputs"
    write_inputs(folder)
    return folder


def test_every_command_that_reads_a_file_is_there() -> None:
    assert {case.command for case in CASES} | READS_NOTHING | NEEDS_WEIGHTS == {*commands()}


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case.command}" for i, case in enumerate(CASES)])
def test_a_damaged_file_is_one_line(case: Case, inputs: Path) -> None:
    for call in range(CALLS):
        how, fault = fuzzed(case, inputs, f"{case.arguments}/{call}")
        assert fault is None, f"{how}: {fault}"

"""No file that a stranger sends ends in a traceback, a hang or half a result."""

from pathlib import Path

import pytest

from tests.fuzzing.commands import (
    CASES,
    NOT_CALLED,
    READS_NOTHING,
    WITH_UPSTREAM,
    WITH_WEIGHTS,
    Case,
    commands,
)
from tests.fuzzing.harness import fuzzed

CALLS = 1
"""For each case; ``python -m tests.fuzzing --cases 300`` makes as many as are asked for."""


def test_every_command_that_reads_a_file_is_there() -> None:
    called = {case.command for case in (*CASES, *WITH_UPSTREAM, *WITH_WEIGHTS)}
    assert called | READS_NOTHING | NOT_CALLED == {*commands()}


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case.command}" for i, case in enumerate(CASES)])
def test_a_damaged_file_is_one_line(case: Case, inputs: Path) -> None:
    for call in range(CALLS):
        how, fault = fuzzed(case, inputs, f"{case.arguments}/{call}")
        assert fault is None, f"{how}: {fault}"


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("case", WITH_UPSTREAM, ids=[case.command for case in WITH_UPSTREAM])
def test_a_damaged_file_beside_upstreams_is_one_line(case: Case, inputs: Path) -> None:
    test_a_damaged_file_is_one_line(case, inputs)

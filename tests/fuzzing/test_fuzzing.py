"""No file that a stranger sends ends in a traceback, a hang or half a result."""

import pytest

from tests.fuzzing.commands import CASES, READS_NOTHING, WITH_UPSTREAM, Case, commands
from tests.fuzzing.harness import Inputs, fuzzed
from tests.fuzzing.weights import WITH_WEIGHTS

CALLS = 1
"""For each case; ``python -m tests.fuzzing --cases 300`` makes as many as are asked for."""


def test_every_command_that_reads_a_file_is_there() -> None:
    called = {case.command for case in (*CASES, *WITH_UPSTREAM, *WITH_WEIGHTS)}
    assert called | READS_NOTHING == {*commands()}


@pytest.mark.parametrize("case", CASES, ids=[f"{i}-{case.command}" for i, case in enumerate(CASES)])
def test_a_damaged_file_is_one_line(case: Case, inputs: Inputs) -> None:
    for call in range(CALLS):
        outcome = fuzzed(case, inputs, f"{case.arguments}/{call}")
        assert outcome.fault is None, f"{outcome.damage}: {outcome.fault}"


@pytest.mark.usefixtures("upstream")
@pytest.mark.parametrize("case", WITH_UPSTREAM, ids=[case.command for case in WITH_UPSTREAM])
def test_a_damaged_file_beside_upstreams_is_one_line(case: Case, inputs: Inputs) -> None:
    test_a_damaged_file_is_one_line(case, inputs)

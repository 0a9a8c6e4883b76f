"""Signals as exceptions: what must be undone is undone, and the handlers before come back."""

import subprocess
import sys

import pytest

from pronominal.signals import ENDING

PROGRAM = """
import os, signal
from pronominal.signals import signals_as_exits

number = signal.{name}
try:
    with signals_as_exits():
        os.kill(os.getpid(), number)
except SystemExit as stopped:
    assert stopped.code == 128 + number, stopped.code
else:
    raise AssertionError("the block went on")
assert signal.getsignal(number) is signal.SIG_DFL
print("undone")
"""


@pytest.mark.parametrize("name", ENDING)
def test_a_signal_is_an_exit_in_the_block_only(name: str) -> None:
    # in a process of its own: other tests' libraries install handlers
    program = [sys.executable, "-c", PROGRAM.format(name=name)]
    ran = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "undone\n", "")

"""Signals as exceptions: what must be undone is undone, and the handlers before come back."""

import os
import signal

import pytest

from pronominal.signals import ENDING, signals_as_exits


@pytest.mark.parametrize("name", ENDING)
def test_a_signal_is_an_exit_in_the_block_only(name: str) -> None:
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as caught, signals_as_exits():
        os.kill(os.getpid(), number)
    assert caught.value.code == 128 + number
    assert signal.getsignal(number) is before

"""Whoever holds a folder keeps others out, in any process, until it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pronominal.locks import HeldError, held

HOLDER = """
import sys, time
from pathlib import Path
from pronominal.locks import held
with held(Path(sys.argv[1])) as certain:
    print(certain, flush=True)
    time.sleep(60)
"""


def test_a_held_folder_is_refused_and_then_empty(tmp_path: Path) -> None:
    with held(tmp_path) as certain:
        assert certain
        with pytest.raises(HeldError), held(tmp_path):
            raise AssertionError
    assert list(tmp_path.iterdir()) == []
    with held(tmp_path) as certain:
        assert certain


def test_the_lock_of_a_killed_process_ends_with_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "True\n"
        with pytest.raises(HeldError), held(tmp_path):
            raise AssertionError
        os.kill(holder.pid, signal.SIGKILL)
    with held(tmp_path) as certain:
        assert certain
    assert list(tmp_path.iterdir()) == []


def test_where_nothing_can_be_locked_the_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with held(tmp_path) as certain:
        assert not certain

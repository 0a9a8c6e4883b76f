"""Programs end with whatever they have started; Windows is simulated, it was not run there."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from pronominal.adapters.remote import process_groups
from pronominal.adapters.remote.environments import _python_in
from pronominal.adapters.remote.process_groups import end_group, own_group

STARTS_ANOTHER = """
import subprocess, sys, time
child = "import time; print(1, flush=True); time.sleep(99)"
subprocess.Popen([sys.executable, "-c", child])
time.sleep(99)
"""


def test_a_program_ends_with_its_child() -> None:
    words = [sys.executable, "-c", STARTS_ANOTHER]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, **own_group())
    assert process.stdout.readline() == b"1\n"
    end_group(process)
    # the child held the other end of the pipe
    assert process.stdout.read() == b""


def test_windows_ends_a_tree_with_its_own_tool(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    called: list[object] = []
    process = SimpleNamespace(
        pid=7, kill=lambda: called.append("kill"), wait=lambda: called.append("wait")
    )
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(
        process_groups.subprocess, "run", lambda command, **_: called.append(command)
    )
    end_group(process)
    assert called == [["taskkill", "/F", "/T", "/PID", "7"], "kill", "wait"]
    assert own_group() == {"creationflags": 0x200}
    assert _python_in(tmp_path) == tmp_path / "Scripts" / "python.exe"


def test_windows_without_its_tool_still_ends_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(99)"])
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("PATH", "")
    end_group(process)
    assert process.returncode != 0

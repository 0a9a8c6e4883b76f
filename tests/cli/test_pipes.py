"""What a shell does with our output: `| head` ends us, and that is no fault."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("command", ["systems", "systems --json", "evaluate", "--help"])
def test_a_pipe_that_is_closed_is_no_fault(command: str, sample: Path, tmp_path: Path) -> None:
    words = command.split()
    if command == "evaluate":
        run = ("evaluate", "--dataset", sample, "--config", "double", "--system", "random")
        words = [*map(str, run), "--out", str(tmp_path)]
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "pronominal", *words],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_stream_that_was_never_open_is_no_fault(closed: str) -> None:
    command = f"exec {sys.executable} -m pronominal datasets {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")

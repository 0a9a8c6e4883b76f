"""Programs that end together with whatever they have started, on POSIX systems and on Windows."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

WINDOWS_GROUP = 0x00000200
"""``CREATE_NEW_PROCESS_GROUP`` of Windows; elsewhere `subprocess` lacks the name."""


def own_group() -> dict[str, Any]:
    """Return the keywords of `subprocess.Popen` for a program with a group of its own.

    Ctrl-C is for us, and does not reach it.
    """
    if sys.platform == "win32":
        return {"creationflags": WINDOWS_GROUP}
    return {"start_new_session": True}


def end_group(process: "subprocess.Popen[bytes]") -> None:
    """End a program that was started with `own_group`, and what it has started; wait for it."""
    if sys.platform == "win32":
        # Windows has no signal for a group; its own tool ends a program with its children
        command = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        with suppress(OSError):
            subprocess.run(command, capture_output=True, check=False)
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()

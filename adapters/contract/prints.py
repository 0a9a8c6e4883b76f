"""What a system prints: on stderr, for stdout holds what a command prints and nothing else."""

import sys
from contextlib import AbstractContextManager, redirect_stdout


def prints_on_stderr() -> AbstractContextManager[object]:
    """Let what Python code prints to stdout in the block go to stderr."""
    return redirect_stdout(sys.stderr)

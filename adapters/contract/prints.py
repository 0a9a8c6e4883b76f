"""What own code prints: on stderr, for stdout holds what a command prints and nothing else."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, redirect_stdout
from functools import wraps
from typing import Any


def prints_on_stderr() -> AbstractContextManager[object]:
    """Let what Python code prints to stdout in the block go to stderr."""
    return redirect_stdout(sys.stderr)


def printing_on_stderr(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same, but for what it prints to stdout."""

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        with prints_on_stderr():
            made = function(*given, **named)
            # a generator prints while it is read
            return [*made] if isinstance(made, Iterator) else made

    return call

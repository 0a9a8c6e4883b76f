"""Warnings as lines on stderr, as errors are."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def loud_warnings() -> Iterator[None]:
    """Print every warning of ours as one line on stderr."""
    from pronominal.adapters.contract.systems import AnswerWarning

    with warnings.catch_warnings():
        warnings.simplefilter("always", AnswerWarning)  # texts of two chunks may read alike
        warnings.showwarning = lambda message, *_: print(f"pronominal: {message}", file=sys.stderr)
        yield

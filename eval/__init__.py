"""Decisions and scores: one file for each dataset's scores, found by name and loaded on use."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pronominal.errors import unknown_name

SCORERS: dict[str, str] = {
    "sample": "winopron:score",
    "winogender": "winopron:score",
    "winopron": "winopron:score",
}
"""Dataset name -> where its score function is, as ``module:function`` below ``pronominal.eval``."""

Scorer = Callable[..., dict[str, Any]]
"""Takes a published table and one decision for each of its rows; returns what ``--json`` prints."""


def scorer(name: str) -> Scorer:
    """Return the function that scores a dataset; `InputError` for a name without scores."""
    if name not in SCORERS:
        raise unknown_name("score", name, SCORERS)
    module, _, function = SCORERS[name].partition(":")
    found: Scorer = getattr(import_module(f"pronominal.eval.{module}"), function)
    return found


__all__ = ["SCORERS", "Scorer", "scorer"]

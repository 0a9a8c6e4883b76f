"""Decisions and scores: one file for each dataset's scores, found by name and loaded on use."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

from pronominal.errors import unknown_name

if TYPE_CHECKING:
    from pronominal.eval.tables.table import Table

SCORERS: dict[str, str] = {
    "constructed": "knowref.score",
    "gap": "gap",
    "knowref": "knowref.score",
    "ruff": "ruff.score",
    "sample": "winopron.score",
    "winogender": "winopron.score",
    "winonb": "winonb.score",
    "winopron": "winopron.score",
}
"""Dataset name -> the module of this package that scores it."""


class Scorer(Protocol):
    """A module that scores one dataset."""

    def score(self, rows: Any, decisions: Any, /, **options: Any) -> dict[str, Any]:
        """Take a published table and one decision for each row; return what ``--json`` prints."""
        ...

    def tables(self, scores: Mapping[str, Mapping[str, Any]]) -> "Sequence[Table]":
        """Compare systems, given as name -> score."""
        ...


def scorer(name: str) -> Scorer:
    """Return the module that scores a dataset; `InputError` for a name without scores."""
    if name not in SCORERS:
        raise unknown_name("score", name, SCORERS)
    return cast(Scorer, import_module(f"pronominal.eval.scores.{SCORERS[name]}"))


__all__ = ["SCORERS", "Scorer", "scorer"]

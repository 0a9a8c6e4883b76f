"""Several systems on one dataset, as its tables compare them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pronominal.eval import scorer
from pronominal.eval.tables.table import Table

FAILED = "failed"
"""The key in scores for how many rows failed; those of companion splits are ``failed_switched``
and the like."""


def failed_rows(scores: Mapping[str, Any]) -> dict[str, int]:
    """Return how many rows failed by the rows that they are of: ``""`` or ``"switched"``, say."""
    return {
        name.removeprefix(FAILED).removeprefix("_"): count
        for name, count in scores.items()
        if name == FAILED or name.startswith(f"{FAILED}_")
    }


def comparison_tables(dataset: str, scores: Mapping[str, Mapping[str, Any]]) -> Sequence[Table]:
    """Return a dataset's tables of several systems; each says which systems failed at how much."""
    tables = scorer(dataset).tables(scores)
    notes = tuple(
        f"{label}: {count:,} {kind.replace('_', '-')} rows failed and count as rows without an "
        "answer.".replace("  ", " ")
        for label, one in scores.items()
        for kind, count in failed_rows(one).items()
    )
    return [replace(table, notes=(*table.notes, *notes)) for table in tables]

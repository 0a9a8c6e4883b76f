"""Instances that a system could not answer: ``failures.jsonl`` beside the predictions of a run.

A failed instance has no line in ``predictions.jsonl``, where *none* and *both* are answers. It
stands in this file with its id and the cause, and in scores it counts as a row without an answer.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.eval import scorer
from pronominal.eval.tables.table import Table

FAILURES = "failures.jsonl"

FAILED = "failed"
"""Where scores say how many rows failed; ``failed_switched`` and the like for those beside."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One line of ``failures.jsonl``.

    Attributes:
        id: id of the instance.
        cause: what went wrong, without evaluation text.
    """

    id: str
    cause: str


def read_failures(run: Path) -> dict[str, Failure]:
    """Return the failures of a run by id; none where there is no file of them.

    Args:
        run: the run's folder, or its predictions file. A line that a killed process has cut off
            is none: its chunk is predicted anew.
    """
    folder = run if run.is_dir() else run.parent
    file = folder / FAILURES
    if not (folder / "run.json").exists() or not file.exists():
        return {}
    found = {}
    for line in file.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            failure = Failure(**json.loads(line))
            found[failure.id] = failure
    return found


def write_failures(folder: Path, failures: Iterable[Failure]) -> None:
    """Write the failures of a run, whole or not at all; a run without any has no such file."""
    lines = [failure_line(failure) for failure in failures]
    if not lines:
        (folder / FAILURES).unlink(missing_ok=True)
        return
    with new_file(folder / FAILURES) as beside:
        beside.write_text("".join(lines), encoding="utf-8")


def failure_line(failure: Failure) -> str:
    """Return a failure as one line of JSON, with its line end."""
    return json.dumps(asdict(failure), ensure_ascii=False) + "\n"


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

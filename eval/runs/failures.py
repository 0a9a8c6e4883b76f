"""Instances that a system could not answer: ``failures.jsonl`` beside the predictions of a run.

A failed instance has no line in ``predictions.jsonl``, where *none* and *both* are answers. It
stands in this file with its id and the cause, and in scores it counts as a row without an answer.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from pronominal.atomic import new_file

FAILURES = "failures.jsonl"


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

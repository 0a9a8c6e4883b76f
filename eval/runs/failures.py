"""Instances that a system could not answer: ``failures.jsonl`` beside the predictions of a run.

A failed instance has no line in ``predictions.jsonl``, where *none* and *both* are answers. This
file has its id and the cause, and in scores it counts as a row without an answer.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from pronominal.atomic import new_file
from pronominal.errors import os_errors
from pronominal.eval.runs.record import is_run
from pronominal.json_files import as_record, parse_object

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

    def line(self) -> str:
        """Return the failure as one line of JSON, with its line end."""
        return json.dumps(asdict(self), ensure_ascii=False) + "\n"


def read_failures(run: Path) -> dict[str, Failure]:
    """Return the failures of a run, its folder or predictions file, by id; `InputError` for others.

    A line that a killed process has cut off is none: its chunk is predicted anew.
    """
    folder = run if run.is_dir() else run.parent
    file = folder / FAILURES
    if not is_run(folder) or not file.exists():
        return {}
    failures = {}
    cure = "remove the run's folder and run again"
    with os_errors(file, cure):
        lines = file.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines, start=1):
        if line.endswith(b"\n"):
            row = f"line {number}"
            fields = parse_object(line, file=file, row=row, cure=cure)
            failure = as_record(Failure, fields, file=file, row=row, cure=cure)
            failures[failure.id] = failure
    return failures


def write_failures(folder: Path, failures: Iterable[Failure]) -> None:
    """Write the failures of a run, whole or not at all; a run without any has no such file."""
    lines = [failure.line() for failure in failures]
    if not lines:
        (folder / FAILURES).unlink(missing_ok=True)
        return
    with new_file(folder / FAILURES) as temporary:
        temporary.write_text("".join(lines), encoding="utf-8", newline="\n")

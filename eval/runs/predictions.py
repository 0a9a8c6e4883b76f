"""Predictions, ours or from anywhere: one JSON object with id, choice and abstained a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from pronominal.adapters.contract.refusals import FailedCallError
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.decisions import Abstention, Decision
from pronominal.errors import InputError, os_errors
from pronominal.eval.runs.record import RUN, PredictionsRecord, RunRecord, is_run, read_record
from pronominal.json_files import parse_object

PREDICTIONS = "predictions.jsonl"

TO_JSON = json.JSONEncoder(ensure_ascii=False).encode
"""What ``json.dumps`` would make anew for each line."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One line of ``predictions.jsonl``.

    Attributes:
        id: id of the instance.
        decision: what the system did with it.
        given: what else it gave: ``scores``, ``clusters`` (as offsets), ``generation``.
    """

    id: str
    decision: Decision
    given: Mapping[str, Any] = field(default_factory=dict)

    def line(self) -> str:
        """Return the prediction as one line of JSON, with its line end."""
        fields = {
            "id": self.id,
            "choice": self.decision.choice,
            "abstained": self.decision.abstained,
            **self.given,
        }
        return TO_JSON(fields) + "\n"

    @classmethod
    def parse(cls, line: bytes, file: Path, number: int) -> Prediction:
        """Return the prediction of one line; `InputError` with its number if it is none."""
        at, form = (
            RowLocation(file, f"line {number}"),
            '{"id": ..., "choice": ..., "abstained": ...}',
        )
        fields = parse_object(line, file=file, row=at.row, cure=f"write {form} on every line")
        name, choice, abstained = (fields.pop(key, None) for key in ("id", "choice", "abstained"))
        if not isinstance(name, str):
            raise at.refuse("the id is not a string", f"write {form}")
        if choice is None:
            if abstained not in get_args(Abstention):
                cause = f"{name} has neither a choice nor an abstention"
                cure = 'write "abstained": "none", "both" or "unfinished" where "choice" is null'
                raise at.refuse(cause, cure)
            return cls(name, Decision(None, abstained), fields)
        if abstained is not None:
            raise at.refuse(f"{name} has a choice and an abstention", "set one of the two to null")
        if not isinstance(choice, int) or isinstance(choice, bool):
            raise at.refuse(f"the choice of {name} is not an integer", "write an index or null")
        return cls(name, Decision(choice), fields)


def refuse_other_length(name: str, answers: Any, inputs: Sequence[object]) -> None:
    """Raise `FailedCallError` unless a system gave a list with one answer for each input."""
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        raise FailedCallError(f"{name} gives a {type(answers).__name__}", cure="return a list")
    if len(answers) != len(inputs):
        cause = f"{name} gives {len(answers)} answers to {len(inputs)} inputs"
        raise FailedCallError(cause, cure="return one answer for each input, in order")


def predictions_file(path: Path) -> Path:
    """Return the predictions file of a run's folder; a file is returned as it is."""
    return path / PREDICTIONS if path.is_dir() else path


def as_left(folder: Path, record: RunRecord) -> RunRecord:
    """Return a run's record as its predictions bear it out: one that lacks some is not complete.

    Nor is one that does not say what they were: the command that made it says so when it goes on.

    Raises:
        InputError: the predictions of a complete run are not those that it ended with.
    """
    if not record.complete or record.predictions is None:
        return replace(record, complete=False)
    if record.predictions.rows != record.answers:
        cause = f"it has {record.predictions.rows:,} predictions, and answers to {record.answers:,}"
        raise InputError(cause, cure="take the run's folder as it was", file=folder / RUN)
    found = PredictionsRecord.of(folder / PREDICTIONS)
    if found.rows < record.predictions.rows:
        # rows that failed are asked again, and may end with other bytes
        again = None if record.counts.get("failed") else record.predictions
        return replace(record, complete=False, predictions=again)
    if record.predictions != found:
        cause = "the predictions are not those that the run ended with"
        cure = "remove the run's folder and run it again, or score a copy of the file elsewhere"
        raise InputError(cause, cure=cure, file=folder / PREDICTIONS)
    return record


def refuse_incomplete(file: Path) -> None:
    """Raise `InputError` if a file is that of a complete run and is not what it ended with."""
    folder = file.parent
    if file.name != PREDICTIONS or not is_run(folder):
        return
    record = read_record(folder)
    if record.complete and not as_left(folder, record).complete:
        lost = f"some of the {record.answers:,} predictions that the run ended with are missing"
        unsaid = "the run does not say what predictions it ended with"
        cause = unsaid if record.predictions is None else lost
        raise InputError(cause, cure="give the command again that made the run", file=file)


def read_predictions(path: Path) -> Iterator[tuple[int, Prediction]]:
    """Yield each prediction with the number of its line, from 1.

    Args:
        path: a predictions file, or the folder of a run.

    Raises:
        InputError: the file cannot be read, is not what its run ended with, or a line is no
            prediction; empty lines may only stand at its end.
    """
    file = predictions_file(path)
    refuse_incomplete(file)
    empty = None
    with os_errors(file, "give a predictions file"), file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                empty = empty or number
                continue
            yield number, Prediction.parse(b"" if empty else line, file, empty or number)

"""Predictions: one JSON object a line, ours or from anywhere (CONTRACT, section 4)."""

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from pronominal.adapters.contract.refusals import FailedCallError
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import NONE, Decision
from pronominal.errors import InputError

PREDICTIONS = "predictions.jsonl"


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
        return json.dumps(fields, ensure_ascii=False) + "\n"


def refuse_other_length(name: str, answers: Any, asked: Sequence[object]) -> None:
    """Raise `FailedCallError` unless a system gave a list with one answer for each input."""
    if not isinstance(answers, Sequence) or isinstance(answers, str):
        raise FailedCallError(f"{name} gives a {type(answers).__name__}", cure="return a list")
    if len(answers) != len(asked):
        raise FailedCallError(
            f"{name} gives {len(answers)} answers to {len(asked)} inputs",
            cure="return one answer for each input, in order",
        )


def predictions_file(path: Path) -> Path:
    """Return the predictions file of a run's folder; a file is returned as it is."""
    return path / PREDICTIONS if path.is_dir() else path


def read_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line of a predictions file.

    Args:
        path: the file, or the folder of a run. Empty lines are passed by; `read_predictions`, which
            says what is wrong with a file, refuses those before its end.

    Raises:
        InputError: a line is no JSON object.
    """
    file = predictions_file(path)
    with file.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield number, parse_line(line, file, number)


def read_predictions(path: Path, split: Split, failed: Container[str] = ()) -> list[Decision]:
    """Read one decision for each row of a split.

    Args:
        path: a file in the form of ``predictions.jsonl``, or the folder of a run.
        split: the rows that the predictions answer.
        failed: ids that the system failed at; without a prediction they are rows without answer.

    Returns:
        The decisions, in the order of the split.

    Raises:
        InputError: a line is not valid, or an id is unknown, missing or given twice.
    """
    found = read_given_predictions(path, split, failed)
    ids = split.table["id"].to_pylist()
    missing = [name for name in ids if name not in found and name not in failed]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(ids)} ids are missing, the first one is {missing[0]}",
            cure="predict every row; an answer that is none has abstained: none",
            file=predictions_file(path),
        )
    return [found.get(name, NONE) for name in ids]


def read_given_predictions(
    path: Path, split: Split, failed: Container[str] = ()
) -> dict[str, Decision]:
    """Read decisions by id as `read_predictions` does, but of as many rows as there are."""
    file = predictions_file(path)
    ids = split.table["id"].to_pylist()
    filling = "options" in split.table.column_names
    options = split.table["options" if filling else "candidates"]
    candidates = dict(zip(ids, pc.list_value_length(options).to_pylist(), strict=True))
    found: dict[str, Decision] = {}
    for number, line in enumerate(_lines(file), start=1):
        name, decision = _parse(parse_line(line, file, number), candidates, file, number)
        # a row of RUFF may be in several of its samples
        if name in found and not (filling and found[name] == decision):
            raise InputError(
                f"the id {name} is given twice",
                cure="keep one line for each id",
                file=file,
                row=f"line {number}",
            )
        found[name] = decision
    if not any(name in found or name in failed for name in ids):
        raise InputError("the file is empty", cure="run the system again", file=file)
    return found


def _lines(file: Path) -> Iterator[bytes]:
    """Yield the lines of a file but for empty ones at its end."""
    empty = 0
    try:
        with file.open("rb") as lines:
            for line in lines:
                if not line.strip():
                    empty += 1
                    continue
                yield from [b""] * empty
                empty = 0
                yield line
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", cure="give a predictions file", file=file
        ) from error


def parse_line(line: bytes, file: Path, number: int) -> dict[str, Any]:
    """Return the object of one line of a predictions file; `InputError` if it is none."""
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "the line is not valid JSON",
            cure="write one JSON object a line",
            file=file,
            row=f"line {number}",
        ) from error
    if not isinstance(parsed, dict):
        raise InputError(
            "the line is not a JSON object",
            cure='write {"id": ..., "choice": ..., "abstained": ...}',
            file=file,
            row=f"line {number}",
        )
    return parsed


def _parse(
    fields: Mapping[str, Any], candidates: Mapping[str, int], file: Path, number: int
) -> tuple[str, Decision]:
    def refuse(cause: str, cure: str) -> InputError:
        return InputError(cause, cure=cure, file=file, row=f"line {number}")

    name, choice, abstained = (fields.get(key) for key in ("id", "choice", "abstained"))
    if not isinstance(name, str) or name not in candidates:
        raise refuse(f"the id {name!r} is not in the dataset", "check --dataset and --config")
    if choice is None:
        if abstained not in ("none", "both"):
            raise refuse(
                f"{name} has neither a choice nor an abstention",
                'write "abstained": "none" or "both" where "choice" is null',
            )
        return name, Decision(None, abstained)
    if abstained is not None:
        raise refuse(f"{name} has a choice and an abstention", "set one of the two to null")
    if not isinstance(choice, int) or isinstance(choice, bool):
        raise refuse(f"the choice of {name} is not an integer", "write an index or null")
    if not 0 <= choice < candidates[name]:
        raise refuse(
            f"the choice of {name} is {choice}, outside its candidates",
            f"write an index from 0 to {candidates[name] - 1}, or null",
        )
    return name, Decision(choice)

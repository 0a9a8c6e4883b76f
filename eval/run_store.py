"""Runs on disk: a folder with ``run.json`` and ``predictions.jsonl``, and nothing to leak.

Neither file holds evaluation text: ids, choices, scores and offsets only (CONTRACT, section 4).
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.decisions import Decision
from pronominal.errors import InputError

SCHEMA_VERSION = 1
"""Raised whenever a field of ``run.json`` or of a prediction changes its meaning."""

PREDICTIONS = "predictions.jsonl"

IDENTITY = ("schema_version", "dataset", "system", "checkpoint", "settings")


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


class RunFolder:
    """One run on disk, written in chunks so that a killed run can go on.

    Args:
        path: the run's folder.
        description: what identifies the run (see `IDENTITY`) and what else ``run.json`` records.
    """

    def __init__(self, path: Path, description: Mapping[str, Any]) -> None:
        self.path = path
        self.description: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **description}

    @property
    def predictions(self) -> Path:
        """The file of predictions."""
        return self.path / PREDICTIONS

    def open(self) -> None:
        """Create the folder, or make sure that the one that is there belongs to this run.

        Raises:
            InputError: it holds a run of another dataset, system, checkpoint or other settings.
        """
        earlier = read_description(self.path) if (self.path / "run.json").exists() else None
        if earlier is None:
            if self.predictions.exists():
                raise InputError(
                    "there are predictions but no run.json", cure="remove it", file=self.path
                )
            self.path.mkdir(parents=True, exist_ok=True)
            self.describe()
            return
        for key in IDENTITY:
            if earlier.get(key) != self.description[key]:
                raise InputError(
                    f"the folder holds a run with another {key.replace('_', ' ')}",
                    cure="choose another --out or remove the folder",
                    file=self.path,
                )
        if not earlier["complete"] and earlier["versions"] != self.description["versions"]:
            raise InputError(
                "the run was begun with other versions of its packages",
                cure="remove the folder to begin again",
                file=self.path,
            )
        self.description = earlier

    @property
    def complete(self) -> bool:
        """Whether every instance has its prediction."""
        return bool(self.description.get("complete"))

    def resume(self, ids: Sequence[str], chunk: int) -> int:
        """Cut the predictions back to whole chunks and return how many instances are done.

        A chunk that was cut off is predicted anew as a whole, so that a system sees the same
        batches as in a run that was never killed.
        """
        if not self.predictions.exists():
            return 0
        content = self.predictions.read_bytes()
        lines = content[: content.rfind(b"\n") + 1].splitlines(keepends=True)
        done = len(lines) // chunk * chunk if len(lines) < len(ids) else len(ids)
        for number, (line, expected) in enumerate(zip(lines[:done], ids, strict=False), start=1):
            if _object(line, self.predictions, number).get("id") != expected:
                raise InputError(
                    "the prediction is not that of the instance in its place",
                    cure="remove the run's folder to begin again",
                    file=self.predictions,
                    row=f"line {number}",
                )
        os.truncate(self.predictions, sum(map(len, lines[:done])))
        return done

    def append(self, predictions: Iterable[Prediction]) -> None:
        """Add a chunk of predictions and make sure that it is on disk."""
        with self.predictions.open("a", encoding="utf-8") as file:
            file.writelines(prediction.line() for prediction in predictions)
            file.flush()
            os.fsync(file.fileno())

    def describe(self, **facts: Any) -> None:
        """Write ``run.json`` with further facts."""
        self.description.update(facts)
        write_json(self.path / "run.json", self.description)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON object, whole or not at all."""
    with new_file(path) as beside:
        beside.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_description(folder: Path) -> dict[str, Any]:
    """Return the content of a run's ``run.json``; `InputError` when it is none of ours."""
    path = folder / "run.json"
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError("cannot be read", cure="give a run's folder", file=path) from error
    if not isinstance(description, dict) or description.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"its schema version is not {SCHEMA_VERSION}",
            cure="run it again with this version of pronominal",
            file=path,
        )
    return description


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return every line of a predictions file that we wrote, as it stands there."""
    lines = path.read_bytes().splitlines()
    return [_object(line, path, number) for number, line in enumerate(lines, start=1)]


def read_predictions(path: Path, split: PublishedSplit) -> list[Decision]:
    """Read one decision for each row of a split.

    Args:
        path: a file in the form of ``predictions.jsonl``, or the folder of a run.
        split: the rows that the predictions answer.

    Returns:
        The decisions, in the order of the split.

    Raises:
        InputError: a line is not valid, or an id is unknown, missing or given twice.
    """
    file = path / PREDICTIONS if path.is_dir() else path
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", cure="give a predictions file", file=file
        ) from error
    if not lines:
        raise InputError("the file is empty", cure="run the system again", file=file)
    ids = split.table["id"].to_pylist()
    candidates = dict(zip(ids, map(len, split.table["candidates"].to_pylist()), strict=True))
    found: dict[str, Decision] = {}
    for number, line in enumerate(lines, start=1):
        name, decision = _parse(_object(line, file, number), candidates, file, number)
        if name in found:
            raise InputError(
                f"the id {name} is given twice",
                cure="keep one line for each id",
                file=file,
                row=f"line {number}",
            )
        found[name] = decision
    missing = [name for name in ids if name not in found]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(ids)} ids are missing, the first one is {missing[0]}",
            cure="predict every row; an answer that is none has abstained: none",
            file=file,
        )
    return [found[name] for name in ids]


def _object(line: bytes, file: Path, number: int) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError as error:
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

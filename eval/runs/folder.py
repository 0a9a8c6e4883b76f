"""Runs on disk: a folder with ``run.json`` and ``predictions.jsonl``, and nothing to leak.

No file of a run holds evaluation text: ids, choices, scores and offsets only (CONTRACT, section 4).
"""

import fcntl
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.runs.failures import (
    FAILURES,
    Failure,
    failure_line,
    read_failures,
    write_failures,
)
from pronominal.eval.runs.predictions import (
    PREDICTIONS,
    Prediction,
    parse_line,
    read_given_predictions,
    read_predictions,
)

SCHEMA_VERSION = 1
"""Raised whenever a field of ``run.json`` or of a prediction changes its meaning."""

IDENTITY = ("schema_version", "dataset", "system", "checkpoint", "settings")
"""What two runs must have in common to share a folder."""

RECORDED = ("label", "versions", "times", "counts", "self_check", "complete")
"""What ``run.json`` says besides."""


class RunFolder:
    """One run on disk, written in chunks so that a killed run can go on.

    Args:
        path: the run's folder.
        description: what identifies the run (see `IDENTITY`) and what else ``run.json`` records.

    Attributes:
        failures: the instances that the system failed at, by id, as far as the run has come.
    """

    def __init__(self, path: Path, description: Mapping[str, Any]) -> None:
        self.path = path
        self.description: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **description}
        self.failures: dict[str, Failure] = {}

    @property
    def predictions(self) -> Path:
        """The file of predictions."""
        return self.path / PREDICTIONS

    def open(self) -> None:
        """Create the folder, or make sure that the one that is there belongs to this run.

        Raises:
            InputError: it holds a run of another dataset, system, checkpoint or other settings.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        self._lock()
        try:
            self._begin_or_go_on()
        except BaseException:
            self.close()
            raise

    def _begin_or_go_on(self) -> None:
        earlier = read_description(self.path) if (self.path / "run.json").exists() else None
        if earlier is None:
            if self.predictions.exists():
                raise InputError(
                    "there are predictions but no run.json", cure="remove it", file=self.path
                )
            self.describe()
            return
        for key in IDENTITY:
            if earlier.get(key) != self.description[key]:
                differing = _differing(earlier.get(key), self.description[key])
                raise InputError(
                    f"the folder holds a run with another {key.replace('_', ' ')}{differing}",
                    cure="choose another --out or remove the folder",
                    file=self.path,
                )
        unfinished = not earlier["complete"] or read_failures(self.path)
        if unfinished and earlier["versions"] != self.description["versions"]:
            raise InputError(
                "the run was begun with other versions of its packages",
                cure="remove the folder to begin again",
                file=self.path,
            )
        self.description = earlier
        self.failures = read_failures(self.path)

    def _lock(self) -> None:
        """Keep other processes from writing here until this one ends, however it ends."""
        self._handle = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._handle)
            raise InputError(
                "another process is writing to this run",
                cure="wait until it is done, or choose another --out",
                file=self.path,
            ) from error

    def close(self) -> None:
        """Let other processes write here again."""
        os.close(self._handle)

    @property
    def complete(self) -> bool:
        """Whether every instance was asked for; `failures` says which ones have no answer."""
        return bool(self.description.get("complete"))

    def resume(self, ids: Iterable[str], total: int, chunk: int) -> int:
        """Cut the predictions back to whole chunks and return how many instances are done.

        A chunk that was cut off is predicted anew as a whole, so that a system sees the same
        batches as in a run that was never killed. `failures` are then those among the done.

        Args:
            ids: ids of the instances, in order; only as many as there are answers are taken.
            total: number of instances.
            chunk: instances that are predicted together.
        """
        self.failures = {}
        if not self.predictions.exists():
            return 0
        listed = read_failures(self.path)
        failed: dict[str, Failure] = {}
        done = kept = read = lines = 0
        with self.predictions.open("rb") as file:
            line = file.readline()
            for number, expected in enumerate(ids, start=1):
                if line.endswith(b"\n") and self._is_of(expected, line, lines + 1):
                    read, lines, line = read + len(line), lines + 1, file.readline()
                elif expected in listed:
                    failed[expected] = listed[expected]
                elif line.endswith(b"\n"):
                    self._refuse_other_instance(lines + 1)
                else:
                    break
                if number % chunk == 0 or number == total:
                    done, kept, self.failures = number, read, dict(failed)
        os.truncate(self.predictions, kept)
        write_failures(self.path, self.failures.values())
        return done

    def _is_of(self, expected: str, line: bytes, number: int) -> bool:
        return bool(parse_line(line, self.predictions, number).get("id") == expected)

    def _refuse_other_instance(self, number: int) -> NoReturn:
        raise InputError(
            "the prediction is not that of the instance in its place",
            cure="remove the run's folder to begin again",
            file=self.predictions,
            row=f"line {number}",
        )

    def append(self, predictions: Iterable[Prediction], failures: Iterable[Failure] = ()) -> None:
        """Add a chunk of predictions, and those it has failed at, and make sure it is on disk."""
        failed = {failure.id: failure for failure in failures}
        if failed:
            # first, because a chunk is done when each of its instances is in one of the files
            _append(self.path / FAILURES, map(failure_line, failed.values()))
            self.failures |= failed
        _append(self.predictions, (prediction.line() for prediction in predictions))

    def settle(self, ids: Iterable[str], answered: Mapping[str, Prediction]) -> None:
        """Put late answers to failed instances where they belong.

        Args:
            ids: ids of the instances that are done, in order.
            answered: the answers by id.
        """
        left = {name: one for name, one in self.failures.items() if name not in answered}
        with (
            self.predictions.open("rb") as lines,
            new_file(self.predictions) as beside,
            beside.open("wb") as file,
        ):
            for name in ids:
                if name in answered:
                    file.write(answered[name].line().encode())
                elif name not in left:
                    file.write(lines.readline())
        write_failures(self.path, left.values())
        self.failures = left

    def describe(self, **facts: Any) -> None:
        """Write ``run.json`` with further facts."""
        self.description.update(facts)
        write_json(self.path / "run.json", self.description)


def _append(path: Path, lines: Iterable[str]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())


def _differing(earlier: Any, now: Any) -> str:
    """Name the settings in which two runs differ."""
    if not (isinstance(earlier, dict) and isinstance(now, dict)):
        return ""
    names = sorted(key for key in earlier.keys() | now.keys() if earlier.get(key) != now.get(key))
    return f": {', '.join(names)}"


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON object, whole or not at all."""
    with new_file(path) as beside:
        beside.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_description(folder: Path) -> dict[str, Any]:
    """Return the content of a run's ``run.json``; `InputError` when it is none of ours."""
    path = folder / "run.json"
    if not path.exists():
        raise InputError("there is no run", cure="check the path", file=folder)
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            "it is damaged or cannot be read", cure="remove the folder to run again", file=path
        ) from error
    if not isinstance(description, dict) or not {*IDENTITY, *RECORDED} <= description.keys():
        raise InputError("it is no description of a run", cure="remove the folder", file=path)
    if description["schema_version"] != SCHEMA_VERSION:
        raise InputError(
            f"its schema version is not {SCHEMA_VERSION}",
            cure="run it again with this version of pronominal",
            file=path,
        )
    return description


def read_answers(path: Path, split: Split) -> list[Decision]:
    """Read the decisions of a predictions file or of a run, which must be of these rows.

    Args and errors are those of `read_predictions`; a row that the run failed at has no answer.
    """
    _refuse_other_rows(path if path.is_dir() else path.parent, split)
    return read_predictions(path, split, read_failures(path))


def read_given_answers(path: Path, split: Split) -> list[Decision | None]:
    """Read decisions as `read_answers` does, with None for rows without a prediction."""
    _refuse_other_rows(path if path.is_dir() else path.parent, split)
    found = read_given_predictions(path, split, read_failures(path))
    return [found.get(name) for name in split.table["id"].to_pylist()]


def _refuse_other_rows(folder: Path, split: Split) -> None:
    """Refuse the predictions of a run whose rows were others: configs may share their ids."""
    if not (folder / "run.json").exists():
        return
    dataset = read_description(folder)["dataset"]
    if dataset["digest"] != split.digest:
        run = "/".join(str(dataset[key]) for key in ("name", "config", "split"))
        raise InputError(
            f"the run is of other rows ({run}, {dataset['digest'][:12]}) than "
            f"{split.dataset_name}/{split.config}/{split.name} ({split.digest[:12]})",
            cure="give the rows of the run",
            file=folder,
        )

"""Runs on disk: a folder with ``run.json`` and ``predictions.jsonl``, and nothing to leak.

No file of a run holds evaluation text: ids, choices, scores and offsets only.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pronominal.atomic import held_folder, new_file, no_room_named
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError, os_errors
from pronominal.eval.runs.coreference_systems import COPIES, clusters_of
from pronominal.eval.runs.decision_rules import differing
from pronominal.eval.runs.failures import FAILURES, Failure, read_failures, write_failures
from pronominal.eval.runs.own_checkpoint import written_since
from pronominal.eval.runs.prediction_blocks import plain_counts
from pronominal.eval.runs.predictions import PREDICTIONS, Prediction, as_left, read_predictions
from pronominal.eval.runs.record import (
    CHECKPOINT_FILES,
    RUN,
    PredictionsRecord,
    RunRecord,
    is_run,
    now,
    read_record,
)
from pronominal.instances import ResolutionInstance
from pronominal.json_files import write_json

CHANGED = {"source": "the code", CHECKPOINT_FILES: "the content of the checkpoint"}
"""Settings that change while what is asked for stays the same -> what they are of."""


class RunFolder:
    """One run on disk, written in chunks so that a killed run can go on.

    Args:
        path: the run's folder.
        record: what ``run.json`` says of a new run; that of an earlier run of the same kind
            replaces it when the folder is opened.
        checkpoints: where a system of the user's own has its files: a refusal names new ones.

    Attributes:
        failures: the instances that the system failed at, by id, as far as the run has come.
    """

    def __init__(self, path: Path, record: RunRecord, checkpoints: Sequence[Path] = ()) -> None:
        self.path = path
        self.record = record
        self.checkpoints = checkpoints
        self.failures: dict[str, Failure] = {}

    @property
    def predictions(self) -> Path:
        """The file of predictions."""
        return self.path / PREDICTIONS

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Create the folder or go on with it, and keep other processes from writing into it.

        Raises:
            InputError: it holds a run of another dataset, system, checkpoint or other settings, one
                that is running, or one whose predictions were changed.
        """
        with held_folder(self.path):
            self._begin_or_go_on()
            yield

    def _begin_or_go_on(self) -> None:
        if not is_run(self.path):
            if self.predictions.exists():
                cause = "there are predictions but no run.json"
                raise InputError(cause, cure="remove it", file=self.path)
            self.describe()
            return
        said = read_record(self.path)
        earlier = as_left(self.path, said)
        differences = earlier.differences(self.record)
        for setting, what in CHANGED.items():
            if differences == {"settings": [setting]}:
                raise self._changed(what, earlier)
        for key, names in differences.items():
            inside = f": {', '.join(names)}" if names else ""
            other = "other" if key.endswith("s") else "another"
            cause = f"the folder holds a run with {other} {key}{inside}"
            cure = "give another label (-s LABEL=SYSTEM) or --out, or remove the folder"
            raise InputError(cause, cure=cure, file=self.path)
        self.failures = read_failures(self.path)
        unfinished = not earlier.complete or self.failures
        if unfinished and earlier.versions != self.record.versions:
            cause = "the run was begun with other versions of its packages"
            raise InputError(cause, cure="remove the folder to begin again", file=self.path)
        self.record = earlier
        if said.complete and earlier.predictions is None:
            self.describe()  # it vouches for nothing until it is finished again

    def _changed(self, what: str, earlier: RunRecord) -> InputError:
        cause = f"{what} of {self.record.label} has changed since this run"
        cure = "give it another label, choose another --out, or remove the folder"
        begun = datetime.fromisoformat(earlier.times.started).timestamp()
        if what == CHANGED[CHECKPOINT_FILES] and (new := written_since(self.checkpoints, begun)):
            cause += f" ({', '.join(new[:3])}{', ...' if len(new) > 3 else ''} written since)"
            cure += "; files that the system writes may lie in a hidden folder (.cache) there"
        return InputError(cause, cure=cure, file=self.path)

    @property
    def complete(self) -> bool:
        """Whether every instance was asked for; `failures` says which ones have no answer."""
        return self.record.complete

    def resume(self, ids: Iterable[str], total: int, chunk: int) -> int:
        """Cut the predictions back to whole chunks and return how many instances are done.

        A chunk that was cut off is predicted anew as a whole, so that a system sees the same
        batches as in a run that was never killed. `failures` are then those among the done. Of
        the `total` instances' ids, in order, only as many are taken as there are answers.
        """
        self.failures = {}
        if not self.predictions.exists():
            return 0
        listed = read_failures(self.path)
        failed: dict[str, Failure] = {}
        done = kept = read = 0
        cure = "remove the run's folder to begin again"
        with os_errors(self.predictions, cure), self.predictions.open("rb") as file:
            line, of_line = file.readline(), 1
            for number, expected in enumerate(ids, start=1):
                whole = line.endswith(b"\n")
                if whole and Prediction.parse(line, self.predictions, of_line).id == expected:
                    read, of_line, line = read + len(line), of_line + 1, file.readline()
                elif expected in listed:
                    failed[expected] = listed[expected]
                elif whole:
                    cause = "the prediction is not that of the instance in its place"
                    at = RowLocation(self.predictions, f"line {of_line}")
                    raise at.refuse(cause, "remove the run's folder to begin again")
                else:
                    break
                if number % chunk == 0 or number == total:
                    done, kept, self.failures = number, read, dict(failed)
        os.truncate(self.predictions, kept)
        write_failures(self.path, self.failures.values())
        return done

    def append(self, predictions: Iterable[Prediction], failures: Iterable[Failure] = ()) -> None:
        """Add a chunk of predictions, and those it has failed at, and make sure it is on disk."""
        failed = {failure.id: failure for failure in failures}
        if failed:
            # first, because a chunk is done when each of its instances is in one of the files
            _append(self.path / FAILURES, (failure.line() for failure in failed.values()))
            self.failures |= failed
        _append(self.predictions, (prediction.line() for prediction in predictions))

    def settle(self, ids: Iterable[str], answered: Mapping[str, Prediction]) -> None:
        """Add late answers, by id, to the predictions, in the order of the rows.

        `ids` are those of the instances that are done, in order.
        """
        left = {name: failure for name, failure in self.failures.items() if name not in answered}
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
        """Write ``run.json`` with other values of some fields of its record."""
        self.record = replace(self.record, **facts)
        write_json(self.path / RUN, self.record.to_json())

    def finish(self, instances: Iterable[Instance], seconds: float) -> None:
        """Write ``run.json`` of a complete run of these rows, in order.

        `seconds` were spent on it since the folder was opened. `InputError` if the run was finished
        before, lost some of its predictions, and has others now.
        """
        written = PredictionsRecord.of(self.predictions)
        if self.record.predictions not in (None, written):
            cause = "what was left is not what the run had written"
            cure = "remove the run's folder and run it again"
            raise InputError(cause, cure=cure, file=self.predictions)
        counts = self._counts(instances)
        seconds = round(self.record.times.seconds + seconds, 3)
        times = replace(self.record.times, finished=now(), seconds=seconds)
        self.describe(times=times, counts=counts, complete=True, predictions=written)

    def _counts(self, instances: Iterable[Instance]) -> dict[str, int]:
        counts = {"rows": len(self.failures), "none": 0, "both": 0, "unfinished": 0}
        if not self.failures and (plain := plain_counts(self.path)) is not None:
            return {name: n for name, n in plain.items() if n or name != "unfinished"}
        writes = False
        answered = (instance for instance in instances if instance.id not in self.failures)
        lines = read_predictions(self.path)
        for (number, prediction), instance in zip(lines, answered, strict=True):
            counts["rows"] += 1
            writes = writes or "answers" in prediction.given
            if prediction.decision.abstained:
                counts[prediction.decision.abstained] += 1
            if "clusters" in prediction.given and isinstance(instance, ResolutionInstance):
                clusters = clusters_of(prediction, self.path, number)
                differ = counts.get("readings_differ", 0) + differing([instance], [clusters])
                counts["readings_differ"] = differ
            for copy in COPIES:
                if prediction.given.get("copy") == copy:
                    counts[copy] = counts.get(copy, 0) + 1
        counts |= {"failed": len(self.failures)} if self.failures else {}
        return {name: n for name, n in counts.items() if n or writes or name != "unfinished"}


def _append(path: Path, lines: Iterable[str]) -> None:
    with no_room_named(path), path.open("a", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)
        file.flush()
        os.fsync(file.fileno())

"""Runs without scores, stopped or never scored: how far they are, and the command that goes on."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue.own_object import default_label, is_place
from pronominal.credentials import WITHHELD
from pronominal.errors import InputError
from pronominal.eval.runs.failures import read_failures
from pronominal.eval.runs.predictions import PREDICTIONS, as_left
from pronominal.eval.runs.record import (
    CHECKPOINT_FILES,
    RUN,
    PredictionsRecord,
    RunRecord,
    read_record,
)
from pronominal.eval.runs.runner import ADDRESSES
from pronominal.eval.runs.shards import Shard
from pronominal.eval.runs.units import SCORE
from pronominal.eval.scores import TASKS, task_of
from pronominal.eval.task import Companion, Task

FLAGS = ("include_text", "i_accept_contamination", "switch_at_test")
"""Settings that the command line has as options without a value."""

DERIVED = ("reading", "chunk", "shard", "source", CHECKPOINT_FILES)
"""Settings that are not the system's own."""


@dataclass(frozen=True, slots=True)
class UnscoredRun:
    """A run that was stopped, that lost some of its predictions, or that nobody scored.

    Attributes:
        folder: where it is.
        record: what it says of itself.
        done: how many rows have an answer, or failed.
        rows: how many it is to answer.
        command: the one that goes on, where the run says enough of how it was begun.
    """

    folder: Path
    record: RunRecord
    done: int
    rows: int
    command: str

    def __str__(self) -> str:
        far = f"is not finished ({self.done:,} of {self.rows:,} rows)"
        state = "is finished and has no scores" if self.record.complete else far
        return f"{self.folder}: the run {state}; go on with: {self.command}"


Runs = Mapping[Path, RunRecord]


def unscored_runs(folders: Iterable[Path], tasks: Sequence[Task] = ()) -> Iterator[UnscoredRun]:
    """Yield the runs without scores in some folders, at any depth.

    Runs that are only there for the scores of others are passed by: shards that were merged, and
    answers to companion splits. `tasks` are a user's own, which may have such splits.

    Raises:
        InputError: a run is damaged, or its predictions were changed.
    """
    files = {file.resolve(): file for folder in folders for file in sorted(folder.rglob(RUN))}
    places = [file.parent for file in files.values()]
    runs = {folder: as_left(folder, read_record(folder)) for folder in places}
    for folder, record in runs.items():
        if not record.complete:
            done = PredictionsRecord.of(folder / PREDICTIONS).rows + len(read_failures(folder))
            yield UnscoredRun(folder, record, done, _rows(record, folder), _onward(record, folder))
        elif not (folder / SCORE).exists() and not serves_another(record, runs, tasks):
            rows = _rows(record, folder)
            yield UnscoredRun(folder, record, rows, rows, _scoring(record, folder, runs, tasks))


def _onward(record: RunRecord, folder: Path) -> str:
    """Return the command that goes on with a run that is not finished."""
    imported = {"format", "file"} <= record.settings.keys()
    unknown = record.system.name not in SYSTEMS and not is_place(record.system.name)
    if imported or unknown or _misses_something(record):
        return "the command that began it"
    own = {key: value for key, value in record.settings.items() if key not in DERIVED}
    flags = [f"--{key.replace('_', '-')}" for key in FLAGS if own.pop(key, False)]
    words = ["pronominal", "run" if own or flags or "shard" in record.settings else "evaluate"]
    words += [*_rows_asked(record), "--system", _asked(record), "--out", str(folder)]
    words += ["--reading", str(record.settings.get("reading", "offsets"))]
    words += ["--shard", str(record.settings["shard"])] if "shard" in record.settings else []
    return shlex.join([*words, *flags, *(f"--set={key}={json.dumps(own[key])}" for key in own)])


def _scoring(record: RunRecord, folder: Path, runs: Runs, tasks: Sequence[Task]) -> str:
    """Return the command that scores a finished run, or puts the parts of one together."""
    if "shard" in record.settings:
        parts = [part for part, other in runs.items() if _is_of(other, record) and _shard(other)]
        return shlex.join(["pronominal", "merge", *map(str, sorted(parts))])
    words = ["pronominal", "score", record.dataset.name, *_rows_asked(record)]
    words += ["--predictions", str(folder), "--keep"]
    for companion in companions_of(record, tasks):
        for place, other in runs.items():
            if other.complete and answers_companion(other, companion, record):
                words += [f"--{companion.name.replace('_', '-')}", str(place)]
    own = [] if record.dataset.name in TASKS else ["--task", "MODULE:ATTRIBUTE"]
    return shlex.join([*words, *own])


def serves_another(record: RunRecord, runs: Runs, tasks: Sequence[Task]) -> bool:
    """Whether a finished run is a part of another one, or answers a companion split of its."""
    for other in runs.values():
        if _shard(record) and _is_of(other, record) and other.complete and not _shard(other):
            return True
        if any(
            answers_companion(record, companion, other) for companion in companions_of(other, tasks)
        ):
            return True
    return False


def _shard(record: RunRecord) -> bool:
    return "shard" in record.settings


def _is_of(one: RunRecord, other: RunRecord) -> bool:
    """Whether two runs are the same one, or parts of it."""
    return (one.label, one.dataset) == (other.label, other.dataset)


def companions_of(record: RunRecord, tasks: Sequence[Task]) -> Iterator[Companion]:
    """Yield the companion splits of the rows that a run answers."""
    name = record.dataset.name
    of_it = [task_of(name)] if name in TASKS else []
    for companion in chain.from_iterable(task.companions for task in (*of_it, *tasks)):
        if companion.fits(record.dataset.config):
            yield companion


def answers_companion(record: RunRecord, companion: Companion, other: RunRecord) -> bool:
    """Whether a run is over a companion split of the rows that one of its system answers."""
    rows, beside = record.dataset, other.dataset
    place = (beside.name, companion.config, companion.split or beside.split)
    return (rows.name, rows.config, rows.split) == place and record.same_system(other)


def _rows_asked(record: RunRecord) -> list[str]:
    place = record.dataset_place or f"FOLDER_OF_{record.dataset.name}"
    words = ["--dataset", place, "--config", record.dataset.config]
    return [*words, "--split", record.dataset.split]


def _asked(record: RunRecord) -> str:
    """Return the system as the command line has it."""
    name, label = record.system.name, record.label
    checkpoint = f"={record.checkpoint_name}" if record.checkpoint_name else ""
    return f"{name}{checkpoint}" if label == default_label(name) else f"{label}={name}{checkpoint}"


def _rows(record: RunRecord, folder: Path) -> int:
    shard, chunk = record.settings.get("shard"), record.settings.get("chunk")
    if shard is None or not isinstance(chunk, int) or chunk < 1:
        return record.dataset.rows
    try:
        return len(Shard.parse(str(shard)).rows(record.dataset.rows, chunk))
    except InputError as error:
        cause = "the field settings.shard is no shard, such as 2/4"
        raise InputError(
            cause, cure="remove the folder and run again", file=folder / RUN
        ) from error


def _misses_something(record: RunRecord) -> bool:
    """Say whether a run does not record all that its command has: credentials and addresses."""
    entry = SYSTEMS.get(record.system.name)
    if entry is not None and entry.given in ADDRESSES:
        return True
    return WITHHELD in f"{json.dumps(dict(record.settings))} {record.checkpoint_name}"

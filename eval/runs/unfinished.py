"""Runs that are not finished: how far they are, and the command that goes on."""

import json
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue.own_object import is_place
from pronominal.credentials import WITHHELD
from pronominal.errors import InputError
from pronominal.eval.runs.failures import read_failures
from pronominal.eval.runs.predictions import PREDICTIONS, as_left
from pronominal.eval.runs.record import RUN, PredictionsRecord, RunRecord, read_record
from pronominal.eval.runs.runner import ADDRESSES
from pronominal.eval.runs.shards import Shard

FLAGS = ("include_text", "i_accept_contamination")
"""Settings that the command line has as options without a value."""

DERIVED = ("reading", "chunk", "shard", "source")
"""Settings that are not the system's own."""


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """A run that was stopped, or that lost some of its predictions.

    Attributes:
        folder: where it is.
        record: what it says of itself.
        done: how many rows have an answer, or failed.
        rows: how many it is to answer.
    """

    folder: Path
    record: RunRecord
    done: int
    rows: int

    def __str__(self) -> str:
        far = f"{self.done:,} of {self.rows:,} rows"
        return f"{self.folder}: the run is not finished ({far}); go on with: {self.command}"

    @property
    def command(self) -> str:
        """The command that goes on, where the run says enough of how it was begun."""
        record, name = self.record, self.record.system.name
        imported = {"format", "file"} <= record.settings.keys()
        unknown = name not in SYSTEMS and not is_place(name)
        if imported or unknown or _misses_something(record):
            return "the command that began it"
        own = {key: value for key, value in record.settings.items() if key not in DERIVED}
        flags = [f"--{key.replace('_', '-')}" for key in FLAGS if own.pop(key, False)]
        words = ["pronominal", "run" if own or flags or "shard" in record.settings else "evaluate"]
        words += ["--dataset", record.dataset_place or f"FOLDER_OF_{record.dataset.name}"]
        words += ["--config", record.dataset.config, "--split", record.dataset.split]
        words += ["--system", _asked(record), "--out", str(self.folder)]
        words += ["--reading", str(record.settings.get("reading", "offsets"))]
        words += ["--shard", str(record.settings["shard"])] if "shard" in record.settings else []
        return shlex.join([*words, *flags, *(f"--set={key}={json.dumps(own[key])}" for key in own)])


def _asked(record: RunRecord) -> str:
    """Return the system as the command line has it."""
    name, label = record.system.name, record.label
    checkpoint = f"={record.checkpoint_name}" if record.checkpoint_name else ""
    called_so = label in (name, name.partition(":")[2])
    return f"{name}{checkpoint}" if called_so else f"{label}={name}{checkpoint}"


def unfinished_runs(folders: Iterable[Path]) -> Iterator[UnfinishedRun]:
    """Yield the unfinished runs in some folders, at any depth.

    Raises:
        InputError: a run is damaged, or its predictions were changed.
    """
    files = {file.resolve(): file for folder in folders for file in sorted(folder.rglob(RUN))}
    for file in files.values():
        folder = file.parent
        record = read_record(folder)
        if not as_left(folder, record).complete:
            done = PredictionsRecord.of(folder / PREDICTIONS).rows + len(read_failures(folder))
            yield UnfinishedRun(folder, record, done, _rows(record, folder))


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
    if entry is not None and (entry.server is not None or entry.given in ADDRESSES):
        return True
    return WITHHELD in f"{json.dumps(dict(record.settings))} {record.checkpoint_name}"

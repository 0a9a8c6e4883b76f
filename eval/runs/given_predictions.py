"""Predictions as a user of Python gives them: a file, a run's folder, or a list of dicts."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pronominal.errors import InputError
from pronominal.eval.runs.predictions import PREDICTIONS
from pronominal.eval.runs.record import read_record, run_of
from pronominal.eval.statistics.scores import plain

Predictions = Path | str | Sequence[Mapping[str, Any]]
"""A predictions file, the folder of a run, or a list of dicts, one for each row."""


@contextmanager
def as_file(predictions: Predictions, name: str) -> Iterator[Path]:
    """Open a list of predictions as a file; errors then name the list."""
    if isinstance(predictions, str | Path):
        yield Path(predictions)
        return
    with TemporaryDirectory() as folder:
        file = Path(folder) / PREDICTIONS
        file.write_text("".join(_lines(predictions, name)), encoding="utf-8", newline="\n")
        try:
            yield file
        except InputError as error:
            if error.file != file:
                raise
            where = f"the list of {name}"
            raise InputError(error.cause, cure=error.cure, file=where, row=error.row) from error


def _lines(predictions: Sequence[Mapping[str, Any]], name: str) -> Iterator[str]:
    form = "a file, a run's folder, or a list of dicts"
    if not isinstance(predictions, Sequence):
        raise InputError(
            f"{name} are of the type {type(predictions).__name__}", cure=f"give {form}"
        )
    for number, line in enumerate(predictions, start=1):
        try:
            yield json.dumps(plain({"abstained": None, **line})) + "\n"
        except TypeError as error:
            cure = 'write {"id": ..., "choice": ..., "abstained": ...}'
            where = {"file": f"the list of {name}", "row": f"line {number}"}
            raise InputError("it is no prediction", cure=cure, **where) from error


def source_of(predictions: Predictions) -> tuple[str, str, Path | None]:
    """Return the label, the system and the run of predictions; a file is called by its name."""
    if not isinstance(predictions, str | Path):
        return PREDICTIONS.partition(".")[0], PREDICTIONS.partition(".")[0], None
    file = Path(predictions)
    if not file.is_dir() and file.name != PREDICTIONS:
        return file.stem, file.stem, None
    if (run := run_of(file)) is not None:
        record = read_record(run)
        return record.label, record.system.name, run
    name = (file if file.is_dir() else file.parent).resolve().name
    return name, name, None

"""Runs that are finished: what answers again is their folder, and no system is loaded for it."""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from pronominal.adapters.catalogue.systems import SYSTEMS
from pronominal.atomic import held_folder, new_folder
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.runs.answers import clustered_rows
from pronominal.eval.runs.coreference_systems import prediction_of
from pronominal.eval.runs.decision_rules import decision_rule
from pronominal.eval.runs.predictions import PREDICTIONS, as_left
from pronominal.eval.runs.record import (
    RUN,
    DatasetRecord,
    RunRecord,
    is_run,
    read_record,
    run_name,
    run_path,
    said_by_both,
)
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.runs.units import SCORE, UNITS
from pronominal.locks import LOCK

KNOWN_WHEN_LOADED = ("chunk", "reading")
"""Settings of a run that do not come from what was asked of its system."""


def finished_run(split: Split, asked: SystemSettings, out: Path, reading: str) -> RunFolder | None:
    """Return the run that has all the answers of a system; None where it has to be asked.

    Weights are not opened: those of a folder are what the run had if none of its files has changed
    since, and those of the Hub if they have the same name. A run whose clusters were read by
    another decision rule is read anew, in its place.

    Raises:
        InputError: there is a run, and it is damaged; or there is no such decision rule.
    """
    path = run_path(out, run_name(split, asked.label))
    if not is_run(path):
        return None
    record = as_left(path, read_record(path))
    settings = {k: v for k, v in record.settings.items() if k not in KNOWN_WHEN_LOADED}
    settings, now = said_by_both(settings, asked.recorded())
    same = (
        record.dataset == DatasetRecord.of(split)
        and record.system.name == asked.name
        and settings == now
        and _has_same_weights(record, asked)
    )
    if not same or not record.complete or record.counts.get("failed"):
        return None
    if record.settings.get("reading") == reading:
        return RunFolder(path, record)
    return _read_anew(path, record, split, reading)


def _has_same_weights(record: RunRecord, asked: SystemSettings) -> bool:
    entry = SYSTEMS.get(asked.name)
    usual = None if entry is None else asked.settings.get(entry.given, entry.weights)
    name = asked.checkpoint or usual
    if record.checkpoint is None:
        return True  # loading the system would tell nothing, either
    if name != record.checkpoint_name:
        return False
    begun = datetime.fromisoformat(record.times.started).timestamp()
    try:
        return all(file.stat().st_mtime < begun for file in Path(str(name)).rglob("*"))
    except OSError:  # such as a link to nothing: whether it matters, the system knows
        return False


def _read_anew(path: Path, record: RunRecord, split: Split, reading: str) -> RunFolder | None:
    """Put the run in its place that another decision rule makes of the same clusters."""
    rule = decision_rule(reading)
    settings: Mapping[str, Any] = {**record.settings, "reading": reading}
    if record.system.kind == "choosing":  # no rule changes what it chose
        folder = RunFolder(path, record)
        with held_folder(path):
            folder.describe(settings=settings)
        return folder
    if record.system.kind != "clustering":
        return None
    with held_folder(path), new_folder(path) as beside:
        others = shutil.ignore_patterns(SCORE, UNITS, PREDICTIONS, RUN, LOCK)
        shutil.copytree(path, beside, ignore=others, dirs_exist_ok=True)
        rows = clustered_rows(path, split.stream())
        with (beside / PREDICTIONS).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(prediction_of(*row, rule).line() for row in rows)
        folder = RunFolder(beside, replace(record, settings=settings, predictions=None))
        folder.finish(split.stream(), 0.0)
    return RunFolder(path, folder.record)

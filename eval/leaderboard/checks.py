"""Whether submitted runs are complete, hold no text, and have the scores that they say."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pronominal.dataset_scripts.leakcheck.finder import Survey, leakcheck
from pronominal.dataset_scripts.leakcheck.index import LeakIndex
from pronominal.dataset_scripts.reading.folders import open_dataset
from pronominal.dataset_scripts.reading.loading import dataset_name, load_split
from pronominal.dataset_scripts.reading.split import Split, whole_and_part
from pronominal.errors import InputError
from pronominal.eval.evaluation import answered, score_run
from pronominal.eval.leaderboard.contents import foreign_files, text_faults
from pronominal.eval.report.unscored import answers_companion, companions_of, serves_another
from pronominal.eval.runs.predictions import as_left
from pronominal.eval.runs.record import RUN, RunRecord, read_record
from pronominal.eval.runs.scored import read_scores
from pronominal.eval.runs.units import SCORE, UNITS, read_units
from pronominal.eval.scores import TASK, task_of_run
from pronominal.eval.task import Answered, Task

TOLERANCE = 1e-9
"""How far two computations of a score may be apart, on other processors, in parts of it."""


@dataclass(slots=True)
class Checked:
    """What a check found in a run's folder.

    Attributes:
        folder: of the run; the folder of all where a fault is in no run.
        record: what ``run.json`` says; None where it cannot be read.
        scored: whether the answers were scored again.
        serves: whether they are those to a companion split, which another run's scores use.
        faults: what is wrong, a sentence each; empty where nothing is.
    """

    folder: Path
    record: RunRecord | None = None
    scored: bool = False
    serves: bool = False
    faults: list[str] = field(default_factory=list)


class _Rows:
    """The splits of some datasets, each read once."""

    def __init__(self, datasets: Iterable[str]) -> None:
        self.places = [*datasets]
        self._by_name = {dataset_name(place): place for place in self.places}
        self._read: dict[tuple[str, ...], Split] = {}

    def of(self, record: RunRecord) -> Split | None:
        """Return the rows that a run answers; None where nobody gave their dataset."""
        asked = (record.dataset.name, record.dataset.config, record.dataset.split)
        if asked[0] not in self._by_name:
            return None
        if asked not in self._read:
            self._read[asked] = load_split(self._by_name[asked[0]], *asked[1:])
        return self._read[asked]


def check_runs(
    folder: Path, datasets: Iterable[str] = (), tasks: Sequence[Task] = ()
) -> list[Checked]:
    """Check the runs in a folder, at any depth, and what else is in it.

    A sound run is finished, vouches for its predictions, and its folder holds nothing but a run's
    files, in which no prediction quotes a text. With the dataset its rows have the digest, every
    one is answered once, clusters give these decisions, the scores and units are those of the
    predictions, and no sentence of the dataset stands in any file, archives included.

    Args:
        folder: of a run, or of several; a file is looked into as what it is.
        datasets: built datasets, folders or Hub ids.
        tasks: of a user's own, by which runs were scored.

    Raises:
        InputError: there is no such folder, or a dataset cannot be read.
    """
    if not folder.exists():
        raise InputError("there is no such folder", cure="give that of a run", file=folder)
    rows = _Rows(datasets)
    runs = {file.parent: Checked(file.parent) for file in sorted(folder.rglob(RUN))}
    of_all = Checked(folder, faults=[*foreign_files(folder, runs)])
    if not runs:
        of_all.faults.append(f"there is no {RUN}: submit the folder of a run")
    for one in runs.values():
        one.faults += _faults_of_run(one)
    records = {place: one.record for place, one in runs.items() if one.record is not None}
    for one in runs.values():
        if one.record is not None and not one.faults:
            one.faults += _faults_of_scores(one, records, rows, tasks)
    _refuse_one_name(runs.values())
    of_all.faults += _leaks(folder, rows.places)
    return [*runs.values(), *([of_all] if of_all.faults else [])]


def _faults_of_run(one: Checked) -> Iterator[str]:
    """Yield what is wrong with a run by itself, and set its record."""
    try:
        one.record = read_record(one.folder)
        left = as_left(one.folder, one.record)
        yield from text_faults(one.folder)
    except InputError as error:
        yield str(error)
        return
    if whole_and_part(one.record.dataset.split)[1] is not None:
        yield "it answers some of the rows only: run all of them, without --limit or --until"
    elif "shard" in one.record.settings:
        yield "it is a part of a run: put the parts together with 'pronominal merge'"
    elif not left.complete:
        yield "it is not finished, or its predictions are not all there: go on with the run"


def _faults_of_scores(
    one: Checked,
    records: Mapping[Path, RunRecord],
    rows: _Rows,
    tasks: Sequence[Task],
) -> Iterator[str]:
    """Yield what is wrong with the scores of a run that is sound by itself."""
    record = one.record
    assert record is not None
    if not (one.folder / SCORE).exists():
        one.serves = serves_another(record, records, tasks)
        if not one.serves:
            yield f"it has no {SCORE}: 'pronominal score ... --keep' makes it"
        return
    try:
        split = rows.of(record)
        if split is not None:
            yield from _scored_again(one, split, records, rows, tasks)
            one.scored = True
        else:
            read_scores(one.folder / SCORE)
    except InputError as error:
        yield str(error)


def _scored_again(
    one: Checked,
    split: Split,
    records: Mapping[Path, RunRecord],
    rows: _Rows,
    tasks: Sequence[Task],
) -> Iterator[str]:
    record, kept = one.record, read_scores(one.folder / SCORE)
    assert record is not None
    task = task_of_run(record.dataset.name, kept.get(TASK), tasks)
    if record.dataset.rows != split.num_rows:
        yield f"it says {record.dataset.rows:,} rows, and the split has {split.num_rows:,}"
    companions = _companions(record, records, rows, tasks)
    again = score_run(split, one.folder, companions, task)
    if record.system.kind == "clustering":
        decided = answered(split, one.folder, str(record.settings.get("reading", "offsets")))
        pairs = zip(decided.decisions, again.answered.decisions, strict=True)
        if many := sum(by_rule != given for by_rule, given in pairs):
            share = f"{many:,} of {split.num_rows:,}"
            yield f"{share} decisions are not those that its decision rule makes of its clusters"
    content = {key: value for key, value in kept.content.items() if key != TASK}
    if (where := _difference(content, dict(again.scores.content))) is not None:
        yield f"{SCORE} says otherwise than its predictions: {where}"
    if not _same_units(read_units(one.folder) or {}, again.units):
        yield f"{UNITS} is not what its predictions give: 'pronominal score ... --keep' makes it"


def _companions(
    record: RunRecord,
    records: Mapping[Path, RunRecord],
    rows: _Rows,
    tasks: Sequence[Task],
) -> dict[str, Answered]:
    """Return the answers to companion splits that were submitted with a run."""
    found: dict[str, Answered] = {}
    for companion in companions_of(record, tasks):
        for folder, other in records.items():
            if answers_companion(other, companion, record) and (split := rows.of(other)):
                found[companion.name] = answered(split, folder)
    return found


def _difference(kept: Any, again: Any, where: str = "") -> str | None:
    """Return the first place at which two scores differ, and both values."""
    if isinstance(kept, Mapping) and isinstance(again, Mapping):
        for key in dict.fromkeys((*again, *kept)):
            place = f"{where}.{key}" if where else str(key)
            if key not in kept or key not in again:
                return f"{place} is {'missing' if key not in kept else 'no score of it'}"
            if (found := _difference(kept[key], again[key], place)) is not None:
                return found
        return None
    if isinstance(kept, list | tuple) and isinstance(again, list | tuple):
        if len(kept) != len(again):
            return f"{where} has {len(kept)} values, and {len(again)} again"
        pairs = enumerate(zip(kept, again, strict=True))
        inner = (_difference(a, b, f"{where}[{place}]") for place, (a, b) in pairs)
        return next(filter(None, inner), None)
    return None if _equal(kept, again) else f"{where} is {kept!r}, and {again!r} again"


def _equal(kept: Any, again: Any) -> bool:
    numbers = all(isinstance(one, int | float) for one in (kept, again))
    if numbers and not isinstance(kept, bool) and not isinstance(again, bool):
        return math.isclose(kept, again, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(kept == again)


def _same_units(kept: Mapping[str, Any], again: Mapping[str, Any]) -> bool:
    return kept.keys() == again.keys() and all(
        np.shape(kept[name]) == np.shape(units)
        and bool(np.allclose(kept[name], units, rtol=TOLERANCE, atol=TOLERANCE))
        for name, units in again.items()
    )


def _refuse_one_name(runs: Iterable[Checked]) -> None:
    """Add a fault to a run whose label another one of the same rows and decision rule has."""
    seen: dict[object, Path] = {}
    for one in runs:
        if one.record is not None:
            rows = one.record.dataset
            key = (one.record.label, rows, one.record.settings.get("reading"))
            earlier = seen.setdefault(key, one.folder)
            if earlier != one.folder:
                one.faults.append(f"the run in {earlier} is called {one.record.label}, too")


def _leaks(folder: Path, datasets: Sequence[str]) -> Iterator[str]:
    """Yield the places where a sentence of a dataset stands, and files that cannot be read."""
    if not datasets:
        return
    survey = Survey()
    index = LeakIndex.of(map(open_dataset, datasets))
    for leak in leakcheck([str(folder)], index, history=False, survey=survey):
        yield f"{leak}: delete the file"
    yield from survey.unreadable

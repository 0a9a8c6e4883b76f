"""Runs a system over a split: chunk by chunk, resumable, and recorded."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pronominal.adapters import System, kind_of, load
from pronominal.adapters.catalogue.own_object import is_place, source_digest
from pronominal.adapters.contract.answers import as_numbers
from pronominal.adapters.contract.systems import (
    ChoosingSystem,
    GeneratingSystem,
    MultipleChoiceSystem,
    ScoringSystem,
)
from pronominal.dataset_scripts.reading.split import Instance
from pronominal.decisions import from_probabilities
from pronominal.errors import InputError
from pronominal.eval.runs.attempts import attempt, strictly
from pronominal.eval.runs.clustering_systems import predict_clusters
from pronominal.eval.runs.description import Rows, counts, description, now, run_name
from pronominal.eval.runs.failures import Failure
from pronominal.eval.runs.folder import RunFolder
from pronominal.eval.runs.language_models import (
    predict_generations,
    predict_multiple_choice,
    predict_scores,
)
from pronominal.eval.runs.predictions import Prediction, refuse_other_length
from pronominal.eval.runs.readings import SEQUENTIAL_READINGS, Reading, reading_called
from pronominal.eval.runs.rereading import clustered_rows
from pronominal.eval.runs.shards import WHOLE, Shard
from pronominal.eval.runs.units import remove_scores
from pronominal.instances import FillingInstance, ResolutionInstance

CHUNK = 240
"""Instances that are predicted together and then written, unless a system has its own ``chunk``.

It is the unit of resuming.
"""

WHEREABOUTS = ("url",)
"""Settings that say where a system is and not what it is: a run goes on at another place."""

Progress = Callable[[int], None]
"""Called with the number of instances done so far."""

Tried = Callable[[Sequence[Instance]], tuple[list[Prediction], list[Failure]]]
"""Asks for some instances: the answers, and those that have none."""


@dataclass(frozen=True, slots=True)
class SystemSettings:
    """One system of a comparison, as the user asked for it.

    Attributes:
        label: how tables and folders call it.
        name: its name among `pronominal.adapters.SYSTEMS`, or its place, ``module:attribute``.
        checkpoint: a folder or Hub id; None for the published weights or for no weights.
        settings: keywords of the system's own.
    """

    label: str
    name: str
    checkpoint: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def load(self) -> System:
        """Load the system; `InputError` when that is impossible."""
        return load(self.name, self.checkpoint, **self.settings)


def run(  # noqa: PLR0913 - each one is an option of the command
    split: Rows,
    system: System,
    asked: SystemSettings,
    out: Path,
    *,
    reading: str = "offsets",
    shard: Shard = WHOLE,
    include_text: bool = False,
    strict: bool = False,
    progress: Progress = lambda done: None,
) -> RunFolder:
    """Predict every row of a split, going on where an earlier run of the same kind stopped.

    No more than a chunk of rows is in memory where the split is on disk. A row that the system
    cannot answer is among the `RunFolder.failures`; a run that has some asks for them again.

    Args:
        split: the rows.
        system: a loaded system.
        asked: how it was asked for, which names the run's folder.
        out: the folder of runs, or the folder of this run if it holds a ``run.json``.
        reading: how clusters, or what a model writes, become a decision, by its name.
        shard: the part of the rows to predict, in a folder of its own.
        include_text: keep what a model writes, which may hold evaluation sentences.
        strict: stop at the first row that the system cannot answer.
        progress: told how many rows are done.

    Raises:
        InputError: the folder holds another run, there is no such reading of the system's answers,
            or the system can answer nothing, or, if `strict`, not everything.
    """
    _refuse_reading(reading, system, shard)
    for instance in split.stream(0, 1):
        refuse_other_question(system, instance)
    chunk = getattr(system, "chunk", CHUNK)
    settings = {key: value for key, value in asked.settings.items() if key not in WHEREABOUTS}
    settings |= {"reading": reading, "chunk": chunk}
    settings |= {"shard": str(shard)} if shard != WHOLE else {}
    settings |= {"include_text": True} if include_text else {}
    settings |= {"source": source_digest(asked.name)} if is_place(asked.name) else {}
    folder = RunFolder(
        _run_path(split, asked, out, shard),
        description(split, system, asked.name, asked.label, settings),
    )
    folder.open()
    try:
        if folder.failures or not folder.complete:
            rows = shard.rows(split.num_rows, chunk)
            _predict_all(folder, split, rows, system, strict, progress)
    finally:
        folder.close()
    return folder


def _predict_all(
    folder: RunFolder, split: Rows, rows: range, system: System, strict: bool, progress: Progress
) -> None:
    started, settings = time.monotonic(), folder.description["settings"]
    chunk, text = settings["chunk"], settings.get("include_text", False)
    asked = (instance.id for instance in split.stream(rows.start, rows.stop))
    done = folder.resume(asked, len(rows), chunk)
    folder.append([])  # a shard without rows has a file of predictions, too
    reading = settings["reading"]
    if reading in SEQUENTIAL_READINGS and kind_of(system) == "clustering":
        earlier = clustered_rows(folder.predictions, split.stream(rows.start, rows.start + done))
        reading = reading_called(reading, earlier)
        strict = True  # each row is read after the one before it
    asking = partial(predict, system, reading=reading, include_text=text)
    tried = partial(strictly if strict else attempt, asking)
    if folder.failures:
        _ask_again(folder, split, range(rows.start, rows.start + done), tried)
    instances = split.stream(rows.start + done, rows.stop)
    if done < len(rows):
        remove_scores(folder.path)
    while done < len(rows):
        progress(done)
        part = [*islice(instances, chunk)]
        folder.append(*tried(part))
        done += len(part)
    progress(done)
    seconds = folder.description["times"]["seconds"] + time.monotonic() - started
    times = folder.description["times"] | {"finished": now(), "seconds": round(seconds, 3)}
    every = split.stream(rows.start, rows.stop)
    answered = counts(folder.predictions, (i for i in every if i.id not in folder.failures))
    if folder.failures:
        answered |= {"rows": len(rows), "failed": len(folder.failures)}
    folder.describe(times=times, counts=answered, complete=True)


def _ask_again(folder: RunFolder, split: Rows, done: range, tried: Tried) -> None:
    """Ask for what failed before, one by one."""
    folder.describe(complete=False)
    answered: dict[str, Prediction] = {}
    for instance in split.stream(done.start, done.stop):
        if instance.id in folder.failures:
            answered |= {one.id: one for one in tried([instance])[0]}
    if answered:
        ids = (instance.id for instance in split.stream(done.start, done.stop))
        remove_scores(folder.path)
        folder.settle(ids, answered)


def predict(
    system: System,
    instances: Sequence[Instance],
    reading: str | Reading = "offsets",
    *,
    include_text: bool = False,
) -> list[Prediction]:
    """Ask a system for its answer to each instance, in order.

    Args:
        system: the system.
        instances: what it is asked.
        reading: the name of a reading, or one of clusters that has seen the rows before these.
        include_text: see `run`.

    Raises:
        InputError: it gives too few or too many answers, offsets outside a text, or no numbers;
            or it cannot be asked this kind of question.
    """
    for instance in instances[:1]:
        refuse_other_question(system, instance)
    filling = all(isinstance(instance, FillingInstance) for instance in instances)
    # a model that can do both scores slots and is prompted for antecedents
    if filling and isinstance(system, ScoringSystem):
        return predict_scores(system, instances)  # type: ignore[arg-type]
    if isinstance(system, GeneratingSystem):
        assert isinstance(reading, str)
        return predict_generations(system, instances, reading, include_text=include_text)
    if isinstance(system, MultipleChoiceSystem):
        return predict_multiple_choice(system, instances, include_text=include_text)
    if kind_of(system) == "clustering":
        read = reading_called(reading) if isinstance(reading, str) else reading
        return predict_clusters(system, instances, read)  # type: ignore[arg-type]
    return _predict_choices(system, instances)  # type: ignore[arg-type]


def _refuse_reading(reading: str, system: System, shard: Shard) -> None:
    """Raise `InputError` for a reading that there is not, or not for these answers."""
    reading_called(reading)
    if reading not in SEQUENTIAL_READINGS:
        return
    if isinstance(system, GeneratingSystem):
        raise InputError(
            f"{reading} reads clusters, and {system.name} writes", cure="read offsets or upstream"
        )
    if shard != WHOLE:
        raise InputError(
            f"{reading} reads each row after the one before it, which a shard may lack",
            cure="merge shards of another reading and 'pronominal reread' them",
        )


def refuse_other_question(system: System, instance: Instance) -> None:
    """Raise `InputError` for a system that cannot be asked what an instance asks."""
    if kind_of(system) != "language model":
        if isinstance(instance, FillingInstance):
            raise InputError(
                f"{system.name} looks for antecedents, and the dataset asks for a pronoun",
                cure="run a language model, or run a resolution dataset such as winopron",
            )
    elif not (
        isinstance(instance, FillingInstance)
        or isinstance(system, GeneratingSystem | MultipleChoiceSystem)
    ):
        raise InputError(
            f"{system.name} fills slots, and the dataset asks for antecedents",
            cure="run it on ruff, or prompt the model",
        )


def _predict_choices(
    system: ChoosingSystem, instances: Sequence[ResolutionInstance]
) -> list[Prediction]:
    answers = system.choose(instances)
    refuse_other_length(system.name, answers, instances)
    predictions = []
    for instance, answer in zip(instances, answers, strict=True):
        try:
            scores = as_numbers(answer)
        except (TypeError, ValueError):
            scores = []
        if len(scores) != len(instance.candidates) or not all(0 <= s <= 1 for s in scores):
            raise InputError(
                f"{system.name} does not give one probability for each candidate",
                cure="return numbers from 0 to 1",
                row=f"id {instance.id}",
            )
        decision = from_probabilities(scores)
        predictions.append(Prediction(instance.id, decision, {"scores": scores}))
    return predictions


def _run_path(split: Rows, asked: SystemSettings, out: Path, shard: Shard) -> Path:
    if (out / "run.json").exists():
        return out
    part = shard.suffix if shard != WHOLE else ""
    return out / f"{run_name(split, asked.label)}{part}"

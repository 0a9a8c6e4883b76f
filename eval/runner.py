"""Runs a system over a split: chunk by chunk, resumable, and recorded."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pronominal.adapters import System, kind_of, load
from pronominal.adapters.interface import (
    ChoosingSystem,
    ClusteringSystem,
    GeneratingSystem,
    ScoringSystem,
    TextWarning,
)
from pronominal.adapters.refusals import RefusedTextError
from pronominal.dataset_scripts.published import Instance
from pronominal.decisions import from_probabilities
from pronominal.errors import InputError, unknown_name
from pronominal.eval.language_models import predict_generations, predict_scores
from pronominal.eval.predictions import Prediction, refuse_other_length
from pronominal.eval.readings import READINGS
from pronominal.eval.run_description import Rows, counts, description, now
from pronominal.eval.run_store import RunFolder
from pronominal.eval.shards import WHOLE, Shard
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.spans import Cluster, Span

CHUNK = 240
"""Instances that are predicted together and then written, unless a system has its own ``chunk``.

It is the unit of resuming.
"""

WHEREABOUTS = ("url",)
"""Settings that say where a system is and not what it is: a run goes on at another place."""

Progress = Callable[[int], None]
"""Called with the number of instances done so far."""


@dataclass(frozen=True, slots=True)
class SystemSettings:
    """One system of a comparison, as the user asked for it.

    Attributes:
        label: how tables and folders call it.
        name: its name among `pronominal.adapters.SYSTEMS`.
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
    progress: Progress = lambda done: None,
) -> RunFolder:
    """Predict every row of a split, going on where an earlier run of the same kind stopped.

    No more than a chunk of rows is in memory where the split is on disk.

    Args:
        split: the rows.
        system: a loaded system.
        asked: how it was asked for, which names the run's folder.
        out: the folder of runs, or the folder of this run if it holds a ``run.json``.
        reading: how clusters, or what a model writes, become a decision: a key of `READINGS`.
        shard: the part of the rows to predict, in a folder of its own.
        include_text: keep what a model writes, which may hold evaluation sentences.
        progress: told how many rows are done.

    Raises:
        InputError: the folder holds another run, or the system breaks its contract.
    """
    if reading not in READINGS:
        raise unknown_name("reading", reading, READINGS)
    for instance in split.stream(0, 1):
        refuse_other_question(system, instance)
    chunk = getattr(system, "chunk", CHUNK)
    settings = {key: value for key, value in asked.settings.items() if key not in WHEREABOUTS}
    settings |= {"reading": reading, "chunk": chunk}
    settings |= {"shard": str(shard)} if shard != WHOLE else {}
    settings |= {"include_text": True} if include_text else {}
    folder = RunFolder(
        _run_path(split, asked, out, shard),
        description(split, system, asked.name, asked.label, settings),
    )
    folder.open()
    try:
        if not folder.complete:
            rows = shard.rows(split.num_rows, chunk)
            _predict_all(folder, split, rows, system, progress)
    finally:
        folder.close()
    return folder


def _predict_all(
    folder: RunFolder, split: Rows, rows: range, system: System, progress: Progress
) -> None:
    started, settings = time.monotonic(), folder.description["settings"]
    chunk, text = settings["chunk"], settings.get("include_text", False)
    asked = (instance.id for instance in split.stream(rows.start, rows.stop))
    done = folder.resume(asked, len(rows), chunk)
    folder.append([])  # a shard without rows has a file of predictions, too
    instances = split.stream(rows.start + done, rows.stop)
    while done < len(rows):
        progress(done)
        part = [*islice(instances, chunk)]
        folder.append(predict(system, part, settings["reading"], include_text=text))
        done += len(part)
    progress(done)
    seconds = folder.description["times"]["seconds"] + time.monotonic() - started
    times = folder.description["times"] | {"finished": now(), "seconds": round(seconds, 3)}
    answered = counts(folder.predictions, split.stream(rows.start, rows.stop))
    folder.describe(times=times, counts=answered, complete=True)


def predict(
    system: System,
    instances: Sequence[Instance],
    reading: str = "offsets",
    *,
    include_text: bool = False,
) -> list[Prediction]:
    """Ask a system for its answer to each instance, in order.

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
        return predict_generations(system, instances, reading, include_text=include_text)
    if kind_of(system) == "clustering":
        return _predict_clusters(system, instances, reading)  # type: ignore[arg-type]
    return _predict_choices(system, instances)  # type: ignore[arg-type]


def refuse_other_question(system: System, instance: Instance) -> None:
    """Raise `InputError` for a system that cannot be asked what an instance asks."""
    if kind_of(system) != "language model":
        if isinstance(instance, FillingInstance):
            raise InputError(
                f"{system.name} looks for antecedents, and the dataset asks for a pronoun",
                cure="run a language model, or run a resolution dataset such as winopron",
            )
    elif not isinstance(instance, FillingInstance) and not isinstance(system, GeneratingSystem):
        raise InputError(
            f"{system.name} fills slots, and the dataset asks for antecedents",
            cure="run it on ruff, or prompt the model",
        )


def _predict_clusters(
    system: ClusteringSystem, instances: Sequence[ResolutionInstance], reading: str
) -> list[Prediction]:
    try:
        with _warnings_by_id(instances):
            answers = system.cluster([instance.text for instance in instances])
    except RefusedTextError as error:
        raise error.at(f"id {instances[error.index].id}") from error
    refuse_other_length(system.name, answers, instances)
    predictions = []
    for instance, answer in zip(instances, answers, strict=True):
        clusters = _spans(system.name, instance, answer)
        for span in (span for cluster in clusters for span in cluster):
            if not 0 <= span.start < span.end <= len(instance.text):
                raise InputError(
                    f"{system.name} gives the span {span.start}:{span.end} outside the text",
                    cure="return half-open character offsets",
                    row=f"id {instance.id}",
                )
        decision = READINGS[reading](instance, clusters)
        given = {"clusters": [[list(span) for span in cluster] for cluster in clusters]}
        predictions.append(Prediction(instance.id, decision, given))
    return predictions


@contextmanager
def _warnings_by_id(instances: Sequence[Instance]) -> Iterator[None]:
    """Let warnings about texts name the ids of their instances."""
    show = warnings.showwarning

    def show_id(message: Warning | str, *where: Any, **others: Any) -> None:
        if isinstance(message, TextWarning):
            message = message.at(f"id {instances[message.index].id}")
        show(message, *where, **others)

    # catch_warnings would forget which warnings of other packages were shown already
    warnings.showwarning = show_id
    try:
        yield
    finally:
        warnings.showwarning = show


def _predict_choices(
    system: ChoosingSystem, instances: Sequence[ResolutionInstance]
) -> list[Prediction]:
    answers = system.choose(instances)
    refuse_other_length(system.name, answers, instances)
    predictions = []
    for instance, answer in zip(instances, answers, strict=True):
        try:
            scores = [float(score) for score in answer]
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


def _spans(name: str, instance: ResolutionInstance, answer: Any) -> list[Cluster]:
    """Take any pairs of integers for spans, such as tuples and numpy's."""
    try:
        return [[Span(int(start), int(end)) for start, end in cluster] for cluster in answer]
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name} does not give clusters of (start, end)",
            cure="return a list of clusters, each a list of pairs of integers",
            row=f"id {instance.id}",
        ) from error


def _run_path(split: Rows, asked: SystemSettings, out: Path, shard: Shard) -> Path:
    if (out / "run.json").exists():
        return out
    part = shard.suffix if shard != WHOLE else ""
    return out / f"{split.dataset}.{split.config}.{split.name}.{asked.label}{part}"

"""Runs a system over a split: chunk by chunk, resumable, and recorded."""

import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pronominal.adapters import System, kind_of, load
from pronominal.adapters.interface import ChoosingSystem, ClusteringSystem
from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.decisions import from_probabilities
from pronominal.errors import InputError, unknown_name
from pronominal.eval.predictions import Prediction, read_lines
from pronominal.eval.readings import READINGS, differing
from pronominal.eval.run_store import RunFolder
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Span

CHUNK = 240
"""Instances that are predicted together and then written: the unit of resuming."""

RECORDED = ("fastcoref", "numpy", "pronominal", "pyarrow", "spacy", "torch", "transformers")

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


def run(
    split: PublishedSplit,
    system: System,
    asked: SystemSettings,
    out: Path,
    *,
    reading: str = "offsets",
    progress: Progress = lambda done: None,
) -> RunFolder:
    """Predict every row of a split, going on where an earlier run of the same kind stopped.

    Args:
        split: the rows.
        system: a loaded system.
        asked: how it was asked for, which names the run's folder.
        out: the folder of runs, or the folder of this run if it holds a ``run.json``.
        reading: how clusters become a decision, a key of `READINGS`.
        progress: told how many rows are done.

    Raises:
        InputError: the folder holds another run, or the system breaks its contract.
    """
    if reading not in READINGS:
        raise unknown_name("reading", reading, READINGS)
    folder = RunFolder(_run_path(split, asked, out), _description(split, system, asked, reading))
    folder.open()
    try:
        if not folder.complete:
            _predict_all(folder, system, split.instances(), reading, progress)
    finally:
        folder.close()
    return folder


def _predict_all(
    folder: RunFolder,
    system: System,
    instances: Sequence[ResolutionInstance],
    reading: str,
    progress: Progress,
) -> None:
    started = time.monotonic()
    done = folder.resume([instance.id for instance in instances], CHUNK)
    for start in range(done, len(instances), CHUNK):
        progress(start)
        folder.append(predict(system, instances[start : start + CHUNK], reading))
    progress(len(instances))
    seconds = folder.description["times"]["seconds"] + time.monotonic() - started
    times = folder.description["times"] | {"finished": _now(), "seconds": round(seconds, 3)}
    folder.describe(times=times, counts=_counts(folder, instances), complete=True)


def predict(
    system: System, instances: Sequence[ResolutionInstance], reading: str = "offsets"
) -> list[Prediction]:
    """Ask a system for its answer to each instance, in order.

    Raises:
        InputError: it gives too few or too many answers, or offsets outside a text.
    """
    if kind_of(system) == "clustering":
        return _predict_clusters(system, instances, reading)  # type: ignore[arg-type]
    return _predict_choices(system, instances)  # type: ignore[arg-type]


def _predict_clusters(
    system: ClusteringSystem, instances: Sequence[ResolutionInstance], reading: str
) -> list[Prediction]:
    answers = system.cluster([instance.text for instance in instances])
    _refuse_other_length(system.name, answers, instances)
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


def _predict_choices(
    system: ChoosingSystem, instances: Sequence[ResolutionInstance]
) -> list[Prediction]:
    answers = system.choose(instances)
    _refuse_other_length(system.name, answers, instances)
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


def _refuse_other_length(name: str, answers: Any, asked: Sequence[object]) -> None:
    if not isinstance(answers, Sequence):
        raise InputError(f"{name} gives a {type(answers).__name__}", cure="return a list")
    if len(answers) != len(asked):
        raise InputError(
            f"{name} gives {len(answers)} answers to {len(asked)} inputs",
            cure="return one answer for each input, in order",
        )


def _run_path(split: PublishedSplit, asked: SystemSettings, out: Path) -> Path:
    if (out / "run.json").exists():
        return out
    return out / f"{split.dataset}.{split.config}.{split.name}.{asked.label}"


def _description(
    split: PublishedSplit, system: System, asked: SystemSettings, reading: str
) -> dict[str, Any]:
    checkpoint = getattr(system, "checkpoint", None)
    return {
        "dataset": {
            "name": split.dataset,
            "config": split.config,
            "split": split.name,
            "digest": split.digest,
            "rows": split.table.num_rows,
        },
        "system": {"name": asked.name, "kind": kind_of(system)},
        "checkpoint": checkpoint and checkpoint.digest,
        "checkpoint_name": checkpoint and checkpoint.name,
        "settings": {**asked.settings, "reading": reading, "chunk": CHUNK},
        "label": asked.label,
        "versions": _versions(),
        "seeds": {"seed": system.seed} if hasattr(system, "seed") else {},
        "self_check": list(getattr(system, "self_check", ())),
        "times": {"started": _now(), "finished": None, "seconds": 0.0},
        "counts": {},
        "complete": False,
    }


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for package in RECORDED:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _counts(folder: RunFolder, instances: Sequence[ResolutionInstance]) -> dict[str, int]:
    """Count the answers; for clusters also the rows in which the two readings differ."""
    lines = read_lines(folder.predictions)
    counts = {
        "rows": len(lines),
        "none": sum(line["abstained"] == "none" for line in lines),
        "both": sum(line["abstained"] == "both" for line in lines),
    }
    if all("clusters" in line for line in lines):
        clusters = [[[Span(*span) for span in c] for c in line["clusters"]] for line in lines]
        counts["readings_differ"] = differing(instances, clusters)
    return counts


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

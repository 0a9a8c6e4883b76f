"""Runs a system over a split: chunk by chunk, resumable, and recorded."""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from pronominal.adapters import SYSTEMS, System, kind_of, load
from pronominal.adapters.catalogue.own_object import declared_settings, is_place, source_digest
from pronominal.adapters.catalogue.systems import Rows
from pronominal.adapters.contract.prints import prints_on_stderr
from pronominal.adapters.contract.systems import (
    ContinuingSystem,
    GeneratingSystem,
    MultipleChoiceSystem,
    ScoringSystem,
)
from pronominal.credentials import withheld_digest, without_credentials
from pronominal.dataset_scripts.reading.split import Instance, Split
from pronominal.errors import InputError
from pronominal.eval.runs.answers import clustered_rows
from pronominal.eval.runs.attempts import Ask, Attempt, attempt, strictly
from pronominal.eval.runs.both_versions import ask_both_versions
from pronominal.eval.runs.coreference_systems import predict_choices, predict_clusters
from pronominal.eval.runs.decision_rules import SEQUENTIAL_RULES, DecisionRule, decision_rule
from pronominal.eval.runs.language_models import (
    predict_generations,
    predict_multiple_choice,
    predict_scores,
)
from pronominal.eval.runs.own_checkpoint import checkpoint_digest, checkpoint_place
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.runs.record import (
    CHECKPOINT_FILES,
    SystemRecord,
    new_record,
    run_name,
    run_path,
)
from pronominal.eval.runs.redacted_warnings import redacted_warnings
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.runs.shards import WHOLE, Shard
from pronominal.eval.runs.two_questions import predict_two_questions
from pronominal.eval.runs.units import remove_scores
from pronominal.instances import FillingInstance

CHUNK = 240
"""Instances that are predicted together and then written, unless a system has its own ``chunk``.

It is the unit of resuming.
"""

ADDRESSES = ("url",)
"""Settings that say where a system is and not what it is: a run may go on at another address."""

SWITCH_AT_TEST = "switch_at_test"
"""The setting by which rows are answered with their candidates switched, too."""

ProgressCallback = Callable[[int], None]
"""Called with the number of instances done so far."""


@dataclass(frozen=True, slots=True)
class SystemSettings:
    """One system of a comparison, as the user asked for it.

    Attributes:
        label: its name in tables and folders.
        name: its name among `pronominal.adapters.SYSTEMS`, or its place, ``module:attribute``.
        checkpoint: a folder or Hub id; None for the published weights or for no weights.
        settings: keywords of the system's own.
        switch_at_test: whether each row is also answered with its candidates switched
            (`ask_both_versions`).
        source: digest of the code of an object that was given; that of its place without.
        files: place -> digest of what a system of the user's own reads there, once `declaring`
            has read it.
    """

    label: str
    name: str
    checkpoint: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    switch_at_test: bool = False
    source: str | None = None
    files: Mapping[Path, str] = field(default_factory=dict)

    def load(self) -> System:
        """Load the system; `InputError` when that is impossible."""
        return load(self.name, self.checkpoint, **self.settings)

    def declaring(self, system: System | None) -> "SystemSettings":
        """Return these settings with what an object of the user's own says it has.

        That are its settings and the path of its checkpoint. The files there and at the checkpoint
        that was asked for are read, each place once.
        """
        if not is_place(self.name):
            return self
        given = (self.checkpoint, getattr(system, "checkpoint", None))
        places = dict.fromkeys(filter(None, map(checkpoint_place, given)))
        read = {place: checkpoint_digest(place) for place in places if place not in self.files}
        settings = {**self.settings, **(declared_settings(system) or {})}
        return replace(self, settings=settings, files={**self.files, **read})

    def recorded(self) -> dict[str, Any]:
        """Return the settings that say what the system is.

        One of the user's own has its source, its checkpoint as it was given, and a digest of the
        files there (None without): it need not say which weights it has. Addresses and credentials
        are left out; a digest tells other credentials from these.
        """
        own = {key: value for key, value in self.settings.items() if key not in ADDRESSES}
        settings: dict[str, Any] = without_credentials(own)
        digest = withheld_digest(own)
        settings |= {"withheld": digest} if digest is not None else {}
        settings |= {SWITCH_AT_TEST: True} if self.switch_at_test else {}
        if not is_place(self.name):
            return settings
        settings |= {} if self.checkpoint is None else {"checkpoint": self.checkpoint}
        files = "".join(self.declaring(None).files.values()).encode()
        settings[CHECKPOINT_FILES] = hashlib.sha256(files).hexdigest() if files else None
        return settings | {"source": self.source or source_digest(self.name)}


def run(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    system: System,
    asked: SystemSettings,
    out: Path,
    *,
    reading: str = "offsets",
    shard: Shard = WHOLE,
    include_text: bool = False,
    strict: bool = False,
    progress: ProgressCallback = lambda done: None,
) -> RunFolder:
    """Predict every row of a split, going on where an earlier run of the same kind stopped.

    No more than a chunk of rows is in memory where the split is on disk. A row that the system
    cannot answer is among the `RunFolder.failures`; a run that has some asks for them again.

    Args:
        split: the rows.
        system: a loaded system.
        asked: how it was asked for, which names the run's folder.
        out: the folder of runs, or the folder of this run if it holds a ``run.json``.
        reading: the name of the rule by which clusters, or what a model writes, become a decision.
        shard: the part of the rows to predict, in a folder of its own.
        include_text: keep what a model writes, which may hold evaluation sentences.
        strict: stop at the first row that the system cannot answer.
        progress: told how many rows are done.

    Raises:
        InputError: the folder holds another run, there is no such reading of the system's answers,
            or the system can answer nothing, or, if `strict`, not everything.
    """
    refuse_unfit(system, split, reading, shard)
    if asked.switch_at_test and reading in SEQUENTIAL_RULES:
        cause = f"{reading} reads each row after the one before it, which has two versions then"
        raise InputError(cause, cure="read offsets, or leave out --switch-at-test")
    chunk = getattr(system, "chunk", CHUNK)
    asked = asked.declaring(system)
    settings = asked.recorded() | {"reading": reading, "chunk": chunk}
    settings |= {"shard": str(shard)} if shard != WHOLE else {}
    settings |= {"include_text": True} if include_text else {}
    part = shard.suffix if shard != WHOLE else ""
    described = SystemRecord(asked.name, kind_of(system), getattr(system, "question", None))
    folder = RunFolder(
        run_path(out, f"{run_name(split, asked.label)}{part}"),
        new_record(split, described, asked.label, settings, system),
        checkpoints=[*asked.files],
    )
    with folder.opened():
        if folder.failures or not folder.complete:
            rows = shard.rows(split.num_rows, chunk)
            with redacted_warnings(), prints_on_stderr():
                _predict_all(folder, split, rows, system, strict, progress)
    return folder


def refuse_unfit(system: System, split: Split, reading: str, shard: Shard = WHOLE) -> None:
    """Raise `InputError` for a system that cannot answer a split's rows by a decision rule."""
    _refuse_reading(reading, system, shard)
    for instance in split.stream(0, 1):
        refuse_other_question(system, instance)


def _predict_all(
    folder: RunFolder,
    split: Split,
    rows: range,
    system: System,
    strict: bool,
    progress: ProgressCallback,
) -> None:
    started, settings = time.monotonic(), folder.record.settings
    reading, chunk = settings["reading"], settings["chunk"]
    ids = (instance.id for instance in split.stream(rows.start, rows.stop))
    done = folder.resume(ids, len(rows), chunk)
    folder.append([])  # a shard without rows has a file of predictions, too
    if reading in SEQUENTIAL_RULES and kind_of(system) == "clustering":
        earlier = clustered_rows(folder.path, split.stream(rows.start, rows.start + done))
        reading = decision_rule(reading, earlier)
        strict = True  # each row is decided after the one before it
    include_text = settings.get("include_text", False)
    ask: Ask = partial(predict, system, reading=reading, include_text=include_text)
    if settings.get(SWITCH_AT_TEST):
        ask = partial(ask_both_versions, ask)
    tried = partial(strictly if strict else attempt, ask)
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
    folder.finish(split.stream(rows.start, rows.stop), time.monotonic() - started)


def _ask_again(folder: RunFolder, split: Split, done: range, tried: Attempt) -> None:
    """Ask for what failed before, one by one."""
    folder.describe(complete=False, predictions=None)
    answered: dict[str, Prediction] = {}
    for instance in split.stream(done.start, done.stop):
        if instance.id in folder.failures:
            answered |= {prediction.id: prediction for prediction in tried([instance])[0]}
    if answered:
        ids = (instance.id for instance in split.stream(done.start, done.stop))
        remove_scores(folder.path)
        folder.settle(ids, answered)


def predict(
    system: System,
    instances: Sequence[Instance],
    reading: str | DecisionRule = "offsets",
    *,
    include_text: bool = False,
) -> list[Prediction]:
    """Ask a system for its answer to each instance, in order.

    `reading` is the name of a decision rule, or one of clusters that has seen the rows before;
    see `run` for `include_text`.

    Raises:
        InputError: it gives too few or too many answers, offsets outside a text, or no numbers;
            or it cannot be asked this kind of question.
    """
    for instance in instances[:1]:
        refuse_other_question(system, instance)
    filling = all(isinstance(instance, FillingInstance) for instance in instances)
    if filling and isinstance(system, ContinuingSystem):
        return predict_two_questions(system, instances, include_text=include_text)  # type: ignore[arg-type]
    # a model that can do both scores slots and is prompted for antecedents
    if filling and isinstance(system, ScoringSystem):
        return predict_scores(system, instances)  # type: ignore[arg-type]
    if isinstance(system, GeneratingSystem):
        assert isinstance(reading, str)
        return predict_generations(system, instances, reading, include_text=include_text)
    if isinstance(system, MultipleChoiceSystem):
        return predict_multiple_choice(system, instances, include_text=include_text)
    if kind_of(system) == "clustering":
        rule = decision_rule(reading) if isinstance(reading, str) else reading
        return predict_clusters(system, instances, rule)  # type: ignore[arg-type]
    return predict_choices(system, instances)  # type: ignore[arg-type]


def _refuse_reading(reading: str, system: System, shard: Shard) -> None:
    """Raise `InputError` for a decision rule that does not exist, or not for these answers."""
    decision_rule(reading)
    if reading not in SEQUENTIAL_RULES:
        return
    if isinstance(system, GeneratingSystem):
        cause = f"{reading} reads clusters, and {system.name} writes"
        raise InputError(cause, cure="read offsets or upstream")
    if shard != WHOLE:
        cause = f"{reading} reads each row after the one before it, which a shard may lack"
        raise InputError(cause, cure="merge shards of another reading and 'pronominal reread' them")


def refuse_other_question(system: System, instance: Instance) -> None:
    """Raise `InputError` for a system that cannot be asked what an instance asks."""
    if kind_of(system) != "language model":
        _refuse_other_rows(system.name, "candidates", instance)
    elif not isinstance(system, GeneratingSystem | MultipleChoiceSystem):
        _refuse_other_rows(system.name, "slots", instance)


def refuse_undeclared(asked: SystemSettings, split: Split) -> None:
    """Raise `InputError` for a system that says that it does not answer such rows as a split's.

    It is not loaded: neither its weights nor its server have to be there.
    """
    for instance in split.stream(0, 1) if asked.name in SYSTEMS else ():
        _refuse_other_rows(asked.name, SYSTEMS[asked.name].rows, instance)


def _refuse_other_rows(name: str, answered: Rows, instance: Instance) -> None:
    filling = isinstance(instance, FillingInstance)
    if answered == "candidates" and filling:
        cause = f"{name} looks for antecedents, and the dataset asks for a pronoun"
        cure = "run a language model, such as lm, or a dataset that asks for antecedents"
        raise InputError(cause, cure=cure)
    if answered == "slots" and not filling:
        cause = f"{name} fills slots, and the dataset asks for antecedents"
        cure = "run it on a dataset with slots, or prompt the model, as with lm-prompts=MODEL"
        raise InputError(cause, cure=cure)

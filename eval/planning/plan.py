"""A plan: what will be compared, written before there are numbers to choose from.

Comparisons that were planned are few, and corrected for their own number only; all others are
exploratory. The plan's digest goes into a paper or a registry, and `evaluate` refuses a plan that
was changed since, and other rows.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue.own_object import is_place, source_digest
from pronominal.adapters.checkpoints.files import cached_folder, cached_weights
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.runs.asked_systems import refuse_unknown, system_of_settings
from pronominal.eval.runs.record import RunRecord
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.statistics.hypothesis_tests import SIGNIFICANCE
from pronominal.eval.statistics.paired_differences import POWER, minimum_detectable_effect
from pronominal.eval.statistics.sign_flips import RESAMPLES, SEED
from pronominal.eval.tables.table import Table
from pronominal.eval.task import Task
from pronominal.json_files import as_record, read_object, write_json
from pronominal.names import unknown_name

KEPT = "plan-"
"""How the files are called, beside ``predictions.jsonl``, that hold the plans of a run."""

AGAIN = "write it with 'pronominal plan'"
DEVIATIONS = (0.05, 0.1, 0.2, 0.3, 0.5)
"""Of the differences between two systems in a unit: similar ones are at the lower end."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlannedRows:
    """The rows that systems will answer, with their content digest."""

    name: str
    config: str
    split: str
    digest: str
    rows: int


@dataclass(frozen=True, slots=True)
class PlannedTask:
    """What is asked of the rows: the task's name, and a digest of what it measures and reads."""

    name: str
    digest: str

    @classmethod
    def of(cls, task: Task, companions: Mapping[str, Split]) -> "PlannedTask":
        """Take the digest of a task's headline, measures, companion rows and, of your own, code.

        Args:
            task: how answers are scored.
            companions: the rows of its companion splits that are there, by the companions' names.
        """
        own = not task.score.__module__.startswith("pronominal.")
        asked = {
            "headline": task.headline,
            "measures": [[one.key, list(one.path), one.unit] for one in task.measures],
            "companions": {name: split.digest for name, split in companions.items()},
            "source": source_digest(task.score.__module__) if own else None,
        }
        return cls(task.name, _digest(asked))


def _digest(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be compared.

    Attributes:
        dataset: the rows.
        systems: label -> ``system``, and ``checkpoint`` and settings where there are any.
        measures: what is compared, each with the number of its units.
        task: what is asked of the rows; None leaves it open.
        checkpoints: label -> digest of the weights, of the systems of which they were known.
        sources: label -> digest of the code, of the systems of one's own.
        reference: the system that every other one is compared with; None for every two systems.
        margin: how far apart equivalent systems may be, in (0, 1); None if that is not asked.
        reading: name of the decision rule.
        correction: of p-values, over the planned pairs of a measure.
        level: below which a corrected p-value counts as a difference.
        resamples: changes of sign of the permutation test.
        seed: of these.
        version: of pronominal that wrote the plan.
        digest: SHA-256 of all other fields.
    """

    dataset: PlannedRows
    systems: Mapping[str, Mapping[str, Any]]
    measures: Mapping[str, int]
    task: PlannedTask | None = None
    checkpoints: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    reference: str | None = None
    margin: float | None = None
    reading: str = "offsets"
    correction: str = "holm"
    level: float = SIGNIFICANCE
    resamples: int = RESAMPLES
    seed: int = SEED
    version: str = ""
    digest: str = ""

    @property
    def sealed(self) -> "Plan":
        """The same plan with its digest."""
        content = asdict(replace(self, digest=""))
        if not self.sources:  # plans that were written before these were known have none
            del content["sources"]
        return replace(self, digest=_digest(content))

    @property
    def asked(self) -> list[SystemSettings]:
        """The systems as `evaluate_systems` takes them."""
        return [
            system_of_settings({"label": label, **settings})
            for label, settings in self.systems.items()
        ]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of systems that are compared by each measure."""
        if self.reference is None:
            return [*combinations(self.systems, 2)]
        return [(label, self.reference) for label in self.systems if label != self.reference]

    def has(self, a: str, b: str) -> bool:
        """Whether two systems are compared."""
        return (a, b) in self.pairs or (b, a) in self.pairs

    def of_systems(self, found: Mapping[str, T]) -> dict[str, T]:
        """Return what there is of the planned systems, by their labels."""
        return {label: found[label] for label in self.systems}

    def beside(self, others: Sequence[SystemSettings]) -> list[SystemSettings]:
        """Return the planned systems and others beside them; their comparisons are exploratory."""
        planned = {one.label: one for one in self.asked}
        for other in others:
            if planned.setdefault(other.label, other) != other:
                cause = f"the system {other.label} is not the one that is planned under this label"
                raise InputError(cause, cure="leave it out, or give it another label")
        return [*planned.values()]

    def is_of(self, *rows: str) -> bool:
        """Whether it plans the rows with this dataset, config, split and digest."""
        own = self.dataset
        return rows == (own.name, own.config, own.split, own.digest)

    def refuse_other_runs(self, runs: Mapping[str, RunRecord]) -> None:
        """Raise `InputError` for a planned system without a run, or with another one."""
        for label, settings in self.systems.items():
            if label not in runs:
                cause = f"the plan has the system {label}, and no run is called so"
                raise InputError(cause, cure="evaluate it with --plan, and report all its runs")
            found = (runs[label].system.name, runs[label].settings.get("reading"))
            if found != (planned := (settings["system"], self.reading)):
                cause = f"the run {label} is of {found[0]} by the decision rule {found[1]}"
                cause += f", and planned is {planned[0]} by {planned[1]}"
                raise InputError(cause, cure="report the planned run, or leave out the plan")
            self.refuse_other_checkpoint(label, runs[label].checkpoint)
            self.refuse_other_source(label, runs[label].settings.get("source"))

    def refuse_other_checkpoint(self, label: str, digest: str | None) -> None:
        """Raise `InputError` for a system with other weights than planned."""
        planned = self.checkpoints.get(label)
        if planned not in (None, digest):
            cause = f"the weights of {label} are {(digest or 'none')[:12]}"
            cause += f", and planned are {str(planned)[:12]}"
            raise InputError(cause, cure="take the planned checkpoint, or write a new plan")

    def refuse_other_source(self, label: str, digest: str | None) -> None:
        """Raise `InputError` for a system of one's own with other code than planned."""
        planned = self.sources.get(label)
        if planned not in (None, digest):
            cause = f"the code of {label} is {(digest or 'none')[:12]}"
            cause += f", and planned is {str(planned)[:12]}"
            raise InputError(cause, cure="take the planned code, or write a new plan")

    def refuse_other_margin(self, margin: float | None) -> None:
        """Raise `InputError` for another margin of equivalence than planned; None asks for none."""
        if margin not in (None, self.margin):
            planned = "no margin" if self.margin is None else f"the margin {100 * self.margin:g}"
            cause = f"the plan is for {planned}, and this is {100 * margin:g}"
            raise InputError(cause, cure="leave out --margin, or write a new plan")

    def refuse_other_task(self, task: PlannedTask) -> None:
        """Raise `InputError` for another task, or one that asks for something else by now."""
        if self.task is not None and task != self.task:
            other = "one with other measures, code, or rows beside the split"
            cause = f"the plan is for the task {self.task.name}, and this is "
            cause += other if task.name == self.task.name else task.name
            raise InputError(cause, cure="evaluate the planned task, or write a new plan")

    def refuse_other(self, split: Split, reading: str) -> None:
        """Raise `InputError` for other rows than planned, or another decision rule."""
        found = _rows_of(split)
        for name, planned in asdict(self.dataset).items():
            if (there := getattr(found, name)) != planned:
                cause = f"the plan is for the {name} {planned}, and this is {there}"
                raise InputError(cause, cure="evaluate the planned rows, or write a new plan")
        if reading != self.reading:
            cause = f"the plan is for the decision rule {self.reading}, and this is {reading}"
            raise InputError(cause, cure=f"use --reading {self.reading}, or write a new plan")

    def refuse_other_units(self, units: Mapping[str, Mapping[str, Any]]) -> None:
        """Raise `InputError` where units (measure -> system -> units) are not as planned."""
        for measure, planned in self.measures.items():
            sizes = {len(one) for one in units.get(measure, {}).values()}
            if sizes != {planned}:
                there = " or ".join(map(str, sorted(sizes))) or "none"
                cause = f"the plan is for {planned} units of {measure}, and there are {there}"
                raise InputError(cause, cure="write a new plan")

    def keep(self, run: Path) -> None:
        """Write the plan into the folder of one of its runs, where reports find it."""
        write_json(run / f"{KEPT}{self.digest[:16]}.json", asdict(self))

    def write(self, file: Path) -> None:
        """Write the plan with its digest; one that is there is not replaced."""
        if file.exists():
            cause = "there is a plan already, or another file"
            raise InputError(cause, cure="give another place with --out", file=file)
        write_json(file, asdict(self.sealed))

    def to_table(self) -> Table:
        """Say what the plan can show: the smallest differences that would be found."""
        rows = []
        for measure, units in self.measures.items():
            errors = (deviation / units**0.5 for deviation in DEVIATIONS)
            found = (minimum_detectable_effect(one, units, len(self.pairs)) for one in errors)
            cells = (f"{100 * one:.1f}" for one in found) if units > 1 else "–" * len(DEVIATIONS)
            rows.append((measure, f"{units:,}", f"{len(self.pairs):,}", *cells))
        heads = (f"sd {100 * deviation:g}" for deviation in DEVIATIONS)
        notes = (
            f"Points of true difference that {100 * POWER:g}% of such comparisons show, after "
            "Holm's correction over the pairs, by the standard deviation of two systems' "
            "differences over the units, in points.",
        )
        title = "The smallest differences that this plan can show"
        return Table(title, ("Measure", "Units", "Pairs", *heads), tuple(rows), notes)


def make_plan(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    asked: Sequence[SystemSettings],
    units: Mapping[str, int],
    measures: Sequence[str],
    *,
    task: PlannedTask | None = None,
    reference: str | None = None,
    margin: float | None = None,
    reading: str = "offsets",
) -> Plan:
    """Plan comparisons; systems whose checkpoint is a folder are loaded for its digest.

    Args:
        split: the rows.
        asked: the systems, two at least.
        units: what can be compared on these rows, each with the number of its units.
        measures: those of them that will be.
        task: what is asked of the rows.
        reference: label of the system that every other one is compared with.
        margin: as in `Plan`.
        reading: name of the decision rule.
    """
    refuse_unknown(asked)
    labels = [one.label for one in asked]
    if len(labels) < 2:
        raise InputError("a plan compares two systems at least", cure="add --system NAME")
    if reference is not None and reference not in labels:
        raise unknown_name("system", reference, labels)
    for measure in measures:
        if measure not in units:
            raise unknown_name("measure to compare", measure, units)
    systems = {
        one.label: {
            "system": one.name,
            **({} if one.checkpoint is None else {"checkpoint": one.checkpoint}),
            **one.settings,
        }
        for one in asked
    }
    sizes = {measure: units[measure] for measure in measures}
    plan = Plan(
        dataset=_rows_of(split),
        systems=systems,
        measures=sizes,
        task=task,
        checkpoints=_checkpoints(asked),
        sources=_sources(asked),
        reference=reference,
        margin=margin,
        reading=reading,
        version=version("pronominal"),
    )
    return plan.sealed


def _checkpoints(asked: Sequence[SystemSettings]) -> dict[str, str]:
    """Return the digests of the weights on this machine; nothing is fetched for a plan."""
    made: dict[str, str] = {}
    for one in asked:
        if (folder := _weights_of(one)) is not None:
            checkpoint = getattr(replace(one, checkpoint=folder).load(), "checkpoint", None)
            made |= {} if checkpoint is None else {one.label: checkpoint.digest}
    return made


def _weights_of(system: SystemSettings) -> str | None:
    """Return the folder of a system's weights: its own, or where the Hub's cache has them."""
    entry = SYSTEMS.get(system.name)
    usual = None if entry is None or entry.given in system.settings else entry.weights
    name = system.checkpoint or usual
    if name is None or Path(name).is_dir():
        return name
    return str(cached_folder(name)) if cached_weights(name) else None


def _sources(asked: Sequence[SystemSettings]) -> dict[str, str]:
    """Return the digests of the modules of one's own systems."""
    digests = {one.label: source_digest(one.name) for one in asked if is_place(one.name)}
    return {label: digest for label, digest in digests.items() if digest is not None}


def kept_plans(runs: Iterable[Path], rows: tuple[str, str, str, str]) -> list[Plan]:
    """Return the plans that lie with some runs, each once, and are of these rows."""
    files = (file for run in runs for file in sorted(run.glob(f"{KEPT}*.json")))
    plans = {plan.digest: plan for plan in map(read_plan, files) if plan.is_of(*rows)}
    return [*plans.values()]


def read_plan(file: Path) -> Plan:
    """Read a plan; `InputError` if it is none, or was changed after it was written."""
    plan = as_record(Plan, read_object(file, cure=AGAIN), file=file, cure=AGAIN)
    if plan.sealed.digest != plan.digest:
        cause = "the plan was changed after it was written: its digest is that of another one"
        raise InputError(cause, cure="take the plan as it was, or write a new one", file=file)
    ours = (SIGNIFICANCE, RESAMPLES, SEED, "holm")
    if (plan.level, plan.resamples, plan.seed, plan.correction) != ours:
        cause = f"the plan is of pronominal {plan.version}, which tests in another way"
        raise InputError(cause, cure="evaluate it with that version", file=file)
    return plan


def _rows_of(split: Split) -> PlannedRows:
    return PlannedRows(split.dataset_name, split.config, split.name, split.digest, split.num_rows)

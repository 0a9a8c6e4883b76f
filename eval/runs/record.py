"""``run.json``: what a system was asked, with which versions, and how far the run has come."""

import hashlib
import platform
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Any, Self

from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import SAMPLED, Split, whole_and_part
from pronominal.dataset_scripts.tables.checksums import SUMS
from pronominal.errors import InputError, os_errors
from pronominal.json_files import as_record, read_object
from pronominal.names import LONGEST, require_name

RUN = "run.json"

PACKAGES = (
    *("accelerate", "fastcoref", "numpy", "pronominal", "pyarrow", "spacy"),
    *("tokenizers", "torch", "transformers"),
)
"""The packages whose versions a run records, where they are installed."""

LONGEST_RUN_NAME = 220
"""Letters of the name of a run's folder: file systems allow 255, with a shard or while it grows."""

SCHEMA_VERSION = 1
"""Raised whenever a field of ``run.json`` or of a prediction changes its meaning."""

CHECKPOINT_FILES = "checkpoint_files"
"""The setting that has the digest of the files of an own system; runs of old are without it."""

OF_ROWS = frozenset({"file", "answers_digest"})
"""Settings of answers that were imported: which ones they are. They are others on other rows."""

IDENTITY = ("dataset", "system", "checkpoint", "settings", "inference")
"""The fields that two runs must have in common to share a folder."""


@dataclass(frozen=True, slots=True)
class SplitRecord:
    """Which rows: names of dataset, config and split, and the content digest of the rows.

    The name of splits that are joined has a ``+`` between theirs.
    """

    name: str
    config: str
    split: str
    digest: str

    def __post_init__(self) -> None:
        if len(self.digest) > LONGEST:
            cause = f"the digest of the rows has {len(self.digest):,} characters"
            raise InputError(cause, cure=f"give one of at most {LONGEST}")
        require_name("dataset name", self.name)
        require_name("config name", self.config)
        for name in self.split.split("+"):
            require_name("split name", name)

    def __str__(self) -> str:
        return f"{self.name}/{self.config}/{self.split}"


@dataclass(frozen=True, slots=True)
class DatasetRecord(SplitRecord):
    """The rows of a run, and how many they are."""

    rows: int

    @classmethod
    def of(cls, split: Split) -> Self:
        """Return the record of a split."""
        return cls(split.dataset_name, split.config, split.name, split.digest, split.num_rows)


@dataclass(frozen=True, slots=True)
class SystemRecord:
    """What was asked.

    Attributes:
        name: the system's name among `pronominal.adapters.SYSTEMS`, or ``module:attribute``.
        kind: the kind of system, such as ``"clustering"``.
        question: how a language model is asked, where there are several ways.
    """

    name: str
    kind: str
    question: str | None = None


@dataclass(frozen=True, slots=True)
class Times:
    """When a run began and ended, in UTC, and the seconds that were spent on it in all."""

    started: str
    finished: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PredictionsRecord:
    """What a finished run ended with: the lines of its predictions, and their SHA-256."""

    rows: int
    sha256: str

    @classmethod
    def of(cls, *files: Path) -> Self:
        """Return the record of files that are one after another; a file that is gone is empty."""
        rows, digest = 0, hashlib.sha256()
        for path in files:
            cure = "remove the run's folder and run again"
            with os_errors(path, cure), suppress(FileNotFoundError), path.open("rb") as file:
                while block := file.read(1 << 20):
                    rows += block.count(b"\n")
                    digest.update(block)
        return cls(rows, digest.hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """Where a run over drawn rows stopped, and what its answers say of all rows of the split.

    Attributes:
        until: half the width of the interval that was asked for, in points.
        why: it stopped.
        rows: that were answered, the first ones that were drawn.
        of: rows of the split.
        draws: how many times rows were drawn; one draw has a row of each pronoun set.
        accuracy: the share of right rows.
        low: the lower end of its interval, which is valid whenever one stops.
        high: the upper end.
        level: of the interval.
    """

    until: float
    why: str
    rows: int
    of: int
    draws: int
    accuracy: float
    low: float
    high: float
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What ``run.json`` says of a run.

    Attributes:
        dataset: its rows.
        system: what was asked.
        checkpoint: digest of the weights; None where there are none.
        checkpoint_name: their folder or Hub id, as the user gave it.
        revision: the commit of the Hub that they are of, where the system says it.
        dtype: what the system computes in, such as ``"bfloat16"``, where it says so.
        device: where it computes, such as ``"cuda:0"``, where it says so.
        parameters: how many weights it has, where it says so.
        engine: the library or server that computes, such as ``"transformers"``, where it says so.
        settings: everything else that may change a prediction.
        inference: how a language model was run, where it says so: budgets in tokens, the frame of
            the chat around each prompt, what the chat template was told, engine or server with
            their versions, and how weights are quantised.
        label: the run's name in tables and folders.
        versions: package -> version.
        seeds: the seed of a system that draws at random.
        self_check: what the system found wrong with its weights when it was loaded.
        form_tokens: pronoun form -> the tokens that a language model reads it as.
        times: when it ran.
        counts: ``rows``, of which ``none``, ``both``, ``unfinished`` and ``failed``; for clusters
            also ``readings_differ``, the rows that the two decision rules decide differently.
        complete: whether every row was asked.
        predictions: what its predictions were when it was; a run without is not finished.
        stopped: of a run over drawn rows, why it has no more of them.
        dataset_place: where the rows were, as the user gave it, or where the Hub's were kept.
    """

    dataset: DatasetRecord
    system: SystemRecord
    checkpoint: str | None
    checkpoint_name: str | None = None
    revision: str | None = None
    dtype: str | None = None
    device: str | None = None
    parameters: int | None = None
    engine: str | None = None
    settings: Mapping[str, Any]
    inference: Mapping[str, Any] | None = None
    label: str
    versions: Mapping[str, str]
    seeds: Mapping[str, Any] = field(default_factory=dict)
    self_check: tuple[str, ...]
    form_tokens: Mapping[str, tuple[str, ...]] | None = None
    times: Times
    counts: Mapping[str, int]
    complete: bool
    predictions: PredictionsRecord | None = None
    stopped: Stopped | None = None
    dataset_place: str | None = None

    @property
    def answers(self) -> int | None:
        """How many predictions a run that is complete has, by its counts where it has them."""
        if "rows" in self.counts:
            return self.counts["rows"] - self.counts.get("failed", 0)
        return None if self.predictions is None else self.predictions.rows

    def __post_init__(self) -> None:
        require_name("label", self.label)
        if self.settings.get("reading") is not None:
            require_name("reading", self.settings["reading"])

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``run.json``."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}

    def same_system(self, other: "RunRecord") -> bool:
        """Whether two runs are of one label, system, checkpoint and settings, on whatever rows."""
        differ = self.differences(other)
        settings = {*differ.pop("settings", ())} - OF_ROWS
        same = self.label == other.label and differ.keys() <= {"dataset", "inference"}
        return same and not settings

    def differences(self, other: "RunRecord") -> dict[str, list[str]]:
        """Return the fields of `IDENTITY` that differ, each with the names inside that do.

        What files the checkpoint had is no difference where one of the runs does not say it.
        """
        ours, theirs = self.to_json(), other.to_json()
        both = said_by_both(ours["settings"], theirs["settings"])
        ours["settings"], theirs["settings"] = both
        return {
            key: _differing(ours[key], theirs[key]) for key in IDENTITY if ours[key] != theirs[key]
        }


def said_by_both(
    one: Mapping[str, Any], other: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return settings without what files the checkpoint had, where one of the two does not say it.

    Runs that were made before these were recorded do not.
    """
    left_out = {CHECKPOINT_FILES} - (one.keys() & other.keys())
    of_both = [{k: v for k, v in of.items() if k not in left_out} for of in (one, other)]
    return of_both[0], of_both[1]


def _differing(one: Any, other: Any) -> list[str]:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return []
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))


def new_record(
    split: Split,
    system: SystemRecord,
    label: str,
    settings: Mapping[str, Any],
    loaded: object = None,
) -> RunRecord:
    """Return what ``run.json`` says before the first prediction.

    `settings` are everything that may change one; `loaded` is the system itself, which may say
    what it computes with, or None for answers that were not computed here.
    """
    checkpoint = getattr(loaded, "checkpoint", None)
    if not hasattr(checkpoint, "digest"):  # one of the user's own may keep a path there
        checkpoint = None
    parameters = getattr(loaded, "parameters", None)
    inference = getattr(loaded, "inference", None)
    return RunRecord(
        dataset=DatasetRecord.of(split),
        system=system,
        checkpoint=checkpoint and checkpoint.digest,
        checkpoint_name=checkpoint and checkpoint.name,
        revision=_words(getattr(checkpoint, "revision", None)),
        dtype=_words(getattr(loaded, "dtype", None)),
        device=_words(getattr(loaded, "device", None)),
        # a torch module has a method of this name
        parameters=parameters if isinstance(parameters, int) else None,
        engine=_words(getattr(loaded, "engine", None)),
        settings=settings,
        inference=inference if isinstance(inference, dict) else None,
        label=label,
        versions=versions(),
        seeds={"seed": loaded.seed} if hasattr(loaded, "seed") else {},
        self_check=tuple(getattr(loaded, "self_check", ())),
        form_tokens=getattr(loaded, "form_tokens", None),
        times=Times(now()),
        counts={},
        complete=False,
        dataset_place=None if split.folder is None else str(split.folder),
    )


def _words(value: object) -> str | None:
    return None if value is None else str(value).removeprefix("torch.")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages among `PACKAGES`."""
    installed = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            installed[package] = _version(package)
    return installed


def _version(package: str) -> str:
    # importlib's version parses all metadata, which takes longer than a run of a few rows
    text = distribution(package).read_text("METADATA") or ""
    found = re.search(r"^Version: *(\S+)$", text.partition("\n\n")[0], re.MULTILINE)
    return found[1] if found else version(package)


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def run_name(split: Split, label: str) -> str:
    """Return the name of a run's folder; `InputError` for one that file systems do not take."""
    rows, (_, part) = split.name, whole_and_part(split.name)
    if part is not None and rows.endswith(f"{SAMPLED}{part}"):
        rows = rows.removesuffix(f"-{part}")  # more rows may be drawn later
    name = f"{split.dataset_name}.{split.config}.{rows}.{label}"
    if len(name) > LONGEST_RUN_NAME:
        cause = f"the run {name[:20]}... would have a name of {len(name)} letters"
        cure = f"choose a shorter label: all names together may have {LONGEST_RUN_NAME}"
        raise InputError(cause, cure=cure)
    return name


def is_run(folder: Path) -> bool:
    """Say whether a folder is that of a run."""
    return (folder / RUN).exists()


def run_of(predictions: Path) -> Path | None:
    """Return the run's folder that predictions lie in, or are; None where it is no run's."""
    folder = predictions if predictions.is_dir() else predictions.parent
    return folder if is_run(folder) else None


def place_of_rows(run: Path) -> str:
    """Return the dataset's folder that a run says it answered.

    A path that was relative is looked for from the folders above the run, and then from here. Of
    several folders it is the first one with the same rows.

    Raises:
        InputError: it is not there any more, or the run does not say where it was.
    """
    record = read_record(run)
    rows, place = record.dataset, record.dataset_place
    cure = f"type 'pronominal score {run} --dataset FOLDER', with the folder of {rows.name}"
    if place is None:
        raise InputError(f"the run does not say where its rows, {rows}, are", cure=cure, file=run)
    found = [base / place for base in (*run.resolve().parents, Path()) if (base / place).is_dir()]
    if not found:
        cause = f"the rows that it answers, {rows}, are not at {place}"
        raise InputError(cause, cure=cure, file=run)
    if len({folder.resolve() for folder in found}) > 1:
        found = [folder for folder in found if _has_rows(folder, rows)] or found
    return str(found[0])


def _has_rows(folder: Path, rows: DatasetRecord) -> bool:
    with suppress(InputError):
        return load_split(folder, rows.config, rows.split).digest == rows.digest
    return False


def run_path(out: Path, name: str) -> Path:
    """Return a run's folder: `out` if it holds a ``run.json``, else the one of that name in it.

    Raises:
        InputError: `out` is a built dataset, whose tables runs would lie among.
    """
    if (out / SUMS).exists():
        cause = "this is a built dataset, no folder for runs"
        raise InputError(cause, cure="leave out --out, or type -o runs", file=out)
    return out if is_run(out) else out / name


def read_record(folder: Path) -> RunRecord:
    """Return what a run's ``run.json`` says.

    Raises:
        InputError: there is no run, it is damaged or of another version, or a field, which is
            named, is missing or wrong.
    """
    if not is_run(folder):
        raise InputError("there is no run", cure="check the path", file=folder)
    path, cure = folder / RUN, "remove the folder and run again"
    content = read_object(path, cure=cure)
    if content.get("schema_version") != SCHEMA_VERSION:
        cause = f"the field schema_version is not {SCHEMA_VERSION}"
        raise InputError(cause, cure="run it again with this version of pronominal", file=path)
    return as_record(RunRecord, content, file=path, cure=cure)

"""``run.json``: what a system was asked, with which versions, and how far the run has come."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pronominal.dataset_scripts.reading.published import Split
from pronominal.dataset_scripts.reading.streaming import StreamedSplit
from pronominal.errors import InputError
from pronominal.json_files import as_record, read_object
from pronominal.names import require_name

RUN = "run.json"

SCHEMA_VERSION = 1
"""Raised whenever a field of ``run.json`` or of a prediction changes its meaning."""

IDENTITY = ("dataset", "system", "checkpoint", "settings")
"""The fields that two runs must have in common to share a folder."""

AnySplit = Split | StreamedSplit
"""The rows of a run, in memory or on disk."""


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """The rows of a run.

    Attributes:
        name: the dataset's name.
        config: the config's name.
        split: the split's name; several that are joined stand with ``+`` between them.
        digest: content digest of the rows.
        rows: how many rows there are.
    """

    name: str
    config: str
    split: str
    digest: str
    rows: int

    def __post_init__(self) -> None:
        for kind, name in (("dataset", self.name), ("config", self.config)):
            require_name(f"{kind} name", name)
        for name in self.split.split("+"):
            require_name("split name", name)

    @classmethod
    def of(cls, split: AnySplit) -> "DatasetRecord":
        """Return the record of a split."""
        return cls(split.dataset, split.config, split.name, split.digest, split.num_rows)

    def __str__(self) -> str:
        return f"{self.name}/{self.config}/{self.split}"


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
        settings: everything else that may change a prediction.
        label: the run's name in tables and folders.
        versions: package -> version.
        seeds: the seed of a system that draws at random.
        self_check: what the system found wrong with its weights when it was loaded.
        form_tokens: pronoun form -> the tokens that a language model reads it as.
        times: when it ran.
        counts: ``rows``, of which ``none``, ``both`` and ``failed``; for clusters also
            ``readings_differ``, the rows that the two decision rules decide differently.
        complete: whether every row was asked.
    """

    dataset: DatasetRecord
    system: SystemRecord
    checkpoint: str | None
    checkpoint_name: str | None = None
    revision: str | None = None
    dtype: str | None = None
    device: str | None = None
    parameters: int | None = None
    settings: Mapping[str, Any]
    label: str
    versions: Mapping[str, str]
    seeds: Mapping[str, Any] = field(default_factory=dict)
    self_check: tuple[str, ...]
    form_tokens: Mapping[str, tuple[str, ...]] | None = None
    times: Times
    counts: Mapping[str, int]
    complete: bool

    def __post_init__(self) -> None:
        require_name("label", self.label)

    def to_json(self) -> dict[str, Any]:
        """Return the content of ``run.json``."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self)}

    def differences(self, other: "RunRecord") -> dict[str, list[str]]:
        """Return the fields of `IDENTITY` that differ, each with the names inside that do."""
        ours, theirs = self.to_json(), other.to_json()
        return {
            key: _differing(ours[key], theirs[key]) for key in IDENTITY if ours[key] != theirs[key]
        }


def _differing(one: Any, other: Any) -> list[str]:
    if not (isinstance(one, dict) and isinstance(other, dict)):
        return []
    return sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))


def is_run(folder: Path) -> bool:
    """Say whether a folder is that of a run."""
    return (folder / RUN).exists()


def read_record(folder: Path) -> RunRecord:
    """Return what a run's ``run.json`` says.

    Raises:
        InputError: there is no run, it is damaged or of another version, or a field holds what it
            cannot hold, which is named.
    """
    if not is_run(folder):
        raise InputError("there is no run", cure="check the path", file=folder)
    path, cure = folder / RUN, "remove the folder and run again"
    content = read_object(path, cure=cure)
    if content.get("schema_version") != SCHEMA_VERSION:
        raise InputError(
            f"the field schema_version is not {SCHEMA_VERSION}",
            cure="run it again with this version of pronominal",
            file=path,
        )
    return as_record(RunRecord, content, file=path, cure=cure)

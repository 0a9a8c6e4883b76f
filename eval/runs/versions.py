"""The record of a run before its first prediction: what is asked of what, with which versions."""

import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pronominal.adapters import kind_of
from pronominal.eval.runs.record import (
    AnySplit,
    DatasetRecord,
    RunRecord,
    SystemRecord,
    Times,
    is_run,
)

PACKAGES = (
    *("accelerate", "fastcoref", "numpy", "pronominal", "pyarrow", "spacy"),
    *("tokenizers", "torch", "transformers"),
)
"""The packages whose versions a run records, where they are installed."""


def run_name(split: AnySplit, label: str) -> str:
    """Return the name of a run's folder."""
    return f"{split.dataset}.{split.config}.{split.name}.{label}"


def run_path(out: Path, name: str) -> Path:
    """Return a run's folder: `out` if it holds a ``run.json``, else the one of that name in it."""
    return out if is_run(out) else out / name


def new_record(
    split: AnySplit, system: Any, name: str, label: str, settings: Mapping[str, Any]
) -> RunRecord:
    """Return what ``run.json`` says before the first prediction.

    Args:
        split: the rows.
        system: the loaded system.
        name: the system's name among `pronominal.adapters.SYSTEMS`, or one of the user's own.
        label: the run's name in tables and folders.
        settings: everything that may change a prediction.
    """
    checkpoint = getattr(system, "checkpoint", None)
    parameters = getattr(system, "parameters", None)
    return RunRecord(
        dataset=DatasetRecord.of(split),
        system=SystemRecord(name, kind_of(system), getattr(system, "question", None)),
        checkpoint=checkpoint and checkpoint.digest,
        checkpoint_name=checkpoint and checkpoint.name,
        revision=_said(getattr(checkpoint, "revision", None)),
        dtype=_said(getattr(system, "dtype", None)),
        device=_said(getattr(system, "device", None)),
        # a torch module has a method of this name
        parameters=parameters if isinstance(parameters, int) else None,
        settings=settings,
        label=label,
        versions=versions(),
        seeds={"seed": system.seed} if hasattr(system, "seed") else {},
        self_check=tuple(getattr(system, "self_check", ())),
        form_tokens=getattr(system, "form_tokens", None),
        times=Times(now()),
        counts={},
        complete=False,
    )


def _said(value: object) -> str | None:
    return None if value is None else str(value).removeprefix("torch.")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages among `PACKAGES`."""
    installed = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")

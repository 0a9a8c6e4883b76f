"""What ``run.json`` says of a run: what was asked of what, with which versions, and the counts."""

import json
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pronominal.adapters import kind_of
from pronominal.dataset_scripts.reading.split import Instance, Split
from pronominal.eval.runs.readings import differing
from pronominal.spans import Span

RECORDED = (
    *("accelerate", "fastcoref", "numpy", "pronominal", "pyarrow", "spacy"),
    *("tokenizers", "torch", "transformers"),
)
"""The packages whose versions a run records, where they are installed."""

Rows = Split
"""The rows of a run, in memory or on disk."""


def run_name(split: Rows, label: str) -> str:
    """Return how the folder of a run is called."""
    return f"{split.dataset_name}.{split.config}.{split.name}.{label}"


def description(
    split: Rows, system: Any, name: str, label: str, settings: dict[str, Any]
) -> dict[str, Any]:
    """Return what ``run.json`` says before the first prediction.

    Args:
        split: the rows.
        system: the loaded system.
        name: the system's name among `pronominal.adapters.SYSTEMS`, or one of the user's own.
        label: how the run is called.
        settings: everything that may change a prediction.
    """
    checkpoint = getattr(system, "checkpoint", None)
    question = getattr(system, "question", None)
    return {
        "dataset": {
            "name": split.dataset_name,
            "config": split.config,
            "split": split.name,
            "digest": split.digest,
            "rows": split.num_rows,
        },
        "system": {"name": name, "kind": kind_of(system)}
        | ({"question": question} if question else {}),
        "checkpoint": checkpoint and checkpoint.digest,
        "checkpoint_name": checkpoint and checkpoint.name,
        "settings": settings,
        "label": label,
        "versions": versions(),
        "seeds": {"seed": system.seed} if hasattr(system, "seed") else {},
        "self_check": list(getattr(system, "self_check", ())),
        **({"form_tokens": system.form_tokens} if hasattr(system, "form_tokens") else {}),
        "times": {"started": now(), "finished": None, "seconds": 0.0},
        "counts": {},
        "complete": False,
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages among `RECORDED`."""
    found = {"python": platform.python_version()}
    for package in RECORDED:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def counts(predictions: Path, instances: Iterable[Instance]) -> dict[str, int]:
    """Count the answers; for clusters also the rows in which the two readings differ.

    Args:
        predictions: a file of ours.
        instances: the rows that it answers, in order.
    """
    found = {"rows": 0, "none": 0, "both": 0}
    with predictions.open("rb") as lines:
        for line, instance in zip(map(json.loads, lines), instances, strict=True):
            found["rows"] += 1
            if line["abstained"]:
                found[line["abstained"]] += 1
            if "clusters" in line:
                clusters = [[Span(*span) for span in cluster] for cluster in line["clusters"]]
                differ = differing([instance], [clusters])  # type: ignore[list-item]
                found["readings_differ"] = found.get("readings_differ", 0) + differ
    return found


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")

"""Several systems on one split: run, score, compare."""

import inspect
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pronominal.adapters import SYSTEMS, System
from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.errors import InputError, unknown_name
from pronominal.eval import runner, scorer
from pronominal.eval.run_store import read_answers, write_json
from pronominal.eval.runner import Progress, SystemSettings

LABEL = re.compile(r"\w[\w.@+-]*")
"""What a system may be called, since its run's folder is named after it."""

SCORE = "score.json"
"""Beside ``predictions.jsonl``: the run's scores, from which reports are made."""


def evaluate(
    split: PublishedSplit,
    asked: SystemSettings,
    out: Path,
    reading: str = "offsets",
    progress: Progress = lambda done: None,
    system: System | None = None,
) -> dict[str, Any]:
    """Run one system, or go on with its run, and return its scores.

    A system of your own is given as `system`; it is not loaded by name then, and `asked` only
    says how it is called. A run that is complete is not run again under the same label.

    The scores are those of CONTRACT, section 6, with ``readings_differ`` for clustering systems:
    the number of rows in which the two readings disagree. They are also kept as `SCORE`.
    """
    loaded = asked.load() if system is None else system
    folder = runner.run(split, loaded, asked, out, reading=reading, progress=progress)
    scores = score_predictions(split, folder.predictions)
    if "readings_differ" in folder.description["counts"]:
        scores["readings_differ"] = folder.description["counts"]["readings_differ"]
    write_json(folder.path / SCORE, scores)
    return scores


def score_predictions(
    split: PublishedSplit, predictions: Path, options: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """Score a predictions file, or a run's folder, with the metrics of its dataset.

    Args:
        split: the rows that the predictions answer.
        predictions: a file in the form of ``predictions.jsonl``.
        options: keywords of the dataset's score function; those that are None are left out.

    Raises:
        InputError: the predictions are not valid, or the dataset has no such option.
    """
    given = {name: value for name, value in options.items() if value is not None}
    score = scorer(split.dataset).score
    for name in given.keys() - inspect.signature(score).parameters:
        raise InputError(
            f"the scores of {split.dataset} have no --{name.replace('_', '-')}", cure="leave it out"
        )
    return score(split.table, read_answers(predictions, split), **given)


def parse_systems(arguments: Sequence[str]) -> list[SystemSettings]:
    """Read ``NAME`` and ``NAME=CHECKPOINT`` arguments; a name given twice gets a number."""
    systems: list[SystemSettings] = []
    for argument in arguments:
        name, equals, checkpoint = argument.partition("=")
        if equals and not checkpoint:
            raise InputError(f"'{argument}' names no checkpoint", cure=f"write {name}=FOLDER")
        earlier = sum(system.name == name for system in systems)
        label = f"{name}-{earlier + 1}" if earlier else name
        systems.append(SystemSettings(label, name, checkpoint or None))
    return systems


def read_systems(path: Path) -> list[SystemSettings]:
    """Read systems with settings from a TOML file.

    One table for each system; its key is the label, ``system`` the name when it is another,
    ``checkpoint`` the weights, and every other key a setting of the system's own::

        [lingmess-large]
        system = "lingmess"
        checkpoint = "checkpoints/lingmess"
        batch_size = 8
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(
            f"no systems could be read ({error})", cure="give a TOML file", file=path
        ) from error
    systems = []
    for label, table in tables.items():
        place = {"file": str(path), "row": f"[{label}]"}
        if not isinstance(table, dict):
            raise InputError("a system is a table", cure="write its settings below", **place)
        if not LABEL.fullmatch(label):
            cure = "use letters, digits and any of . _ - + @"
            raise InputError("the label cannot be the name of a folder", cure=cure, **place)
        settings = dict(table)
        name, checkpoint = settings.pop("system", label), settings.pop("checkpoint", None)
        if not isinstance(name, str) or not isinstance(checkpoint, str | None):
            raise InputError("system and checkpoint are strings", cure="quote them", **place)
        systems.append(SystemSettings(label, name, checkpoint, settings))
    return systems


def refuse_unknown(systems: Sequence[SystemSettings]) -> None:
    """Raise `InputError` for a name or label that cannot be, before the first system runs."""
    labels: set[str] = set()
    for system in systems:
        if system.name not in SYSTEMS:
            raise unknown_name("system", system.name, SYSTEMS)
        if system.label in labels:
            raise InputError(
                f"two systems are called {system.label}", cure="give one another label"
            )
        labels.add(system.label)

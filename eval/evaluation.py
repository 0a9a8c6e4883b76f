"""Several systems on one split: run, score, compare."""

import inspect
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.errors import InputError
from pronominal.eval import runner, scorer
from pronominal.eval.run_store import read_predictions, write_json
from pronominal.eval.runner import Progress, SystemSettings

SCORE = "score.json"
"""Beside ``predictions.jsonl``: the run's scores, from which reports are made."""


def evaluate(
    split: PublishedSplit, asked: SystemSettings, out: Path, reading: str, progress: Progress
) -> dict[str, Any]:
    """Run one system, or go on with its run, and return its scores.

    The scores are those of CONTRACT, section 6, with ``readings_differ`` for clustering systems:
    the number of rows in which the two readings disagree. They are also kept as `SCORE`.
    """
    folder = runner.run(split, asked.load(), asked, out, reading=reading, progress=progress)
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
    return score(split.table, read_predictions(predictions, split), **given)


def parse_systems(arguments: Sequence[str]) -> list[SystemSettings]:
    """Read ``NAME`` and ``NAME=CHECKPOINT`` arguments; a name given twice gets a number."""
    systems: list[SystemSettings] = []
    for argument in arguments:
        name, _, checkpoint = argument.partition("=")
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
        if not isinstance(table, dict):
            raise InputError("a system is a table", cure=f"write [{label}]", file=path, row=label)
        settings = dict(table)
        name = settings.pop("system", label)
        systems.append(SystemSettings(label, name, settings.pop("checkpoint", None), settings))
    return systems

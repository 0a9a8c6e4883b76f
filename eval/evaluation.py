"""Several systems on one split: run, score, compare."""

import inspect
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pronominal.adapters import SYSTEMS, System
from pronominal.dataset_scripts.published import PublishedSplit, read_split
from pronominal.dataset_scripts.streaming import read_joined
from pronominal.errors import InputError, unknown_name
from pronominal.eval import runner, scorer
from pronominal.eval.prompt_scores import prompt_scores
from pronominal.eval.run_store import read_answers, read_given_answers, write_json
from pronominal.eval.runner import Progress, SystemSettings
from pronominal.eval.significance import AGAINST, Right, against

LABEL = re.compile(r"\w[\w.@+-]*")
"""What a system may be called, since its run's folder is named after it."""

SCORE = "score.json"
"""Beside ``predictions.jsonl``: the run's scores, from which reports are made."""

ACROSS = "across_systems"
"""Where scores hold what is asked of all systems together, and the scorers' function for it."""

Bars = Callable[[str, int], AbstractContextManager[Progress]]
"""Opens a progress bar for a system and a number of rows."""


@dataclass(frozen=True, slots=True)
class _Evaluated:
    scores: dict[str, Any]
    right: Mapping[str, Right]


def evaluate_all(
    split: PublishedSplit,
    asked: Sequence[SystemSettings],
    out: Path,
    reading: str,
    bars: Bars,
) -> dict[str, dict[str, Any]]:
    """Run several systems as `evaluate` does, and test every pair of them against each other.

    Returns:
        Label -> scores. Where there is a second system, and the dataset says which rows are
        independent (its ``right``), they have `AGAINST`, too, and where it says what to ask of all
        systems together (its ``across_systems``), `ACROSS`; no `SCORE` holds either.
    """
    done = {}
    rows = split.num_rows + sum(other.num_rows for other in _beside(split).values())
    for one in asked:
        with bars(one.label, rows) as progress:
            done[one.label] = _evaluate(split, one, out, reading, progress)
    measures = dict.fromkeys(name for one in done.values() for name in one.right)
    right = {name: {label: one.right[name] for label, one in done.items()} for name in measures}
    if len(done) < 2:
        return {label: one.scores for label, one in done.items()}
    tests = against(right)
    across = getattr(scorer(split.dataset), ACROSS, None)
    common = {} if across is None else {ACROSS: across({k: one.scores for k, one in done.items()})}
    return {
        label: one.scores | ({AGAINST: tests[label]} if label in tests else {}) | common
        for label, one in done.items()
    }


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

    Where rows lie beside the split whose answers its scores use, the system runs over those as
    well: KnowRef's with switched candidates, for its consistency, RUFF's without context, for the
    reasons of its errors, and WinoNB's with *someone*, to compare them with names.

    The scores are those of CONTRACT, section 6, with ``readings_differ`` for clustering systems:
    the number of rows in which the two readings disagree. They are also kept as `SCORE`.
    """
    return _evaluate(split, asked, out, reading, progress, system).scores


def _evaluate(
    split: PublishedSplit,
    asked: SystemSettings,
    out: Path,
    reading: str,
    progress: Progress,
    system: System | None = None,
) -> _Evaluated:
    loaded = asked.load() if system is None else system
    folder = runner.run(split, loaded, asked, out, reading=reading, progress=progress)
    # a folder of one run has no room for a second one
    runs, done = out.parent if folder.path == out else out, split.table.num_rows
    options: dict[str, Any] = {}
    for option, beside in _beside(split).items():
        other = runner.run(
            beside, loaded, asked, runs, reading=reading, progress=lambda n: progress(done + n)
        )
        options[option] = (beside.table, read_answers(other.path, beside))
    scores = score_predictions(split, folder.predictions, options)
    if "readings_differ" in folder.description["counts"]:
        scores["readings_differ"] = folder.description["counts"]["readings_differ"]
    write_json(folder.path / SCORE, scores)
    right = getattr(scorer(split.dataset), "right", None)
    answers = read_answers(folder.path, split)
    return _Evaluated(scores, right(split.table, answers, **options) if right else {})


def _beside(split: PublishedSplit) -> dict[str, PublishedSplit]:
    """Return the splits beside a split whose answers its scores use, by the scores' options."""
    folder = split.file.parent.parent
    known = inspect.signature(scorer(split.dataset).score).parameters
    switched = [*(folder / "switched").glob(f"{split.name}*.parquet")]
    if "switched" in known and split.config == "original" and switched:
        return {"switched": read_split(str(folder), "switched", split.name)}
    with_context = split.config.startswith("distractors_") and (folder / "no_context").is_dir()
    if "context_free" in known and with_context:
        return {"context_free": read_split(str(folder), "no_context")}
    if "generic" in known and split.config == "personal" and (folder / "generic").is_dir():
        return {"generic": read_split(str(folder), "generic", split.name)}
    return {}


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
    score = scorer(split.dataset).score
    options_of = getattr(scorer(split.dataset), "options_of", None)
    further = {} if options_of is None else options_of(split, predictions)
    given = {name: value for name, value in {**options, **further}.items() if value is not None}
    for name in given.keys() - inspect.signature(score).parameters:
        raise InputError(
            f"the scores of {split.dataset} have no --{name.replace('_', '-')}", cure="leave it out"
        )
    read = read_given_answers if given.get("allow_missing") else read_answers
    return score(split.table, read(predictions, split), **given) | prompt_scores(split, predictions)


def rows_to_score(
    name: str, where: str, config: str | None, split: str | None, predictions: Path
) -> PublishedSplit:
    """Read the rows that a predictions file answers; ``test`` unless the dataset knows better."""
    answered = getattr(scorer(name), "answered_split", None)
    if split is None and answered is not None:
        found: PublishedSplit = answered(where, config, predictions)
        return found
    return read_joined(where, config, split or "test")


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


def parse_settings(arguments: Sequence[str]) -> dict[str, Any]:
    """Read ``KEY=VALUE`` arguments; values are those of TOML, and words need no quotes."""
    settings: dict[str, Any] = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or not key.isidentifier():
            raise InputError(f"'{argument}' is no setting", cure="write KEY=VALUE")
        try:
            settings[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            settings[key] = value
    return settings


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

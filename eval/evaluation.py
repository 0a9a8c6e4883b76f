"""Several systems on one split: run, score, compare."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pronominal.adapters import System
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval import scorer
from pronominal.eval.runs import runner
from pronominal.eval.runs.failures import FAILED, read_failures
from pronominal.eval.runs.folder import read_answers, read_description, write_json
from pronominal.eval.runs.rereading import answers
from pronominal.eval.runs.runner import Progress, SystemSettings
from pronominal.eval.runs.units import SCORE, read_p_values, write_p_values, write_units
from pronominal.eval.scores.prompts import prompt_scores
from pronominal.eval.statistics.paired_tests import ACROSS, AGAINST, Right, against

FLAGS = {"occupations": "sources"}
"""Keyword of a score function -> the option that gives it, where that has another name."""

Bars = Callable[[str, int], AbstractContextManager[Progress]]
"""Opens a progress bar for a system and a number of rows, or for the tests between systems."""


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The scores of a run, and the units that paired tests between systems compare."""

    scores: dict[str, Any]
    right: Mapping[str, Right]


def evaluate_all(
    split: Split,
    asked: Sequence[SystemSettings],
    out: Path,
    reading: str,
    bars: Bars,
    *,
    strict: bool = False,
) -> dict[str, dict[str, Any]]:
    """Run several systems as `evaluate` does, and test every pair of them against each other.

    Returns:
        Label -> scores. Where there is a second system, and the dataset says which rows are
        independent (its ``right``), they have `AGAINST`, too, and where it says what to ask of all
        systems together (its ``across_systems``), `ACROSS`. No `SCORE` holds either; reports make
        them anew for the runs that they show, from what `write_units` kept.
    """
    done = {}
    rows = split.num_rows + sum(other.num_rows for other in _beside(split).values())
    for one in asked:
        with bars(one.label, rows) as progress:
            done[one.label] = _evaluate(split, one, out, reading, progress, strict=strict)
    measures = dict.fromkeys(name for one in done.values() for name in one.right)
    right = {name: {label: one.right[name] for label, one in done.items()} for name in measures}
    if len(done) < 2:
        return {label: one.scores for label, one in done.items()}
    known = read_p_values([out])
    with bars("paired tests", len(right)) as progress:
        tests = against(right, known, progress)
    write_p_values(out, known)
    across = getattr(scorer(split.dataset_name), ACROSS, None)
    common = {} if across is None else {ACROSS: across({k: one.scores for k, one in done.items()})}
    return {
        label: one.scores | ({AGAINST: tests[label]} if label in tests else {}) | common
        for label, one in done.items()
    }


def evaluate(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    asked: SystemSettings,
    out: Path,
    reading: str = "offsets",
    progress: Progress = lambda done: None,
    system: System | None = None,
    *,
    strict: bool = False,
) -> dict[str, Any]:
    """Run one system, or go on with its run, and return its scores.

    A system of your own is given as `system`; it is not loaded by name then, and `asked` only
    says how it is called. A run that is complete is not run again under the same label.

    Where rows lie beside the split whose answers its scores use, the system runs over those as
    well: KnowRef's with switched candidates, for its consistency, RUFF's without context, for the
    reasons of its errors, and WinoNB's with *someone*, to compare them with names.

    The scores are those of CONTRACT, section 6, with ``readings_differ`` for clustering systems:
    the number of rows in which the two readings disagree. They are also kept as `SCORE`. Where the
    system failed at rows, they have ``failed``, the number of them, and these rows count as rows
    without an answer; with `strict` the first one is an `InputError`.
    """
    return _evaluate(split, asked, out, reading, progress, system, strict=strict).scores


def _evaluate(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    asked: SystemSettings,
    out: Path,
    reading: str,
    progress: Progress,
    system: System | None = None,
    *,
    strict: bool,
) -> Evaluated:
    refuse_unlabelled = getattr(scorer(split.dataset_name), "refuse_unlabelled", None)
    if refuse_unlabelled is not None:
        refuse_unlabelled(split.table)
    loaded = asked.load() if system is None else system
    run = partial(runner.run, system=loaded, asked=asked, reading=reading, strict=strict)
    folder = run(split, out=out, progress=progress)
    # a folder of one run has no room for a second one
    runs, done = out.parent if folder.path == out else out, split.table.num_rows
    options: dict[str, Any] = {}
    failed: dict[str, int] = {}
    for option, beside in _beside(split).items():
        other = run(beside, out=runs, progress=lambda n: progress(done + n))
        options[option] = (beside.table, read_answers(other.path, beside))
        failed |= {f"{FAILED}_{option}": len(other.failures)} if other.failures else {}
    return score_and_keep(split, folder.path, options, failed)


def score_and_keep(
    split: Split,
    run: Path,
    options: Mapping[str, Any] = MappingProxyType({}),
    failed: Mapping[str, int] = MappingProxyType({}),
) -> Evaluated:
    """Score a run and keep the result in its folder, as `SCORE` and with `write_units`.

    Args:
        split: the rows that it answers.
        run: its folder.
        options: the answers to splits beside it, by the keywords of the score function.
        failed: how many of those rows failed.
    """
    scores = score_predictions(split, run, options) | dict(failed)
    counted = read_description(run)["counts"]
    if "readings_differ" in counted:
        scores["readings_differ"] = counted["readings_differ"]
    write_json(run / SCORE, scores)
    right_of = getattr(scorer(split.dataset_name), "right", None)
    right = right_of(split.table, read_answers(run, split), **options) if right_of else {}
    write_units(run, right)
    return Evaluated(scores, right)


def _beside(split: Split) -> dict[str, Split]:
    """Return the splits beside a split whose answers its scores use, by the scores' options."""
    folder = split.file.parent.parent
    known = inspect.signature(scorer(split.dataset_name).score).parameters
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
    split: Split,
    predictions: Path,
    options: Mapping[str, Any] = MappingProxyType({}),
    reading: str | None = None,
) -> dict[str, Any]:
    """Score a predictions file, or a run's folder, with the metrics of its dataset.

    Args:
        split: the rows that the predictions answer.
        predictions: a file in the form of ``predictions.jsonl``.
        options: keywords of the dataset's score function; those that are None are left out.
        reading: the name of the reading by which the file's clusters become decisions; None for
            the decisions that stand there.

    Raises:
        InputError: the predictions are not valid, or the dataset has no such option.
    """
    score = scorer(split.dataset_name).score
    options_of = getattr(scorer(split.dataset_name), "options_of", None)
    further = {} if options_of is None else options_of(split, predictions)
    given = {name: value for name, value in {**options, **further}.items() if value is not None}
    for name in given.keys() - inspect.signature(score).parameters:
        flag = FLAGS.get(name, name).replace("_", "-")
        raise InputError(
            f"the scores of {split.dataset_name} have no --{flag}", cure="leave it out"
        )
    allow_missing = bool(given.get("allow_missing"))
    decisions = answers(predictions, split, reading, allow_missing=allow_missing)
    failures = read_failures(predictions)
    failed = {FAILED: len(failures)} if failures else {}
    scored: dict[str, Any] = score(split.table, decisions, **given)
    return scored | prompt_scores(split, predictions) | failed


def rows_to_score(
    name: str, where: str, config: str | None, split: str | None, predictions: Path
) -> Split:
    """Read the rows that a predictions file answers; ``test`` unless the dataset knows better."""
    answered = getattr(scorer(name), "answered_split", None)
    if split is None and answered is not None:
        found: Split = answered(where, config, predictions)
        return found
    return load_split(where, config, split or "test")

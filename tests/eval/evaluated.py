"""One system on rows that were read already, as most tests of scores need it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronominal.adapters import System
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.evaluation import (
    answered_split,
    answers_to_score,
    evaluate_systems,
    score_answers,
)
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.task import Task


def evaluate(
    split: Split,
    asked: SystemSettings,
    out: Path,
    reading: str = "offsets",
    system: System | None = None,
) -> Scores:
    """Run one system and return its scores; `system` is not loaded by name."""
    systems = {} if system is None else {asked.label: system}
    return evaluate_systems(split, [asked], out, reading, systems=systems)[asked.label].scores


def evaluate_several(
    split: Split, asked: Sequence[SystemSettings], out: Path, **given: Any
) -> dict[str, Scores]:
    """Run several systems and return their scores, with what compares them."""
    done = evaluate_systems(split, asked, out, **given)
    return {label: one.scores for label, one in done.items()}


def score_predictions(
    split: Split, predictions: Path, options: Mapping[str, Any] = {}, reading: str | None = None
) -> Scores:
    """Score a predictions file; options are not checked, so there may be no resamples."""
    task = task_of(split.dataset_name)
    return score_answers(task, answers_to_score(task, split, predictions, options, reading))


def rows_to_score(
    task: Task, where: str, config: str | None, split: str | None, predictions: Path
) -> Split:
    """Read the rows that predictions answer, as the command does."""
    return load_split(where, config, split or answered_split(task, where, config, predictions))

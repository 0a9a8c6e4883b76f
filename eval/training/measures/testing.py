"""A trained system on the test rows of its data, as they are and switched."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from pronominal.adapters.bert.mentions import first_mentioned
from pronominal.atomic import new_folder
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Decision, from_probabilities
from pronominal.eval.evaluation import answered, score_and_keep
from pronominal.eval.runs.answers import read_answers
from pronominal.eval.runs.predictions import read_predictions
from pronominal.eval.runs.record import is_run, read_record, run_name
from pronominal.eval.runs.runner import SystemSettings, run
from pronominal.eval.scores import TASKS, task_of
from pronominal.eval.training.measures.figures import Figures, switching_figures
from pronominal.instances import ResolutionInstance

RUNS = "runs"

Tests = Mapping[str, Split]
"""Splits to test on by config: ``original``, and ``switched`` where there is one."""

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
"""Opens a bar for a task of so many steps, which is told how many are done."""


def digests_of(tests: Tests) -> dict[str, str]:
    """Return what identifies the rows of each split."""
    return {config: split.digest for config, split in tests.items()}


def run_tests(
    tests: Tests, folder: Path, progress: Progress, system_name: str, settings: Mapping[str, Any]
) -> None:
    """Run the system in a folder over the tests; the runs stay in ``FOLDER/runs``.

    A run over other rows of the same name, those of an earlier test, is replaced.
    """
    if not tests:
        return
    asked = SystemSettings(system_name, system_name, str(folder), settings)
    system = asked.load()
    runs = _runs(tests, folder, system_name)
    for config, split in tests.items():
        run_folder = runs[config]
        if is_run(run_folder) and read_record(run_folder).dataset.digest != split.digest:
            with new_folder(run_folder):  # in one step: half a run would be refused
                pass
        with progress(f"test {config}", split.table.num_rows) as bar:
            run(split, system, asked, folder / RUNS, strict=True, progress=bar)


def score_tests(
    tests: Tests,
    name: str,
    folder: Path,
    system_name: str,
    figures: Figures,
    prior: float | None = None,
) -> dict[str, Any]:
    """Measure what `run_tests` left in a folder, over a dataset's tests or unnamed ones of a user.

    The prior is the share of the training rows whose first mention is right, which the
    probabilities hold; 0.5 corrects nothing.

    Returns:
        ``as_given``, and with a prior ``prior_corrected``: `figures` for each config and those of
        `switching_figures`; and the dataset's own scores under its name, where it has a scorer.
    """
    if not tests:
        return {}
    runs = _runs(tests, folder, system_name)
    given = {
        config: (split.table, read_answers(runs[config], split)) for config, split in tests.items()
    }
    scores = {"as_given": _measured(given, figures)}
    if prior is not None:
        corrected = {
            config: (split.table, _corrected(split.instances(), runs[config], prior))
            for config, split in tests.items()
        }
        scores["prior_corrected"] = _measured(corrected, figures)
    if name in TASKS:
        companions = {
            one.name: answered(tests[one.config], runs[one.config])
            for one in task_of(name).companions
            if one.config in tests
        }
        own = score_and_keep(tests["original"], runs["original"], companions)
        scores[name] = {**own.scores}
    return scores


def _corrected(
    instances: Sequence[ResolutionInstance], run_folder: Path, prior: float
) -> list[Decision]:
    """Decide with the first mention's logit lowered by the log odds it had in training."""
    decisions = []
    lines = read_predictions(run_folder)
    for instance, (_, prediction) in zip(instances, lines, strict=True):
        weighed = list(prediction.given["scores"])
        if all(candidate.located for candidate in instance.candidates):
            weighed[first_mentioned(instance)] *= (1 - prior) / prior
        decisions.append(from_probabilities(weighed))
    return decisions


def _measured(
    answers: Mapping[str, tuple[Any, Sequence[Decision]]], figures: Figures
) -> dict[str, Any]:
    measured = {config: figures.of(*given) for config, given in answers.items()}
    if "switched" in answers:
        measured["switching"] = switching_figures(answers["original"], answers["switched"])
    return measured


def _runs(tests: Tests, folder: Path, system_name: str) -> dict[str, Path]:
    return {config: folder / RUNS / run_name(split, system_name) for config, split in tests.items()}

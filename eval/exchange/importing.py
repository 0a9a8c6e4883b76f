"""What another system has answered, as a run like any other."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pronominal.checksums import file_digest
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Decision
from pronominal.eval.evaluation import score_and_keep
from pronominal.eval.exchange import FORMATS, exchange_format
from pronominal.eval.exchange.matching import Matched, matched
from pronominal.eval.runs.coreference_systems import prediction_of
from pronominal.eval.runs.decision_rules import decision_rule
from pronominal.eval.runs.failures import Failure
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.runs.record import SystemRecord, new_record, run_name, run_path
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.scores import task_of
from pronominal.eval.task import Task
from pronominal.instances import ResolutionInstance


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run that was made of another system's output.

    Attributes:
        path: the run's folder.
        failures: the rows that have no answer.
        left_out: how many documents are about none of the rows.
    """

    path: Path
    failures: list[Failure]
    left_out: int


def import_predictions(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    form: str,
    file: Path,
    out: Path,
    *,
    system: str,
    reading: str = "offsets",
    skip_failed: bool = False,
    task: Task | None = None,
) -> ImportedRun:
    """Make a run of another system's output, and score it.

    Args:
        split: the rows that it answers, at least.
        form: a key of `pronominal.eval.exchange.FORMATS`.
        file: the output, a file or a folder as the format has it.
        out: the folder of runs, or the folder of this run if it holds a ``run.json``.
        system: what the system is to be called.
        reading: how clusters become a decision, by its name; a format that has answers instead
            of clusters is read as its authors do.
        skip_failed: whether rows whose answer cannot be found or aligned are failures of the run,
            instead of refusing the file.
        task: how the answers are scored; the dataset's own task without it.

    Raises:
        InputError: the output is not in the format, or cannot be matched with the rows, or the
            dataset has no task. Nothing is written then.
    """
    task = task_of(split.dataset_name, task)
    instances = split.instances()
    documents = exchange_format(form).read(file)
    found = matched(instances, documents, file, skip_failed=skip_failed)
    answers = not FORMATS[form].clusters
    reading = "upstream" if answers else reading
    failures = [Failure(name, cause) for name, cause in found.failed.items()]
    settings: dict[str, object] = {"format": form, "file": file_digest(file), "reading": reading}
    settings |= {"skip_failed": True} if skip_failed else {}
    described = SystemRecord(system, "choosing" if answers else "clustering")
    folder = RunFolder(
        run_path(out, run_name(split, system)), new_record(split, described, system, settings)
    )
    write_run(split, folder, [*_predictions(instances, found, reading)], failures, task)
    return ImportedRun(folder.path, failures, found.left_out)


def write_run(
    split: Split,
    folder: RunFolder,
    predictions: Sequence[Prediction],
    failures: Sequence[Failure],
    task: Task,
) -> None:
    """Write what another program has answered, in the order of the rows, and score it."""
    with folder.opened():
        if not folder.complete:
            # all at once: what a killed import has left is written anew
            started = time.monotonic()
            folder.resume((), split.num_rows, 1)
            folder.append(predictions, failures)
            folder.finish(split.stream(), time.monotonic() - started)
        score_and_keep(split, folder.path, task=task)


def _predictions(
    instances: Sequence[ResolutionInstance], found: Matched, reading: str
) -> Iterator[Prediction]:
    rule = decision_rule(reading)
    for instance in instances:
        answer = found.answers.get(instance.id, [])
        if isinstance(answer, Decision):
            yield Prediction(instance.id, answer)
            continue
        # also for a row without an answer, since a rule may remember the row before
        prediction = prediction_of(instance, answer, rule)
        if instance.id in found.answers:
            yield prediction

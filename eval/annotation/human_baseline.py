"""People as one more system: their answers as a run, scored by the scorer of all systems."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pronominal.atomic import new_folder
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.annotation.answers import Answers
from pronominal.eval.annotation.votes import decision, majority, verdicts
from pronominal.eval.evaluation import score_and_keep
from pronominal.eval.runs.failures import Failure, read_failures, write_failures
from pronominal.eval.runs.predictions import PREDICTIONS, Prediction, read_predictions
from pronominal.eval.runs.record import (
    RUN,
    DatasetRecord,
    PredictionsRecord,
    RunRecord,
    SystemRecord,
    Times,
    new_record,
    now,
    read_record,
    run_name,
)
from pronominal.eval.runs.scored import read_scores
from pronominal.eval.runs.units import SCORE
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.task import Task
from pronominal.json_files import write_json
from pronominal.names import unknown_name


def human_baseline(
    answers: Answers,
    rows: Split,
    out: Path,
    annotator: str | None = None,
    label: str = "human",
    task: Task | None = None,
) -> dict[str, Scores]:
    """Write the answers of people as a run with its scores.

    The answer to a row is what more than half of the annotators say, as in KnowRef (section 4),
    or what one of them says, as in RUFF (section 3.3). A row without a majority, or with one for
    anything but a candidate or an option, has the decision ``none``.

    Args:
        answers: of an export.
        rows: the rows that were asked about, maybe a sample of a split.
        out: the folder of runs.
        annotator: name of the one whose answers are taken; the majority's when None.
        label: how tables call the run.
        task: how the answers are scored; the dataset's own task without it.

    Raises:
        InputError: there is no such annotator, the rows have no labels or no task, the label cannot
            name a folder, or another run is there already.
    """
    task = task_of(rows.dataset_name, task)
    if "candidates" in rows.table.column_names and set(rows.table["label"].to_pylist()) == {-1}:
        cause = "nobody has labelled the rows, so there is nothing to be right about"
        cure = "label them with 'pronominal annotate keep', and ask others about the result"
        raise InputError(cause, cure=cure, file=rows.file)
    said = verdicts(answers, rows)
    if annotator is None:
        chosen = {name: majority(given) for name, given in said.items()}
    elif annotator in answers.annotators:
        column = answers.annotators.index(annotator)
        chosen = {name: given[column] for name, given in said.items()}
    else:
        raise unknown_name("annotator", annotator, answers.annotators)
    predictions = [Prediction(name, decision(verdict)) for name, verdict in chosen.items()]
    answers_of = annotator or f"the majority of {len(answers.annotators)} annotators"
    settings = {"answers_of": answers_of, "answers_digest": answers.digest()[:12]}
    record = new_record(rows, SystemRecord(label, "people"), label, settings)
    finished = replace(record, times=Times(now(), now()), complete=True)
    return {label: _write_run(finished, predictions, rows, out, task)}


def runs_beside(
    answers: Answers, rows: Split, runs: Path, out: Path, task: Task | None = None
) -> dict[str, Scores]:
    """Cut the runs of systems to the rows that people were asked about, and score them anew.

    Args:
        answers: of an export.
        rows: the rows that were asked about.
        runs: a folder of runs; those over other rows than the export's split are passed by.
        out: the folder of the cut runs, another one where rows are a sample. Where they are the
            whole split, runs in it stay as they are.
        task: how the answers are scored; the dataset's own task without it.

    Raises:
        InputError: no finished run is over the split, or another run is there already.
    """
    task = task_of(rows.dataset_name, task)
    found: dict[str, Scores] = {}
    asked = answers.key.rows
    for file in sorted(runs.rglob(RUN)):
        run, record = file.parent, read_record(file.parent)
        if record.dataset.digest != answers.key.dataset.digest:
            continue
        label = record.label
        if record.complete and record.system.kind != "people":
            there = (out / run_name(rows, label)).resolve() == run.resolve()
            if there and rows.digest == record.dataset.digest:
                scored = (run / SCORE).exists()
                found[label] = (
                    read_scores(run / SCORE)
                    if scored
                    else score_and_keep(rows, run, task=task).scores
                )
                continue
            kept = [given for _, given in read_predictions(run) if given.id in asked]
            failed = [failure for failure in read_failures(run).values() if failure.id in asked]
            cut = replace(record, dataset=DatasetRecord.of(rows))
            found[label] = _write_run(cut, kept, rows, out, task, failed)
    if not found:
        cause = f"it has no finished run over {answers.key.dataset} as it was exported"
        raise InputError(cause, cure="make one with 'pronominal evaluate'", file=runs)
    return found


def _write_run(
    record: RunRecord,
    predictions: Sequence[Prediction],
    rows: Split,
    out: Path,
    task: Task,
    failed: Sequence[Failure] = (),
) -> Scores:
    """Write one run over the rows, whole or not at all; return its scores."""
    abstained = [prediction.decision.abstained for prediction in predictions]
    counts = {"none": abstained.count("none"), "both": abstained.count("both")}
    run = replace(record, counts={"rows": len(predictions), **counts})
    folder = out / run_name(rows, record.label)
    if folder.exists() and read_record(folder).differences(run):
        cure = "give another --out or --label, or remove it"
        raise InputError("there is another run already", cure=cure, file=folder)
    with new_folder(folder) as beside:
        lines = "".join(prediction.line() for prediction in predictions)
        (beside / PREDICTIONS).write_text(lines, encoding="utf-8", newline="\n")
        write_failures(beside, failed)
        run = replace(run, predictions=PredictionsRecord.of(beside / PREDICTIONS))
        write_json(beside / RUN, run.to_json())
        return score_and_keep(rows, beside, task=task).scores

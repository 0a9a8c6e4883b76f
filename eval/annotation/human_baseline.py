"""People as one more system: their answers as a run, scored by the scorer of all systems."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pronominal.atomic import new_folder
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.annotation.answers import Answers
from pronominal.eval.annotation.votes import decision, majority, verdicts
from pronominal.eval.evaluation import score_and_keep
from pronominal.eval.runs.failures import Failure, read_failures, write_failures
from pronominal.eval.runs.predictions import PREDICTIONS, Prediction, as_left, read_predictions
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


@dataclass(frozen=True, slots=True)
class _Run:
    """A run to be written, or one that is there already and only to be scored.

    Attributes:
        record: what it says of itself.
        folder: where it is, or is to be.
        predictions: of a run to be written; None for one that is there.
        failed: its rows without an answer.
        scores: of one that is there and was scored.
    """

    record: RunRecord
    folder: Path
    predictions: Sequence[Prediction] | None = None
    failed: Sequence[Failure] = ()
    scores: Scores | None = None


def human_baseline(  # noqa: PLR0913 - each one is an option of the command
    answers: Answers,
    rows: Split,
    out: Path,
    *,
    annotator: str | None = None,
    label: str = "human",
    beside: Path | None = None,
    task: Task | None = None,
) -> dict[str, Scores]:
    """Write the answers of people as a run with its scores, and cut those of systems to its rows.

    The answer to a row is what more than half of the annotators say, as in KnowRef (section 4),
    or what one of them says, as in RUFF (section 3.3). A row without a majority, or with one for
    anything but a candidate or an option, has the decision ``none``.

    Args:
        answers: of an export.
        rows: the rows that were asked about, maybe a sample of a split.
        out: the folder of runs.
        annotator: name of the one whose answers are taken; the majority's when None.
        label: how tables call the run.
        beside: a folder of systems' runs, to be cut to the same rows and scored anew; those over
            other rows than the export's split are passed by. Where the rows are the whole split,
            runs in `out` stay as they are.
        task: how the answers are scored; the dataset's own task without it.

    Returns:
        Label -> scores; people come first.

    Raises:
        InputError: there is no such annotator, the rows have no labels or no task, the label cannot
            name a folder, no finished run beside is over the split, or another run is there
            already. Nothing is written then.
    """
    task = task_of(rows.dataset_name, task)
    if "candidates" in rows.table.column_names and set(rows.table["label"].to_pylist()) == {-1}:
        cause = "nobody has labelled the rows, so there is nothing to be right about"
        cure = "label them with 'pronominal annotate keep', and ask others about the result"
        raise InputError(cause, cure=cure, file=rows.file)
    runs = [_of_people(answers, rows, out, annotator, label)]
    if beside is not None:
        runs += _of_systems(answers, rows, beside, out)
    for run in runs:
        there = run.predictions is not None and run.folder.exists()
        if there and read_record(run.folder).differences(run.record):
            cure = "give another --out or --label, or remove it"
            raise InputError("there is another run already", cure=cure, file=run.folder)
    return {run.record.label: _scores(run, rows, task) for run in runs}


def _of_people(answers: Answers, rows: Split, out: Path, annotator: str | None, label: str) -> _Run:
    said = verdicts(answers, rows)
    if annotator is None:
        chosen = {name: majority(given) for name, given in said.items()}
    elif annotator in answers.annotators:
        column = answers.annotators.index(annotator)
        chosen = {name: given[column] for name, given in said.items()}
    else:
        raise unknown_name("annotator", annotator, answers.annotators)
    answers_of = annotator or f"the majority of {len(answers.annotators)} annotators"
    settings = {"answers_of": answers_of, "answers_digest": answers.digest()[:12]}
    record = new_record(rows, SystemRecord(label, "people"), label, settings)
    finished = replace(record, times=Times(now(), now()), complete=True)
    predictions = [Prediction(name, decision(verdict)) for name, verdict in chosen.items()]
    return _Run(finished, out / run_name(rows, label), predictions)


def _of_systems(answers: Answers, rows: Split, runs: Path, out: Path) -> list[_Run]:
    found = [*_cut(answers, rows, runs, out)]
    if not found:
        cause = f"it has no finished run over {answers.key.dataset} as it was exported"
        raise InputError(cause, cure="make one with 'pronominal evaluate'", file=runs)
    return found


def _cut(answers: Answers, rows: Split, runs: Path, out: Path) -> Iterator[_Run]:
    asked, digest = answers.key.rows, answers.key.dataset.digest
    for file in sorted(runs.rglob(RUN)):
        run, record = file.parent, read_record(file.parent)
        if record.dataset.digest != digest or record.system.kind == "people":
            continue
        record = as_left(run, record)
        if not record.complete:
            continue
        folder = out / run_name(rows, record.label)
        if folder.resolve() == run.resolve() and rows.digest == digest:
            scored = (run / SCORE).exists()
            yield _Run(record, run, scores=read_scores(run / SCORE) if scored else None)
            continue
        kept = [given for _, given in read_predictions(run) if given.id in asked]
        failed = [failure for failure in read_failures(run).values() if failure.id in asked]
        yield _Run(replace(record, dataset=DatasetRecord.of(rows)), folder, kept, failed)


def _scores(run: _Run, rows: Split, task: Task) -> Scores:
    """Return a run's scores, which is written first, whole or not at all."""
    if run.scores is not None:
        return run.scores
    if run.predictions is None:
        return score_and_keep(rows, run.folder, task=task).scores
    abstained = [prediction.decision.abstained for prediction in run.predictions]
    counts = {"none": abstained.count("none"), "both": abstained.count("both")}
    record = replace(run.record, counts={"rows": len(run.predictions), **counts})
    with new_folder(run.folder) as beside:
        lines = "".join(prediction.line() for prediction in run.predictions)
        (beside / PREDICTIONS).write_text(lines, encoding="utf-8", newline="\n")
        write_failures(beside, run.failed)
        record = replace(record, predictions=PredictionsRecord.of(beside / PREDICTIONS))
        write_json(beside / RUN, record.to_json())
        return score_and_keep(rows, beside, task=task).scores

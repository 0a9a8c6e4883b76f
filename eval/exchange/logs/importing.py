"""The log of another evaluation program, as a run like any other."""

from dataclasses import dataclass, replace
from pathlib import Path

from pronominal.checksums import file_digest
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.exchange.importing import write_run
from pronominal.eval.exchange.logs import Log, log_reader
from pronominal.eval.exchange.logs.matching import LogMatcher, MatchedLog, missing_rows
from pronominal.eval.runs.failures import Failure
from pronominal.eval.runs.record import SystemRecord, new_record, run_name, run_path
from pronominal.eval.runs.run_folder import RunFolder
from pronominal.eval.scores import task_of
from pronominal.eval.task import Task

MISSING = "missing"


@dataclass(frozen=True, slots=True)
class ImportedLog:
    """A run that was made of a log.

    Attributes:
        path: the run's folder.
        rows: how many rows the program was asked about.
        of: how many rows the split has.
        failures: the rows that have no answer.
        disputed: ids of the rows that the program counts otherwise than we do.
    """

    path: Path
    rows: int
    of: int
    failures: list[Failure]
    disputed: list[str]


def import_log(  # noqa: PLR0913 - each one is an option of the command
    split: Split,
    program: str,
    file: Path,
    out: Path,
    *,
    system: str,
    skip_failed: bool = False,
    task: Task | None = None,
) -> ImportedLog:
    """Make a run of what a model answered under another program, and score it.

    A program that was asked about some of the rows makes a run over these, named as a run with
    ``--limit`` where they are the first ones. Decisions are read anew: from log-likelihoods, where
    several options at the top are *both*, from the letter, or from what the model wrote.

    Args:
        split: the rows that it was asked about, at least.
        program: a key of `pronominal.eval.exchange.logs.LOGS`.
        file: the log.
        out: the folder of runs, or the folder of this run if it holds a ``run.json``.
        system: what the system is to be called.
        skip_failed: whether rows that the program failed at, or did not come to, are failures of
            the run, instead of refusing the log.
        task: how the answers are scored; the dataset's own task without it.

    Raises:
        InputError: the log is not in the form, or not about these rows; or it is not finished, or
            has rows without an answer, and `skip_failed` is not set. Nothing is written then.
    """
    task = task_of(split.dataset_name, task)
    log, matcher = log_reader(program).read(file), LogMatcher([*split.stream()], file)
    for answer in log.answers:
        matcher.take(answer)
    matched, of = matcher.matched, split.num_rows
    split, failures = _asked_rows(split, log, matched, file, skip_failed=skip_failed)
    settings: dict[str, object] = {"format": program, "file": file_digest(file)}
    settings |= {"skip_failed": True} if skip_failed else {}
    described = SystemRecord(system, "language model", "log")
    record = replace(
        new_record(split, described, system, settings),
        engine=" ".join(str(log.told[key]) for key in ("program", "version") if log.told.get(key)),
        inference={name: value for name, value in log.told.items() if value is not None},
    )
    folder = RunFolder(run_path(out, run_name(split, system)), record)
    ids = split.table["id"].to_pylist()
    predictions = [matched.predictions[name] for name in ids if name in matched.predictions]
    write_run(split, folder, predictions, failures, task)
    return ImportedLog(folder.path, split.num_rows, of, failures, matched.disputed)


def _asked_rows(
    split: Split, log: Log, matched: MatchedLog, file: Path, *, skip_failed: bool
) -> tuple[Split, list[Failure]]:
    """Return the rows that the program was asked about, and those of them without an answer."""
    ids = split.table["id"].to_pylist()
    missing = missing_rows(ids, matched)
    if not (matched.predictions or matched.failed):
        raise InputError("the log has no answers", cure="run the program again", file=file)
    if skip_failed:
        causes = matched.failed | dict.fromkeys(missing, MISSING)
        return split, [Failure(name, causes[name]) for name in ids if name in causes]
    if not log.finished or matched.failed:
        cause = "the program did not come to its end"
        if matched.failed:
            name = min(matched.failed)
            cause = f"{len(matched.failed)} rows have no answer, such as {name}"
        raise InputError(cause, cure="let it finish, or add --skip-failed", file=file)
    if missing:
        asked = [row for row, name in enumerate(ids) if name in matched.predictions]
        split = split.only(asked)
    return split, []

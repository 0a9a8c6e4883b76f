"""Runs on disk that were scored, as tables and papers' figures take them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pronominal.errors import InputError
from pronominal.eval.runs.predictions import as_left
from pronominal.eval.runs.record import RUN, read_record
from pronominal.eval.runs.units import SCORE
from pronominal.eval.statistics.scores import Scores
from pronominal.json_files import read_object

AGAIN = "run 'pronominal evaluate' again"


@dataclass(frozen=True, slots=True)
class Run:
    """A scored run.

    Attributes:
        label: its name in tables.
        rows: dataset, config and split that it answers.
        scores: what ``score.json`` says.
        folder: its folder.
    """

    label: str
    rows: tuple[str, str, str]
    scores: Scores
    folder: Path


def read_runs(folder: Path) -> list[Run]:
    """Read every finished run in a folder that was scored, at any depth.

    Raises:
        InputError: there is no run at all, one is damaged, or its predictions were changed.
    """
    runs = []
    for path in sorted(folder.rglob(SCORE)):
        record = as_left(path.parent, read_record(path.parent))
        if record.complete:
            rows = (record.dataset.name, record.dataset.config, record.dataset.split)
            runs.append(Run(record.label, rows, read_scores(path), path.parent))
    if not runs and not any(folder.rglob(RUN)):
        cure = "make some with 'pronominal evaluate'"
        raise InputError("there is no run", cure=cure, file=folder)
    return runs


def read_scores(file: Path) -> Scores:
    """Read a run's `SCORE`; `InputError` if it is damaged, or holds no scores."""
    scores = read_object(file, cure=AGAIN)
    if not scores:
        raise InputError("it holds no scores", cure=AGAIN, file=file)
    found = Scores(scores)
    if (field := found.mismatch()) is not None:
        raise InputError(f"the field {field} fits no scores", cure=AGAIN, file=file)
    return found


def by_label(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Return the runs of each label; `InputError` if two of the same rows have one label."""
    labelled: dict[str, list[Run]] = {}
    for run in runs:
        for other in labelled.setdefault(run.label, []):
            if other.rows == run.rows:
                cause = f"this run and that in {other.folder} are both called {run.label}"
                cure = f"say which row they are, with --run ROW={run.folder}"
                raise InputError(cause, cure=cure, file=run.folder)
        labelled[run.label].append(run)
    return labelled

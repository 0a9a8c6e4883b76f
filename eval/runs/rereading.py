"""Another reading of a run's clusters, without asking the system again."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.split import Instance, Split
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.runs.failures import read_failures
from pronominal.eval.runs.folder import read_answers, read_given_answers
from pronominal.eval.runs.predictions import PREDICTIONS, Prediction, predictions_file, read_lines
from pronominal.eval.runs.readings import Row, reading_called
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Span


def reread(split: Split, run: Path, reading: str, out: Path) -> None:
    """Write the predictions of a finished run as another reading has them.

    Args:
        split: the rows of the run.
        run: its folder.
        reading: the name of the reading.
        out: the predictions file to write.

    Raises:
        InputError: there is no such reading, or the run is not finished, is of other rows or has
            no clusters.
    """
    read = reading_called(reading)
    read_answers(run, split)  # refuses other rows and missing ones
    if failed := read_failures(run):
        raise InputError(
            f"the run failed at {len(failed):,} rows, which no reading can answer",
            cure="run the same command again, which asks for them",
            file=run,
        )
    rows = list(clustered_rows(run / PREDICTIONS, split.stream()))
    with new_file(out) as beside, beside.open("w", encoding="utf-8") as file:
        for instance, clusters in rows:
            given = {"clusters": [[list(span) for span in cluster] for cluster in clusters]}
            file.write(Prediction(instance.id, read(instance, clusters), given).line())


def answers(
    path: Path, split: Split, reading: str | None = None, *, allow_missing: bool = False
) -> Sequence[Decision | None]:
    """Read the decisions of a predictions file, or make those that a reading makes of its clusters.

    Args:
        path: a predictions file, or the folder of a run.
        split: the rows that it answers.
        reading: the name of the reading; None for the decisions that stand there.
        allow_missing: return None for rows without a prediction, instead of refusing the file.

    Raises:
        InputError: see `pronominal.eval.runs.predictions.read_predictions` and `reread`.
    """
    decisions: Sequence[Decision | None] = (
        read_given_answers(path, split) if allow_missing else read_answers(path, split)
    )
    if reading is None:
        return decisions
    read = reading_called(reading)
    failed, rows = read_failures(path), clustered_rows(predictions_file(path), split.stream())
    # every row is read, since what is read of one may hang on the row before
    found = [(instance.id, read(instance, clusters)) for instance, clusters in rows]
    return [
        given if given is None or name in failed else decision
        for (name, decision), given in zip(found, decisions, strict=True)
    ]


def clustered_rows(file: Path, instances: Iterable[Instance]) -> Iterator[Row]:
    """Yield instances, in their order, with the clusters that a predictions file has of them.

    Raises:
        InputError: a line has no clusters, or none that are pairs of offsets.
    """
    clusters: dict[str, list[Cluster]] = {}
    for number, given in read_lines(file):
        clusters[given["id"]] = _clusters(given, file, number)
    for instance in instances:
        if isinstance(instance, ResolutionInstance):
            # a row that the run failed at is in no cluster
            yield instance, clusters.get(instance.id, [])


def _clusters(line: Mapping[str, Any], file: Path, number: int) -> list[Cluster]:
    if "clusters" not in line:
        raise InputError(
            "the run has no clusters, which readings are about",
            cure="give the run of a clustering system",
            file=file,
        )
    try:
        return [[Span(int(a), int(b)) for a, b in cluster] for cluster in line["clusters"]]
    except (TypeError, ValueError) as error:
        raise InputError(
            "these are no clusters",
            cure="write lists of pairs of offsets",
            file=file,
            row=f"line {number}",
        ) from error

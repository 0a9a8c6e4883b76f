"""Another decision rule over the clusters of a run, without asking the system again."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.published import Instance, Split
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.runs.answers import read_answers, read_given_answers
from pronominal.eval.runs.clustering_systems import clusters_of, prediction_of
from pronominal.eval.runs.decision_rules import ClusteredInstance, decision_rule
from pronominal.eval.runs.failures import read_failures
from pronominal.eval.runs.predictions import read_predictions
from pronominal.instances import ResolutionInstance


def reread(split: Split, run: Path, reading: str, out: Path) -> None:
    """Write the predictions of a finished run as another decision rule has them.

    Args:
        split: the rows of the run.
        run: its folder.
        reading: the name of the rule.
        out: the predictions file to write.

    Raises:
        InputError: there is no such rule, or the run is not finished, is of other rows or has no
            clusters.
    """
    rule = decision_rule(reading)
    read_answers(run, split)  # refuses other rows and missing ones
    if failed := read_failures(run):
        raise InputError(
            f"the run failed at {len(failed):,} rows, which no reading can answer",
            cure="run the same command again, which asks for them",
            file=run,
        )
    rows = list(clustered_rows(run, split.stream()))
    with new_file(out) as beside, beside.open("w", encoding="utf-8") as file:
        file.writelines(prediction_of(*row, rule).line() for row in rows)


def answers(
    path: Path, split: Split, reading: str | None = None, *, allow_missing: bool = False
) -> Sequence[Decision | None]:
    """Read the decisions of a predictions file, or decide anew on its clusters.

    Args:
        path: a predictions file, or the folder of a run.
        split: the rows that it answers.
        reading: the name of a decision rule; None for the file's own decisions.
        allow_missing: return None for rows without a prediction, instead of refusing the file.

    Raises:
        InputError: see `read_answers` and `reread`.
    """
    decisions: Sequence[Decision | None] = (
        read_given_answers(path, split) if allow_missing else read_answers(path, split)
    )
    if reading is None:
        return decisions
    rule, failed = decision_rule(reading), read_failures(path)
    # a row without an answer, too, since the decision about the next one may depend on it
    anew = [(row[0].id, rule(*row)) for row in clustered_rows(path, split.stream())]
    return [
        given if given is None or name in failed else decision
        for (name, decision), given in zip(anew, decisions, strict=True)
    ]


def clustered_rows(path: Path, instances: Iterable[Instance]) -> Iterator[ClusteredInstance]:
    """Yield instances, in their order, with the clusters that a predictions file has of them.

    Args:
        path: the file, or the folder of a run.
        instances: the rows; one that the run failed at is in no cluster.

    Raises:
        InputError: a line has no clusters, or none that are pairs of offsets.
    """
    clusters = {line.id: clusters_of(line, path, number) for number, line in read_predictions(path)}
    for instance in instances:
        if isinstance(instance, ResolutionInstance):
            yield instance, clusters.get(instance.id, [])

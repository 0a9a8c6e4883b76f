"""Another reading of a run's clusters, without asking the system again."""

from collections.abc import Iterator
from pathlib import Path

from pronominal.atomic import new_file
from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.errors import InputError, unknown_name
from pronominal.eval.predictions import PREDICTIONS, Prediction, parse_line
from pronominal.eval.readings import READINGS, SEQUENTIAL_READINGS, Row
from pronominal.eval.run_store import read_answers
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Span


def reread(split: PublishedSplit, run: Path, reading: str, out: Path) -> None:
    """Write the predictions of a finished run as another reading has them.

    Args:
        split: the rows of the run.
        run: its folder.
        reading: a key of `READINGS` or of `SEQUENTIAL_READINGS`.
        out: the predictions file to write.

    Raises:
        InputError: there is no such reading, or the run is not finished, is of other rows or has
            no clusters.
    """
    known = [*READINGS, *SEQUENTIAL_READINGS]
    if reading not in known:
        raise unknown_name("reading", reading, known)
    read_answers(run, split)  # refuses other rows and missing ones
    rows = list(_rows(split, run / PREDICTIONS))
    if reading in SEQUENTIAL_READINGS:
        decisions = list(SEQUENTIAL_READINGS[reading](rows))
    else:
        decisions = [READINGS[reading](*row) for row in rows]
    with new_file(out) as beside, beside.open("w", encoding="utf-8") as file:
        for (instance, clusters), decision in zip(rows, decisions, strict=True):
            given = {"clusters": [[list(span) for span in cluster] for cluster in clusters]}
            file.write(Prediction(instance.id, decision, given).line())


def _rows(split: PublishedSplit, file: Path) -> Iterator[Row]:
    """Yield every row of a split with its clusters, in the split's order."""
    lines = file.read_bytes().splitlines()
    found = (parse_line(line, file, number) for number, line in enumerate(lines, start=1))
    clusters: dict[str, list[Cluster]] = {}
    for line in found:
        if "clusters" not in line:
            raise InputError(
                "the run has no clusters, which readings are about",
                cure="give the run of a clustering system",
                file=file,
            )
        clusters[line["id"]] = [[Span(*span) for span in cluster] for cluster in line["clusters"]]
    for instance in split.stream():
        if isinstance(instance, ResolutionInstance):
            yield instance, clusters[instance.id]

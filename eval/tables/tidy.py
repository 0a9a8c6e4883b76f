"""Tidy scores: one row for each figure, for data frames and files."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from pronominal.atomic import new_file
from pronominal.errors import InputError
from pronominal.eval.statistics.scores import Keys, Scores
from pronominal.eval.tables.measure import Measure

WHOLE = "overall"
"""The subset of all rows."""

COLUMNS = ("subset", "measure", "value", "low", "high", "n")

SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("system", "label", "dataset", "config", "split")]
    + [(name, pa.string()) for name in ("subset", "measure")]
    + [(name, pa.float64()) for name in ("value", "low", "high")]
    + [("n", pa.int64()), ("unit", pa.string()), ("digest", pa.string())]
)
"""The columns of tidy scores: `COLUMNS`, and before and after them what they are of."""


def tidy_scores(
    measures: Sequence[Measure],
    units: str,
    scores: Mapping[str, Scores],
    systems: Mapping[str, str],
    **split: str,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of `SCHEMA` for the systems of one split.

    Args:
        measures: of the task.
        units: what figures are summed over where the scores do not say.
        scores: label -> scores.
        systems: label -> the system's name.
        split: ``dataset``, ``config``, ``split`` and ``digest``.
    """
    for label, one in scores.items():
        unit = one.get("intervals", {}).get("unit", units)
        about = {"system": systems[label], "label": label, "unit": unit, **split}
        yield from ({**about, **row} for row in tidy_rows(measures, one))


def tidy_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Return tidy scores as a table, in which numbers are numbers."""
    return pa.Table.from_pylist([*rows], SCHEMA)


def write_tidy(table: pa.Table, folder: Path) -> Path:
    """Write tidy scores as ``scores.parquet`` and ``scores.csv``; return the folder.

    Raises:
        InputError: it is called as a file would be.
    """
    if folder.suffix in {".csv", ".parquet"}:
        cure = "name a folder, which gets scores.csv and scores.parquet"
        raise InputError("the scores are two files", cure=cure, file=folder)
    folder.mkdir(parents=True, exist_ok=True)
    with new_file(folder / "scores.parquet") as temporary:
        pq.write_table(table, temporary)
    with new_file(folder / "scores.csv") as temporary:
        csv.write_csv(table, temporary)
    return folder


def tidy_rows(measures: Sequence[Measure], scores: Scores) -> Iterator[dict[str, Any]]:
    """Yield the figures of scores, each once, with the subset of the rows that it is of.

    Returns:
        Rows with the keys of `COLUMNS`. ``subset`` is ``overall``, or such as ``case=nominative``
        or ``case=nominative/pronoun_set=xe``; ``value``, ``low`` and ``high`` are as in the scores,
        so that shares are in [0, 1]; ``n`` counts the rows of the subset, or those of them that
        the figure is of.
    """
    there = [(m, subset, path) for m in measures for subset, path in _subsets(m, scores)]
    of_subsets = {path for _, subset, path in there if subset != WHOLE}
    rows: dict[str, int | None] = {}
    for _, subset, path in there:
        figure = scores.figure(path)
        if figure is not None and scores.is_of_rows(path):
            rows.setdefault(subset, figure.n)
    for measure, subset, path in there:
        figure = scores.figure(path)
        # such as GAP's masculine F1, which is the F1 of a subset
        if figure is not None and not (subset == WHOLE and path in of_subsets):
            n = figure.n if scores.is_of_rows(path) else rows.get(subset)
            facts = (figure.value, figure.low, figure.high, n)
            yield dict(zip(COLUMNS, (subset, measure.key, *facts), strict=True))


def named_figures(measures: Sequence[Measure], scores: Scores) -> dict[str, float]:
    """Return the figures of scores that are defined, by one name each, for programs that log.

    A name is such as ``accuracy``, or ``accuracy/pronoun_set=xe`` of a subset.
    """
    return {
        row["measure"] if row["subset"] == WHOLE else f"{row['measure']}/{row['subset']}": value
        for row in tidy_rows(measures, scores)
        if (value := row["value"]) is not None
    }


def _subsets(measure: Measure, scores: Scores) -> Iterator[tuple[str, Keys]]:
    yield WHOLE, measure.path
    for division, pattern in measure.divisions.items():
        for (part,), path in scores.paths(pattern):
            if path != measure.path:
                yield subset_of(division, part), path


def subset_of(division: str, part: str) -> str:
    """Name the rows of a part.

    >>> subset_of("case/pronoun_set", "nominative/xe"), subset_of("pronoun", "he/she")
    ('case=nominative/pronoun_set=xe', 'pronoun=he/she')
    """
    kinds, names = division.split("/"), part.split("/")
    if len(kinds) != len(names):
        return f"{division}={part}"
    return "/".join(f"{kind}={name}" for kind, name in zip(kinds, names, strict=True))

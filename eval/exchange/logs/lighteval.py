"""lighteval: the details of a task, Parquet with the columns ``doc`` and ``model_response``.

Rows are shuffled there, and ``doc.id`` is a number: the row's own id has to be in
``doc.specific``, where a prompt function puts it. Written against lighteval 0.13.0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.decisions import Decision, likeliest
from pronominal.errors import InputError
from pronominal.eval.exchange.logs import Log, LoggedAnswer, not_as_expected

PROGRAM = "lighteval"


def read(file: Path) -> Log:
    """Return what the details of a task say."""
    try:
        rows = pq.ParquetFile(file).read().to_pylist()
    except (pa.ArrowException, OSError) as error:
        cause = "the Parquet file cannot be read"
        raise InputError(cause, cure="give a details_TASK_DATE.parquet", file=file) from error
    return Log(_answers(file, rows), told={"program": PROGRAM})


def _answers(file: Path, rows: list[dict[str, Any]]) -> Iterator[LoggedAnswer]:
    for number, row in enumerate(rows):
        place = f"row {number}"
        try:
            yield _answer(row, place)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise not_as_expected(file, PROGRAM, place, error) from error


def _answer(row: Mapping[str, Any], place: str) -> LoggedAnswer:
    doc, said = row["doc"], row["model_response"]
    name = (doc.get("specific") or {}).get("id")
    about = LoggedAnswer(
        place=place,
        id=None if name is None else str(name),
        text=str(doc["query"]),
        right=_right(row.get("metric")),
    )
    options = tuple(map(str, doc["choices"]))
    if not said.get("logprobs"):
        return replace(about, written=str(said["text"][0]))
    scores = tuple(float(one) for one in said["logprobs"][: len(options)])
    if len(scores) != len(options):
        raise ValueError("numbers")
    decision = Decision.among(likeliest(scores))
    return replace(about, options=options, decision=decision, scores=scores)


def _right(metrics: object) -> bool | None:
    """Return whether the row's accuracy is 1, by the first metric that has its name."""
    named = metrics if isinstance(metrics, dict) else {}
    found = [one for name, one in named.items() if "acc" in name and one is not None]
    return float(found[0]) == 1 if found else None

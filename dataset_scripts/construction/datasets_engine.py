"""The same stages over a `datasets.Dataset`, in its processes: text of the Hub, or in memory."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from pronominal.dataset_scripts.construction.constructed_dataset import COLUMNS, published
from pronominal.dataset_scripts.construction.duplicates import Duplicates
from pronominal.dataset_scripts.construction.engine import BATCH
from pronominal.dataset_scripts.construction.genders import load_names
from pronominal.dataset_scripts.construction.pipeline import Report, construct, stages
from pronominal.dataset_scripts.construction.rules import PAPER, Rules
from pronominal.dataset_scripts.construction.stage import DOCUMENTS, Stage, strings
from pronominal.dataset_scripts.tables.columns import arrow_schema
from pronominal.errors import InputError

if TYPE_CHECKING:
    from datasets import Dataset

NO_TEXT = "rows without text"


class Constructed(NamedTuple):
    """What became of a dataset.

    Attributes:
        dataset: the columns that ``pronominal construct`` publishes; ``document`` is the row.
        report: what each stage kept, and why the rest went.
    """

    dataset: "Dataset"
    report: Report


def construct_rows(
    dataset: "Dataset",
    *,
    column: str = "text",
    rules: Rules = PAPER,
    names: Path | None = None,
    num_proc: int | None = None,
) -> Constructed:
    """Construct a corpus from the texts of a dataset, in memory.

    Any number of processes gives the same rows, those that ``pronominal construct`` finds in the
    same texts.

    >>> constructed, report = construct_rows(load_dataset(...), num_proc=8)  # doctest: +SKIP

    Args:
        dataset: rows with texts, each of which is a document.
        column: where the texts are.
        rules: what a sentence has to be.
        names: CSV file with the genders of first names; None for gender-guesser's list.
        num_proc: number of processes, as in `datasets.Dataset.map`.

    Raises:
        InputError: the column does not exist or holds no strings, or as `engine.run`.
    """
    from datasets import Dataset, Features, Value

    kind = dataset.features.get(column)
    if not isinstance(kind, Value) or kind.dtype not in ("string", "large_string"):
        raise InputError(f"there is no column '{column}' of strings", cure="give another column")
    _stages(rules, names)  # what is wrong with them is wrong before any process starts
    rows = Features.from_arrow_schema(arrow_schema(COLUMNS, {}))
    found = dataset.with_format("arrow").map(
        send,
        with_indices=True,
        batched=True,
        batch_size=BATCH,
        num_proc=num_proc,
        remove_columns=dataset.column_names,
        features=Features({"rows": [rows], "report": Value("string")}),
        fn_kwargs={"column": column, "rules": rules, "names": names},
        # a cache does not know what the file of names held when it was written
        load_from_cache_file=False,
    )
    report = Report()
    table = pa.Table.from_batches(_unique(found, report), schema=arrow_schema(COLUMNS, {}))
    return Constructed(Dataset(table), report)


def send(
    texts: pa.Table, places: list[int], *, column: str, rules: Rules, names: Path | None
) -> pa.Table:
    """Send a batch of texts through the stages; return one row: what is left, and the report."""
    report, bodies = Report(), zip(places, texts[column].to_pylist(), strict=True)
    there = [("dataset", str(place), body) for place, body in bodies if body]
    report.damage[NO_TEXT] += len(places) - len(there)
    kept = construct(strings(DOCUMENTS, there), _stages(rules, names), report)
    rows = [published(row) for row in kept.to_pylist()]
    kind = pa.list_(pa.struct(list(arrow_schema(COLUMNS, {}))))
    told = [json.dumps(report.describe())]
    return pa.table({"rows": pa.array([rows], kind), "report": told})


@cache
def _stages(rules: Rules, names: Path | None) -> dict[str, Stage]:
    return stages(rules, load_names(names, guess=rules.guess_genders))


def _unique(found: Any, report: Report) -> Iterator[pa.RecordBatch]:
    unique = Duplicates()
    for part in found.with_format("arrow").iter(batch_size=1):
        report.add(json.loads(part["report"][0].as_py()))
        rows = pc.list_flatten(part["rows"]).combine_chunks()
        batch = pa.RecordBatch.from_struct_array(rows)
        kept = unique(batch)
        report.stages["duplicates"].add(batch.num_rows, kept)
        yield kept.rows.cast(arrow_schema(COLUMNS, {}))

"""A constructed corpus as a dataset like the others: card, offsets, switched twins, checks."""

import json
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.atomic import held_folder, new_folder
from pronominal.dataset_scripts.building import build, card
from pronominal.dataset_scripts.building.script import ORIGINAL, SWITCHED, BuiltSplit, SplitRows
from pronominal.dataset_scripts.construction import engine
from pronominal.dataset_scripts.construction.duplicates import Duplicates, sentence_key
from pronominal.dataset_scripts.construction.engine import Construction, parts
from pronominal.dataset_scripts.construction.pipeline import Report
from pronominal.dataset_scripts.construction.rejections import free_list, write_list
from pronominal.dataset_scripts.construction.words import TARGETS
from pronominal.dataset_scripts.tables.checksums import write_checksums
from pronominal.dataset_scripts.tables.columns import Column, arrow_schema, resolution_columns
from pronominal.errors import InputError
from pronominal.names import require_name
from pronominal.signals import signals_as_exits
from pronominal.switching import switched_rows

NAME = "constructed"
"""What every constructed corpus says that it is; `pronominal score` scores it as KnowRef."""
FOLDER = re.compile(r"[a-z0-9][a-z0-9_-]*")
SPLIT = re.compile(r"\w+", re.ASCII)
COLUMNS = (
    *resolution_columns("the two persons, in the order of the text", ("first", "second")),
    Column("giveaway", pa.int64(), "candidate that gender told before it was removed, or -1"),
    Column("gender", pa.string(), "of the pronoun: male or female"),
    Column("original", pa.string(), "the sentence before names were replaced"),
    Column("source", pa.string(), "name of the file that it is from"),
    Column("document", pa.string(), "place of its document in that file"),
)
TEXTS_IN_MEMORY = 10_000


@dataclass(frozen=True, slots=True)
class Description:
    """What the user says of a new corpus.

    Attributes:
        name: of its folder.
        split: of its only split, such as ``train``.
        licence: identifier of the licence of the text; None if it must not be published.
    """

    name: str = NAME
    split: str = "train"
    licence: str | None = None


def construct_dataset(
    construction: Construction,
    description: Description,
    out: Path,
    *,
    workers: int = 1,
    run: Callable[..., Report] = engine.run,
    progress: Callable[[int, int], None] = lambda done, shards: None,
) -> Report:
    """Construct a corpus and write it as ``OUT/NAME``; return what became of the text.

    A run that was killed goes on with the same call: its parts are in ``OUT/.NAME.parts`` until
    the dataset is written. A list of what was rejected, where the construction asks for one, is
    ``OUT/NAME.rejected.jsonl``, written also where no sentence is left.

    Args:
        construction: inputs and rules.
        description: what the card says.
        out: the folder in which the dataset's folder is made.
        workers: number of processes, or of tasks on a cluster; it changes nothing in the result.
        run: the engine, `engine.run` or `ray_engine.run`.
        progress: called with the shards done and their number (one machine).

    Raises:
        InputError: an input is missing or wrong, the folder or the list is something else's,
            another process is constructing it, or no sentence is left.
    """
    if not SPLIT.fullmatch(description.split):
        cure = "use letters, digits and _"
        raise InputError(f"no split can be called '{description.split}'", cure=cure)
    folder = free_folder(out, description.name, NAME)
    rejected = list_of(out, description.name)
    if construction.list_rejected is not None:
        free_list(rejected)
    work = out / f".{description.name}.parts"
    watched = {"progress": progress} if run is engine.run else {}
    begun = work.exists()
    with held_folder(work):
        try:
            report = run(construction, work, workers, **watched)
        except InputError:
            # the next try, with what was wrong put right, is not to meet a run without a part
            if not begun and not any(work.glob("*/*.parquet")):
                engine.remove_parts(work)
            raise
        if construction.list_rejected is not None:
            write_list(rejected, parts(construction, work))
        if not report.stages["replacement"].kept:
            # other inputs are not to meet these parts, with which nothing can be done
            engine.remove_parts(work)
            raise _nothing_left(report)
        _write(construction, description, report, folder, work)
        engine.remove_parts(work)
    return report


def list_of(out: Path, name: str) -> Path:
    """Return where the list of what was rejected stands: beside the dataset, not in it."""
    return out / f"{name}.rejected.jsonl"


def free_folder(out: Path, name: str, dataset: str) -> Path:
    """Return where a dataset of the user's own goes; `InputError` where that cannot be."""
    if not FOLDER.fullmatch(name):
        cure = "use small letters, digits, - and _"
        raise InputError(f"no folder can be called '{name}'", cure=cure)
    require_name("dataset name", name)
    folder = (out / name).resolve()
    build.refuse_others_files(folder, dataset)
    return folder


def _write(
    construction: Construction, description: Description, report: Report, folder: Path, work: Path
) -> None:
    canary = canary_of(construction, description)
    with signals_as_exits(), new_folder(folder) as beside:
        tables = rows(construction, work, report)
        original = SplitRows(ORIGINAL, description.split, COLUMNS, tables)
        built = [build.write_split(NAME, original, canary, beside)]
        path = beside / built[0].path
        switched = SplitRows(SWITCHED, description.split, COLUMNS, _switched(path))
        built.append(build.write_split(NAME, switched, canary, beside))
        _write_card(construction, description, report, built, canary, beside / "README.md")
        write_checksums(beside)


def _nothing_left(report: Report) -> InputError:
    reasons = [
        f"{name}: {max(counts.dropped, key=counts.dropped.__getitem__)}"
        for name, counts in report.stages.items()
        if counts.read and counts.read == counts.dropped.total()
    ]
    damage = list(report.damage)[:1]
    why = (reasons or damage or ["there was no text"])[-1]
    return InputError(f"no sentence is left ({why})", cure="give more text, or check --input")


def canary_of(construction: Construction, description: Description) -> str:
    """Return the corpus's own canary: the same inputs and rules have the same one."""
    told = construction.describe()
    told["files"] = [[Path(name).name, size] for name, size, _ in told["files"]]
    content = json.dumps([description.name, description.split, told], sort_keys=True)
    return f"pronominal:{description.name}:{uuid.uuid5(uuid.NAMESPACE_OID, content)}"


def rows(construction: Construction, work: Path, report: Report) -> Iterator[pa.Table]:
    """Yield the published rows of a finished run, without duplicates, and complete the report."""
    unique = Duplicates()
    for _, part in parts(construction, work):
        for batch in pq.read_table(part).to_batches():
            kept = unique(batch)
            report.stages["duplicates"].add(batch.num_rows, kept)
            found = [published(row) for row in kept.rows.to_pylist()]
            yield pa.Table.from_pylist(found, schema=arrow_schema(COLUMNS, {}))


def published(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row that came through the stages as it is published."""
    return {
        **{column.name: row[column.name] for column in COLUMNS if column.name in row},
        "id": sentence_key(row["original"]).hex(),
        "gender": TARGETS[row["pronoun"]["text"].lower()],
    }


def _switched(path: Path) -> Iterator[pa.Table]:
    """Yield the rows of a written split switched, without those that cannot be."""
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(TEXTS_IN_MEMORY):
            found = switched_rows(batch.drop_columns(["canary"]).to_pylist())
            yield pa.Table.from_pylist([*found], schema=arrow_schema(COLUMNS, {}))


def _write_card(
    construction: Construction,
    description: Description,
    report: Report,
    built: list[BuiltSplit],
    canary: str,
    path: Path,
) -> None:
    told = construction.rules.describe()
    del told["connectives"]["common_words"]
    if told["pipeline"]:
        # a folder's place says where somebody keeps their files
        told["pipeline"] = Path(told["pipeline"]).name
    fields = {"pretty_name": description.name, "canary": canary}
    fields["license"] = description.licence or "unknown"
    card.write_page(
        NAME,
        fields,
        built,
        path,
        unpublishable=[] if description.licence else [f"{b.config}/{b.name}" for b in built],
        name=description.name,
        report="\n".join(report.lines()),
        rules=json.dumps(told, indent=2),
        labelled=construction.rules.labels == "gender",
        sources=sorted({Path(name).name for name, _, _ in construction.describe()["files"]}),
    )

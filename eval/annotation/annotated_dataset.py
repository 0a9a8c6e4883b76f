"""The rows that annotators agree on as a dataset like the others: card, offsets, switched twins."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from pronominal.atomic import new_folder
from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building import build, card
from pronominal.dataset_scripts.building.script import (
    ORIGINAL,
    SWITCHED,
    DatasetScript,
    SplitRows,
    dataset_script,
)
from pronominal.dataset_scripts.construction import constructed_dataset
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.tables.checksums import write_checksums
from pronominal.dataset_scripts.tables.columns import Column, Columns
from pronominal.errors import InputError
from pronominal.eval.annotation.strong_agreement import Kept
from pronominal.json_files import write_json
from pronominal.names import require_name
from pronominal.signals import signals_as_exits
from pronominal.switching import switched_rows

REPORT = "annotation.json"
PAGE = "annotated"
VOTES = Column("votes", pa.int64(), "annotators who chose the label")


def write_annotated_dataset(
    rows: Split, kept: Kept, out: Path, name: str, split: str = "test"
) -> Path:
    """Write the rows that stay as the dataset ``OUT/NAME``, labelled by their annotators.

    It has the columns of the rows and `VOTES`, beside it the report ``OUT/NAME.annotation.json``,
    and the config ``switched`` where the dataset that the rows are from has one. `InputError` if no
    row stays, or the folder is something else's.
    """
    if not kept.labels:
        cause = f"no row has {kept.needed} votes for one candidate"
        raise InputError(cause, cure="ask about more rows")
    require_name("split name", split)
    folder = constructed_dataset.free_folder(out, name, rows.dataset_name)
    source = rows.file.parent.parent
    if folder == source.resolve():
        raise InputError("the rows are from this folder", cure="give another --name", file=folder)
    header = _header(source)
    columns = (*_columns(rows), VOTES)
    with signals_as_exits(), new_folder(folder) as temporary:
        tables = {rows.config: [*_labelled(rows, kept)]}
        if rows.config == ORIGINAL and (source / SWITCHED).is_dir():
            tables[SWITCHED] = [*switched_rows(tables[ORIGINAL])]
        splits = [
            SplitRows.from_rows(c, split, columns, found) for c, found in tables.items() if found
        ]
        canary = str(header["canary"])
        built = [build.write_split(rows.dataset_name, each, canary, temporary) for each in splits]
        names = [f"{one.config}/{one.name}" for one in built]
        kept_back = names if _kept_back(rows, header) else []
        fields = {"pretty_name": name, "canary": header["canary"]}
        fields["license"] = header.get("license") or "unknown"
        told: dict[str, Any] = {"name": name, "rows": rows, "kept": kept, "report": kept.describe()}
        card.write_page(
            PAGE, fields, built, temporary / "README.md", unpublishable=kept_back, **told
        )
        write_checksums(temporary)
    write_json(folder.with_name(f"{name}.{REPORT}"), kept.describe())
    return folder


def _script(rows: Split) -> DatasetScript | None:
    """Return the script of the rows' dataset; None for one of the user's own."""
    return dataset_script(rows.dataset_name) if rows.dataset_name in DATASETS else None


def _columns(rows: Split) -> Columns:
    """Return the columns of a dataset as its script describes them."""
    script = _script(rows)
    columns = script.COLUMNS if script else constructed_dataset.COLUMNS
    described = {column.name: column for column in columns}
    return tuple(
        described.get(field.name) or Column(field.name, field.type, "as in the source")
        for field in rows.table.schema
        if field.name != VOTES.name
    )


def _labelled(rows: Split, kept: Kept) -> Iterator[dict[str, Any]]:
    for row in rows.table.to_pylist():
        if row["id"] in kept.labels:
            label, votes = kept.labels[row["id"]]
            yield {**row, "label": label, VOTES.name: votes}


def _header(source: Path) -> dict[str, Any]:
    """Return the header of the card of the dataset that the rows are from."""
    path = source / "README.md"
    try:
        header = yaml.safe_load(path.read_text(encoding="utf-8").split("---\n")[1])
        return {"canary": header["canary"], **header}
    except (OSError, ValueError, LookupError, TypeError, yaml.YAMLError) as error:
        raise InputError(
            "the card has no header with a canary", cure="build the dataset again", file=path
        ) from error


def _kept_back(rows: Split, header: dict[str, Any]) -> bool:
    """Say whether the rows must not be published, under any name of a split."""
    script = _script(rows)
    return (
        f"{rows.config}/{rows.name}" in (header.get("unpublishable") or ())
        or (script is not None and rows.name in script.UNPUBLISHABLE)
        or not header.get("license")
    )

"""The rows that annotators agree on as a dataset like the others: card, offsets, switched twins."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from pronominal.atomic import new_folder
from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building import build, card
from pronominal.dataset_scripts.building.script import BuiltSplit, SplitRows, dataset_script
from pronominal.dataset_scripts.construction import result
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.tables.checksums import write_checksums
from pronominal.dataset_scripts.tables.columns import Column, Columns
from pronominal.errors import InputError
from pronominal.eval.annotation.strong_agreement import Kept
from pronominal.eval.runs.folder import write_json
from pronominal.signals import signals_as_exits
from pronominal.switching import Unswitchable, switch_row

REPORT = "annotation.json"
PAGE = "annotated"
VOTES = Column("votes", pa.int64(), "annotators who chose the label")


def write_dataset(rows: Split, kept: Kept, out: Path, name: str, split: str = "test") -> Path:
    """Write the rows that stay as the dataset ``OUT/NAME``, labelled by their annotators.

    It has the columns of the rows and `VOTES`, beside it the report ``OUT/NAME.annotation.json``,
    and the config ``switched`` where the dataset that the rows are from has one.

    Raises:
        InputError: no row stays, or the folder is something else's.
    """
    if not kept.labels:
        raise InputError(
            f"no row has {kept.needed} votes for one candidate", cure="ask about more rows"
        )
    folder, source = _free_folder(rows, out, name), rows.file.parent.parent
    header = _header(source)
    columns = (*_columns(rows), VOTES)
    with signals_as_exits(), new_folder(folder) as beside:
        tables = {rows.config: [*_labelled(rows, kept)]}
        if rows.config == "original" and (source / "switched").is_dir():
            tables["switched"] = [*_switched(tables["original"])]
        built = [
            build.write_split(
                rows.dataset_name,
                SplitRows.from_rows(config, split, columns, found),
                str(header["canary"]),
                beside,
            )
            for config, found in tables.items()
            if found
        ]
        _write_card(rows, kept, name, header, built, beside / "README.md")
        write_checksums(beside)
    write_json(folder.with_name(f"{name}.{REPORT}"), kept.describe())
    return folder


def _free_folder(rows: Split, out: Path, name: str) -> Path:
    """Return the dataset's folder; `InputError` where it would replace something else."""
    folder = result.free_folder(out, name, rows.dataset_name)
    if folder == rows.file.parent.parent.resolve():
        raise InputError("the rows are from this folder", cure="give another --name", file=folder)
    return folder


def _columns(rows: Split) -> Columns:
    """Return the columns of a dataset as its script describes them."""
    script = dataset_script(rows.dataset_name) if rows.dataset_name in DATASETS else result
    described = {column.name: column for column in getattr(script, "COLUMNS", ())}
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


def _switched(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in found:
        try:
            yield switch_row(row)
        except Unswitchable:
            continue


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
    """Say whether the rows must stay where they are, whatever their new split is called."""
    script = dataset_script(rows.dataset_name) if rows.dataset_name in DATASETS else None
    return (
        f"{rows.config}/{rows.name}" in (header.get("unpublishable") or ())
        or rows.name in getattr(script, "UNPUBLISHABLE", ())
        or not header.get("license")
    )


def _write_card(
    rows: Split,
    kept: Kept,
    name: str,
    source: dict[str, Any],
    built: list[BuiltSplit],
    path: Path,
) -> None:
    card.write_page(
        PAGE,
        {
            "pretty_name": name,
            "canary": source["canary"],
            "license": source.get("license") or "unknown",
        },
        built,
        path,
        unpublishable=(
            [f"{one.config}/{one.name}" for one in built] if _kept_back(rows, source) else []
        ),
        name=name,
        rows=rows,
        kept=kept,
        report=kept.describe(),
    )

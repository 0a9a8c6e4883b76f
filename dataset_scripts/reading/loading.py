"""Splits read back and checked: from a folder, the Hub, or a `datasets.Dataset`."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.script import DatasetScript, dataset_script
from pronominal.dataset_scripts.reading.folders import open_dataset, split_files
from pronominal.dataset_scripts.reading.sampling import Draws
from pronominal.dataset_scripts.reading.split import FIRST, SAMPLED, Split, whole_and_part
from pronominal.dataset_scripts.tables.columns import MENTION, Column, Columns, resolution_columns
from pronominal.dataset_scripts.tables.digests import blocks, content_digest
from pronominal.dataset_scripts.tables.inspection import Inspection
from pronominal.dataset_scripts.tables.parquet_files import (
    dataset_of,
    open_parquet,
    read_parquet,
    row_groups,
    without_canary,
)
from pronominal.errors import InputError
from pronominal.names import require_name

if TYPE_CHECKING:
    from datasets import Dataset

MOST_IN_MEMORY = 100_000
"""Rows of the largest split that is read with its texts."""

RESOLUTION = resolution_columns("the two possible antecedents", ())
FILLING = (
    *(column for column in RESOLUTION if column.name in ("id", "text", "label")),
    Column("blank", MENTION, "the slot and its offsets in `text`"),
    Column("options", pa.list_(pa.string()), "the forms that may fill the slot"),
)


def load_split(
    dataset: "str | Path | Dataset", config: str | None = None, split: str = "test"
) -> Split:
    """Read one split of a dataset, or several joined by ``+`` such as ``seed_13+seed_17``.

    Of joined splits every row is there once. A single one of more than `MOST_IN_MEMORY` rows stays
    on the disk; it is gone through for its digest and faults.

    Args:
        dataset: the dataset's folder, its id on the Hub, or a `datasets.Dataset` with the columns
            of a published table, which is one split.
        config: the config's name; the one that the card calls default when None.
        split: the split's name. ``test.first-48`` are its first rows, which a run with a limit
            answers; ``test.sampled-960`` those that a run `until` some precision answers first.

    Raises:
        InputError: the config or split does not exist, a file is damaged, or a row is wrong.
    """
    for what, given in {"config": config or "", "split": split}.items():
        if not isinstance(given, str):
            raise InputError(f"the {what} is {given!r:.40}", cure=f"give the {what}'s name")
    if not isinstance(dataset, str | Path):
        return _of_dataset(dataset, config, split)
    whole, part = whole_and_part(split)
    if part is not None and split == f"{whole}{SAMPLED}{part}":
        return Draws(load_split(dataset, config, whole)).first(part)
    if part is not None and split == f"{whole}{FIRST}{part}":
        return load_split(dataset, config, whole).first(part)
    if "+" in split:
        names = split.split("+")
        if len({*names}) < len(names):
            raise InputError(f"the splits {split} are not all different", cure="name each one once")
        return _joined([read_split(dataset, config, name) for name in names], split)
    config, files = split_files(dataset, config, split)
    large = sum(open_parquet(file).metadata.num_rows for file in files) > MOST_IN_MEMORY
    return _of_files(files, config, split, on_disk=large)


def read_split(dataset: str | Path, config: str | None = None, split: str = "test") -> Split:
    """Read one split into memory, however large it is; else as `load_split`."""
    config, files = split_files(dataset, config, split)
    return _of_files(files, config, split, on_disk=False)


def dataset_name(dataset: str | Path, config: str | None = None) -> str:
    """Return the name of the dataset in a folder or on the Hub, by one of its files.

    Raises:
        InputError: there is none, or not this config.
    """
    folder = open_dataset(dataset)
    files = sorted(folder.glob(f"{config or '*'}/*.parquet"))
    if not files:
        split_files(dataset, config, "test")  # says what is wrong with it
    return _named(files[0])[0]


def _of_files(files: Sequence[Path], config: str, split: str, *, on_disk: bool) -> Split:
    name, script = _named(files[0])
    table = None if on_disk else _fitted(read_parquet(files), script)
    rows = row_groups(files) if table is None else [table]

    def with_ids() -> pa.Table:
        return read_parquet(files, columns=["id"]) if table is None else table

    digest = _digest_of_sound(rows, with_ids, script, files[0])
    return Split(name, config, split, table, digest, files[0], tuple(files))


def _named(file: Path) -> tuple[str, DatasetScript | None]:
    """Return the name of a file's dataset, and the script of one of ours."""
    named = dataset_of(open_parquet(file).schema_arrow, file)
    # rows that a user wrote are named by their folder, and are not ours whatever its name is
    return named or _safe_name(file.parent.parent.name, "dataset"), _script(named)


def _joined(parts: Sequence[Split], split: str) -> Split:
    joined = pa.concat_tables([part.table for part in parts])
    first: dict[str, int] = {}
    for row, name in enumerate(joined["id"].to_pylist()):
        first.setdefault(name, row)
    table = joined.take([*first.values()]).combine_chunks()
    return replace(parts[0], name=split, in_memory=table, digest=content_digest(table))


def _of_dataset(dataset: "Dataset", config: str | None, split: str) -> Split:
    """Return the rows of a `datasets.Dataset`, named after what it says of itself."""
    if not hasattr(dataset, "with_format") or not hasattr(dataset, "info"):
        cure = "give a folder, an id of the Hub, or one split as a datasets.Dataset"
        if isinstance(dataset, Sequence):
            cure = "give datasets.Dataset.from_list(rows)"
        elif isinstance(dataset, Mapping) and any(
            hasattr(rows, "info") for rows in dataset.values()
        ):
            cure = f"give one of its splits, such as rows[{next(iter(dataset))!r}]"
        raise InputError(f"rows were given as a {type(dataset).__name__}", cure=cure)
    name = _safe_name(dataset.info.dataset_name, "dataset")
    config = config or _safe_name(dataset.info.config_name, "default", "config")
    if split == "test":
        # of test[:100] the slice is left out: a run knows its rows by their digest
        parts = [part.partition("[")[0] for part in str(dataset.split or split).split("+")]
        split = "+".join(_safe_name(part, split, "split") for part in parts)
    script, file = _script(name), Path(name, config, split)
    table = _fitted(without_canary(dataset.with_format("arrow")[:]), script)
    digest = _digest_of_sound([table], lambda: table, script, file)
    return Split(name, config, split, table, digest, file)


def _digest_of_sound(
    rows: Iterable[pa.Table],
    with_ids: Callable[[], pa.Table],
    script: DatasetScript | None,
    file: Path,
) -> str:
    """Return the content digest of a split's tables; `InputError` for the first fault."""

    def refuse(fault: str, row: int | None) -> InputError:
        cure = "build the dataset again" if script else "mend the dataset"
        return InputError(fault, cure=cure, file=file, row=None if row is None else f"row {row}")

    inspection: Inspection | None = None
    for block in blocks(rows):
        inspection = inspection or Inspection(refuse, _columns(script, block.schema))
        inspection.take(block)
        del block  # not kept beside the next one
    if inspection is None:
        raise refuse("the table is empty", None)
    return inspection.finish(with_ids)


def _script(dataset: str | None) -> DatasetScript | None:
    """Return the script of a dataset of ours; None for a user's."""
    return dataset_script(dataset) if dataset is not None and dataset in DATASETS else None


def _columns(script: DatasetScript | None, schema: pa.Schema) -> Columns:
    """Return the columns that a table must have: those of its script, or of its kind of row."""
    if script is not None:
        return script.COLUMNS
    return FILLING if "options" in schema.names else RESOLUTION


def _fitted(table: pa.Table, script: DatasetScript | None) -> pa.Table:
    """Return a user's table with the types of published ones: users write wider integers."""
    if script is not None:
        return table
    for column in _columns(script, table.schema):
        position = table.schema.get_field_index(column.name)
        if position >= 0 and table.schema.field(position).type != column.type:
            # what cannot be cast is refused by its type
            with suppress(pa.ArrowException):
                values = _cast(table.column(position), column.type)
                table = table.set_column(position, column.name, values)
    return table


def _cast(values: pa.ChunkedArray, wanted: pa.DataType) -> pa.ChunkedArray:
    """Cast to a type; the fields of structs may come in another order, as some writers sort."""
    if values.type != wanted and _fields(values.type) == _fields(wanted):
        return pa.chunked_array([pa.array(values.to_pylist(), wanted)])
    return values.cast(wanted)


def _fields(kind: pa.DataType) -> object:
    """Return the names of a type's fields without their order, and what lies below them."""
    if pa.types.is_struct(kind):
        return frozenset((field.name, _fields(field.type)) for field in kind)
    return [_fields(kind.value_type)] if pa.types.is_list(kind) else None


def _safe_name(name: str | None, otherwise: str, kind: str = "dataset") -> str:
    """Return a name that can be that of a folder; `InputError` for one that cannot."""
    if not name:
        return otherwise
    require_name(f"{kind} name", name)
    return name

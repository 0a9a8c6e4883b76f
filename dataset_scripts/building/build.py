"""From a dataset script to a folder that `datasets.load_dataset` reads."""

from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.atomic import new_folder, no_room_named
from pronominal.dataset_scripts.building.benchmark import write_eval_yaml
from pronominal.dataset_scripts.building.card import card_header, write_card
from pronominal.dataset_scripts.building.croissant import write_croissant
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import (
    BuiltSplit,
    DatasetScript,
    SplitRows,
    built_name,
    dataset_script,
)
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.tables.checksums import SUMS, read_checksums, write_checksums
from pronominal.dataset_scripts.tables.columns import CANARY, arrow_schema
from pronominal.dataset_scripts.tables.digests import BLOCK, blocks
from pronominal.dataset_scripts.tables.inspection import Inspection
from pronominal.dataset_scripts.tables.parquet_files import dataset_of
from pronominal.errors import InputError
from pronominal.signals import signals_as_exits

FRONT_CODED = ("id", "text")
"""Columns whose strings begin like the row before, of which only the rest is stored."""


def build(
    name: str,
    out: str | Path = "out",
    *,
    sources: str | Path | None = None,
    allow_changed: bool = False,
    **options: Any,
) -> Path:
    """Build a dataset from its upstream files, and return its folder, ``OUT/NAME``.

    Where an option makes another dataset of the same files, its name is added to the folder's.

    Args:
        name: the dataset, such as ``"winopron"``; `pronominal datasets` lists them.
        out: the folder in which its folder is made.
        sources: folder with the upstream files; None downloads them.
        allow_changed: whether upstream files that are not the pinned ones may be used.
        options: what the dataset's script declares in ``OPTIONS``, such as ``repair_case=True``; a
            value, or the file that holds it.

    Raises:
        InputError: there is no such dataset or option, a source is missing, changed or wrong, or
            the folder is something else's.
    """
    script = dataset_script(name)
    asked = BuildOptions.read(name, script.OPTIONS, options)
    root = None if sources is None else Path(sources)
    write_dataset(script, Sources(root, allow_changed), asked, Path(out))
    return Path(out) / built_name(script, asked)


def write_dataset(
    script: DatasetScript, sources: Sources, options: BuildOptions, out: Path
) -> list[BuiltSplit]:
    """Write ``OUT/NAME``: a Parquet file for each split, card, metadata and SHA256SUMS.

    The folder appears whole or not at all; one that is there already is replaced if it holds this
    dataset, and refused otherwise.

    Raises:
        InputError: a source is missing, changed or wrong, or the folder is something else's.
    """
    name = built_name(script, options)
    folder = (out / name).resolve()
    refuse_others_files(folder, name)
    canary = str(card_header(script.NAME)["canary"])
    with signals_as_exits(), new_folder(folder) as beside:
        built = [
            write_split(name, split, canary, beside) for split in script.splits(sources, options)
        ]
        write_card(script, built, sources, options, beside / "README.md")
        write_eval_yaml(script.NAME, name, built, beside)
        write_croissant(name, beside)
        write_checksums(beside)
    return built


def refuse_others_files(folder: Path, dataset: str) -> None:
    """Refuse a folder that holds anything but `dataset`, since it is replaced as a whole."""
    if not folder.exists():
        return
    remove = "choose another --out or remove it"
    if not (folder / SUMS).exists():
        cause = "the folder exists and is not a built dataset"
        raise InputError(cause, cure=remove, file=folder)
    sums = read_checksums(folder)
    if _datasets_named_in(folder, sums) != {dataset}:
        raise InputError(f"the folder exists and is not {dataset}", cure=remove, file=folder)
    listed = {folder / path for path in (*sums, SUMS)}
    for path in sorted({path for path in folder.rglob("*") if path.is_file()} - listed):
        cause = "it is no file of the dataset, and building again would remove it"
        raise InputError(cause, cure="move it away or choose another --out", file=path)


def _datasets_named_in(folder: Path, listed: Iterable[str]) -> set[str | None]:
    """Return the datasets that the tables say they hold; None if one says none or is damaged."""
    names: set[str | None] = set()
    for path in listed:
        file = folder / path
        if PurePosixPath(path).match("*/*.parquet") and file.is_file():
            try:
                names.add(dataset_of(pq.read_schema(file), file))
            except (pa.ArrowException, OSError, InputError):
                names.add(None)
    return names


def write_split(dataset: str, split: SplitRows, canary: str, folder: Path) -> BuiltSplit:
    """Check a split and write it as ``CONFIG/SPLIT.parquet`` below a folder."""
    path = Path(split.config) / f"{split.name}.parquet"
    (folder / path).parent.mkdir(exist_ok=True)
    facts = {"dataset": dataset, "config": split.config, "split": split.name, "canary": canary}
    columns = (*split.columns, CANARY)
    schema = arrow_schema(columns, facts)

    def refuse(fault: str, row: int | None) -> InputError:
        cure = "mend the upstream row or report it"
        return InputError(fault, cure=cure, file=f"{dataset}/{path}", row=f"row {row}")

    inspection, num_bytes = Inspection(refuse), 0
    # one row group from one contiguous block: the same rows give the same bytes, however streamed
    with no_room_named(folder / path), _parquet_writer(folder / path, schema) as writer:
        for block in blocks(split.tables):
            inspection.take(block)
            marked = block.append_column(CANARY.name, pa.repeat(canary, block.num_rows))
            writer.write_table(marked.cast(schema), row_group_size=BLOCK)
            num_bytes += marked.nbytes
    return BuiltSplit(
        config=split.config,
        name=split.name,
        columns=columns,
        path=path,
        digest=inspection.finish(lambda: pq.read_table(folder / path, columns=["id"])),
        rows=inspection.rows,
        num_bytes=num_bytes,
        file_bytes=(folder / path).stat().st_size,
    )


def _parquet_writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    """Return a writer whose files are small and hold no sentence outside compressed pages."""
    leaves = [leaf for field in schema for leaf in _leaves(field.name, field.type)]
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        compression_level=3,
        use_dictionary=[leaf for leaf in leaves if leaf not in FRONT_CODED],
        column_encoding={leaf: "DELTA_BYTE_ARRAY" for leaf in leaves if leaf in FRONT_CODED},
        # least and greatest values would be in the footer in plain text
        write_statistics=False,
        write_page_index=True,
    )


def _leaves(name: str, kind: pa.DataType) -> Iterator[str]:
    """Yield the names that Parquet gives to the columns of primitive values in a column."""
    if pa.types.is_struct(kind):
        for field in kind:
            yield from _leaves(f"{name}.{field.name}", field.type)
    elif pa.types.is_list(kind):
        yield from _leaves(f"{name}.list.element", kind.value_type)
    else:
        yield name

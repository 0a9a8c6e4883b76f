"""From a dataset script to a folder that `datasets.load_dataset` reads."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.atomic import new_folder
from pronominal.dataset_scripts.building.card import card_header, write_card
from pronominal.dataset_scripts.building.script import BuildOptions, DatasetScript, SplitRows
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.published import dataset_of
from pronominal.dataset_scripts.tables.checksums import SUMS, read_checksums, write_checksums
from pronominal.dataset_scripts.tables.columns import CANARY, Columns, arrow_schema
from pronominal.dataset_scripts.tables.digests import BLOCK, ContentDigest, blocks
from pronominal.dataset_scripts.tables.faults import mention_faults
from pronominal.dataset_scripts.tables.repeated_ids import (
    fingerprints,
    repeated_ids,
    suspected_rows,
)
from pronominal.errors import InputError
from pronominal.signals import signals_as_exits

FRONT_CODED = ("id", "text")
"""Columns whose strings begin like the row before, of which only the rest is stored."""


SWITCHES = {
    "pronoun_sets": "--pronouns",
    "everything": "--all",
    "repair_case": "--repair-case",
    "names": "--names",
}
"""Each of the `BuildOptions` -> what the command line calls it."""


@dataclass(frozen=True, slots=True)
class BuiltSplit:
    """What was written for one split.

    Attributes:
        config: the config's name.
        name: the split's name.
        columns: the published columns.
        path: the Parquet file, relative to the dataset's folder.
        rows: number of rows.
        num_bytes: size of the rows in memory.
        file_bytes: size of the Parquet file.
        digest: content digest of the rows without the canary; no version of pyarrow changes it.
    """

    config: str
    name: str
    columns: Columns
    path: Path
    rows: int
    num_bytes: int
    file_bytes: int
    digest: str


def build(
    script: DatasetScript, sources: Sources, options: BuildOptions, out: Path
) -> list[BuiltSplit]:
    """Write ``OUT/NAME`` with one Parquet file for each split, the card and SHA256SUMS.

    The folder appears whole or not at all; one that stands there already is replaced if it holds
    this dataset, and refused otherwise.

    Raises:
        InputError: a source is missing, changed or wrong, or the folder is something else's.
    """
    _refuse_useless(script, options)
    folder = (out / script.NAME).resolve()
    refuse_others_files(folder, script.NAME)
    canary = str(card_header(script.NAME)["canary"])
    with signals_as_exits(), new_folder(folder) as beside:
        built = [
            write_split(script.NAME, split, canary, beside)
            for split in script.splits(sources, options)
        ]
        write_card(script, built, sources, options, beside / "README.md")
        write_checksums(beside)
    return built


def _refuse_useless(script: DatasetScript, options: BuildOptions) -> None:
    """Refuse an option that changes nothing: who gave it expects that it does."""
    for name, switch in SWITCHES.items():
        if name not in script.OPTIONS and getattr(options, name) != getattr(BuildOptions(), name):
            raise InputError(f"{script.NAME} has no use for {switch}", cure="leave it out")


def refuse_others_files(folder: Path, dataset: str) -> None:
    """Refuse a folder that holds anything but `dataset`, since it is replaced as a whole."""
    if not folder.exists():
        return
    if not (folder / SUMS).exists():
        raise InputError(
            "the folder exists and is not a built dataset",
            cure="choose another --out or remove it",
            file=folder,
        )
    sums = read_checksums(folder)
    _refuse_other_datasets(folder, sums, dataset)
    listed = {folder / path for path in (*sums, SUMS)}
    for path in sorted({path for path in folder.rglob("*") if path.is_file()} - listed):
        raise InputError(
            "it is no file of the dataset, and building again would remove it",
            cure="move it away or choose another --out",
            file=path,
        )


def _refuse_other_datasets(folder: Path, listed: Iterable[str], dataset: str) -> None:
    """Refuse a folder unless it has tables and each says that it is of the dataset."""
    tables = [folder / path for path in listed if PurePosixPath(path).match("*/*.parquet")]
    tables = [file for file in tables if file.is_file()]
    names = {_dataset_named_in(file) for file in tables}
    if names != {dataset}:
        raise InputError(
            f"the folder exists and is not {dataset}",
            cure="choose another --out or remove it",
            file=folder,
        )


def _dataset_named_in(file: Path) -> str | None:
    """Return the dataset that a Parquet file says it holds; None if it says none or is damaged."""
    try:
        return dataset_of(pq.read_schema(file), file)
    except (InputError, pa.ArrowException, OSError, TypeError, ValueError):
        return None


def write_split(dataset: str, split: SplitRows, canary: str, folder: Path) -> BuiltSplit:
    """Check a split and write it as ``CONFIG/SPLIT.parquet`` below a folder."""
    path = Path(split.config) / f"{split.name}.parquet"
    (folder / path).parent.mkdir(exist_ok=True)
    facts = {"dataset": dataset, "config": split.config, "split": split.name, "canary": canary}
    columns = (*split.columns, CANARY)
    schema = arrow_schema(columns, facts)
    digest, ids, rows, num_bytes = ContentDigest(), [], 0, 0
    # one row group from one contiguous block: the same rows give the same bytes, however streamed
    with _parquet_writer(folder / path, schema) as writer:
        for block in blocks(split.tables):
            for row, fault in mention_faults(block):
                raise _refusal(fault, f"{dataset}/{path}", rows + row)
            digest.update(block)
            ids += [fingerprints(chunk) for chunk in block["id"].chunks]
            marked = block.append_column(CANARY.name, pa.repeat(canary, block.num_rows))
            writer.write_table(marked.cast(schema), row_group_size=BLOCK)
            rows += block.num_rows
            num_bytes += marked.nbytes
    for row, fault in repeated_ids(_named(suspected_rows(ids), folder / path)):
        raise _refusal(fault, f"{dataset}/{path}", row)
    return BuiltSplit(
        config=split.config,
        name=split.name,
        columns=columns,
        path=path,
        rows=rows,
        num_bytes=num_bytes,
        file_bytes=(folder / path).stat().st_size,
        digest=digest.hexdigest(),
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
        # least and greatest values would stand in the footer in plain text
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


def _named(rows: Sequence[int], path: Path) -> Iterator[tuple[int, str]]:
    """Yield these rows of a file, each with its id."""
    if rows:
        yield from zip(
            rows, pq.read_table(path, columns=["id"])["id"].take(rows).to_pylist(), strict=True
        )


def _refusal(fault: str, file: str, row: int) -> InputError:
    return InputError(fault, cure="mend the upstream row or report it", file=file, row=f"row {row}")

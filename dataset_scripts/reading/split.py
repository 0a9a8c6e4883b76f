"""One split of a dataset: its rows in memory, or their texts on a disk."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pronominal.dataset_scripts.tables.columns import CANARY
from pronominal.dataset_scripts.tables.digests import content_digest
from pronominal.dataset_scripts.tables.parquet_files import batches, open_parquet, read_parquet
from pronominal.errors import InputError, extra_needed
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.spans import Mention

if TYPE_CHECKING:
    from datasets import Dataset

Instance = ResolutionInstance | FillingInstance

SHARED = ("id", "text", "pronoun", "candidates", "label")
"""Columns that an instance has as attributes; it keeps all others in `columns`."""

FIRST, SOME, SAMPLED = ".first-", ".some-", ".sampled-"
"""What stands in the name of a part of a split, between the split's and the number of its rows."""

PARTS = (FIRST, SOME, SAMPLED)

TEXTS = ("text", "blank", "uid")
"""Columns that no score reads."""


def whole_and_part(name: str) -> tuple[str, int | None]:
    """Return the name of the split that rows are of, and how many they are; None if it is whole.

    >>> whole_and_part("test.first-12"), whole_and_part("test")
    (('test', 12), ('test', None))
    """
    found = re.fullmatch(rf"(.*)({'|'.join(map(re.escape, PARTS))})([0-9]{{1,18}})", name)
    return (found[1], int(found[3])) if found else (name, None)


@dataclass(frozen=True, eq=False)
class Split:
    """One split of a dataset; iterating over it gives its instances.

    Attributes:
        dataset_name: the dataset's name, such as ``"winopron"``.
        config: the config's name.
        name: the split's name.
        in_memory: all columns but the canary; None where the rows stay on the disk.
        digest: content digest of the rows.
        file: where the rows are from, for errors.
        files: the files that hold the rows, in order; empty where they came from no file.
    """

    dataset_name: str
    config: str
    name: str
    in_memory: pa.Table | None = field(repr=False)
    digest: str
    file: Path
    files: tuple[Path, ...] = ()

    @cached_property
    def table(self) -> pa.Table:
        """The rows without the canary; of rows on the disk, without `TEXTS`.

        Words that repeat are then numbers in it (dictionary arrays).
        """
        if self.in_memory is not None:
            return self.in_memory
        return self.columns([name for name in self.schema.names if name not in TEXTS])

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and types of the columns, without the canary, and the metadata of the file."""
        if self.in_memory is not None:
            return self.in_memory.schema
        schema = open_parquet(self.files[0]).schema_arrow
        return pa.schema([field for field in schema if field.name != CANARY.name], schema.metadata)

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Return some columns of `table`; of rows on the disk, nothing else is read."""
        if self.in_memory is not None:
            return self.in_memory.select(names)
        types = {name: self.schema.field(name).type for name in names}
        words = [name for name, kind in types.items() if kind == pa.string() and name != "id"]
        # one at a time, for what unifying a column takes is free again for the next one
        read = {
            name: read_parquet(self.files, [name], words).unify_dictionaries() for name in names
        }
        whole = {name: table[name] for name, table in read.items()}
        return pa.table(whole, metadata=self.schema.metadata)

    def column_blocks(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Yield some columns of the rows, in order, a few thousand rows in memory."""
        if self.in_memory is not None:
            yield self.in_memory.select(names)
            return
        yield from batches(self.files, columns=names)

    @cached_property
    def num_rows(self) -> int:
        """How many rows there are."""
        if self.in_memory is not None:
            return int(self.in_memory.num_rows)
        return sum(open_parquet(file).metadata.num_rows for file in self.files)

    @property
    def asks_for_form(self) -> bool:
        """Whether the rows ask which form fills a slot, and not which candidate is meant."""
        return "options" in self.schema.names

    @property
    def choices(self) -> pa.ChunkedArray:
        """What each row lets a system choose from: its options, or its candidates."""
        return self.table[self.choices_column]

    @property
    def choices_column(self) -> str:
        """The name of the column of `choices`."""
        return "options" if self.asks_for_form else "candidates"

    @property
    def folder(self) -> Path | None:
        """The dataset's folder, where the rows are from one."""
        return self.files[0].parent.parent if self.files else None

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[Instance]:
        return self.stream()

    def stream(self, start: int = 0, stop: int | None = None) -> Iterator[Instance]:
        """Yield the instances from row `start` up to row `stop`, a few thousand in memory."""
        end = self.num_rows if stop is None else stop
        if self.in_memory is not None:
            yield from instances_of(self.in_memory.slice(start, max(0, end - start)))
            return
        for rows in batches(self.files, start, end):
            yield from instances_of(rows)

    def instances(self) -> list[ResolutionInstance]:
        """Return the rows as instances, in order; `InputError` where they have no candidates."""
        if "candidates" not in self.table.column_names:
            cause = f"{self.dataset_name} asks for a pronoun, not for its antecedent"
            cure = "run a resolution dataset, such as winopron"
            raise InputError(cause, cure=cure, file=self.file)
        return [one for one in self.stream() if isinstance(one, ResolutionInstance)]

    def first(self, limit: int) -> "Split":
        """Return the first rows as a split of their own, which lies in no folder."""
        table = self.whole_table().slice(0, limit)
        return self._part(f"{self.name}{FIRST}{table.num_rows}", table)

    def limited(self, limit: int | None) -> "Split":
        """Return the first rows, no more than `limit`, or the split itself without one.

        Raises:
            InputError: the limit is no number of rows.
        """
        if limit is None:
            return self
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            cause = f"the limit is {limit!r}"
            raise InputError(cause, cure="give a whole number of rows, at least 1")
        return self.first(limit)

    def only(self, rows: Sequence[int]) -> "Split":
        """Return some rows, by rising index, as a split of their own, which lies in no folder."""
        if [*rows] == [*range(len(rows))]:
            return self.first(len(rows))
        table = self.whole_table().take([*rows]).combine_chunks()
        return self._part(f"{self.name}{SOME}{table.num_rows}", table)

    def _part(self, name: str, table: pa.Table) -> "Split":
        return replace(self, name=name, in_memory=table, digest=content_digest(table), files=())

    def whole_table(self) -> pa.Table:
        """Return all columns but the canary, texts included."""
        return read_parquet(self.files) if self.in_memory is None else self.in_memory

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row for each instance; mentions are dicts.

        Raises:
            InputError: pandas is not installed.
        """
        with extra_needed("hub", "this"):
            import pandas  # noqa: F401 - which pyarrow imports

        return self.whole_table().to_pandas()

    @cached_property
    def dataset(self) -> "Dataset":
        """The rows as a `datasets.Dataset`, with the class labels of the published folder.

        It says of itself which dataset, config and split it is, as `load_split` reads it.

        Raises:
            InputError: the package datasets is not installed.
        """
        with extra_needed("hub", "this"):
            import datasets

        table = self.whole_table()
        features = datasets.Features.from_arrow_schema(table.schema)
        features = datasets.Features({name: features[name] for name in table.column_names})
        about = {"dataset_name": self.dataset_name, "config_name": self.config}
        info = datasets.DatasetInfo(features=features, **about)
        split = None
        with suppress(ValueError):  # that of the first rows of a split is no name there
            split = datasets.NamedSplit(self.name)
        return datasets.Dataset(table.cast(features.arrow_schema), info, split)


def instances_of(table: pa.Table) -> Iterator[Instance]:
    """Yield the rows of a published table as instances, a thousand at a time in memory."""
    kind = ResolutionInstance if "candidates" in table.column_names else FillingInstance
    for start in range(0, table.num_rows, 1000):
        rows = table.slice(start, 1000)
        if kind is ResolutionInstance and (made := _located(rows)) is not None:
            yield from made
        else:
            yield from map(kind.from_row, rows.to_pylist())


def _located(rows: pa.Table) -> Iterator[ResolutionInstance] | None:
    """Return the instances of rows whose mentions are all there, without a dict for each; or None.

    They are those of `ResolutionInstance.from_row`.
    """
    rows = rows.combine_chunks()
    candidates, pronouns = rows["candidates"].combine_chunks(), rows["pronoun"].combine_chunks()
    if isinstance(candidates, pa.ChunkedArray) or candidates.null_count:
        return None
    both = candidates.flatten()
    if any(part.null_count for part in (both, pronouns)):
        return None
    flat = map(Mention, *_fields(both))
    own = [name for name in rows.column_names if name not in SHARED]
    parts = (rows[name].to_pylist() for name in ("id", "text", "label"))
    found = zip(
        *parts,
        map(Mention, *_fields(pronouns)),
        candidates.value_lengths().to_pylist(),
        zip(*(rows[name].to_pylist() for name in own), strict=True) if own else repeat(()),
        strict=False,
    )
    return (
        ResolutionInstance(
            name, text, pronoun, (*islice(flat, many),), label, dict(zip(own, values, strict=True))
        )
        for name, text, label, pronoun, many, values in found
    )


def _fields(mentions: pa.StructArray) -> list[list[Any]]:
    return [mentions.field(name).to_pylist() for name in Mention._fields]

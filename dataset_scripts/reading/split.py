"""One split of a dataset: its rows in memory, or their texts on a disk."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pronominal.dataset_scripts.tables.columns import CANARY
from pronominal.dataset_scripts.tables.digests import content_digest
from pronominal.dataset_scripts.tables.parquet_files import batches, open_parquet, read_parquet
from pronominal.errors import InputError, extra_needed
from pronominal.instances import FillingInstance, ResolutionInstance

if TYPE_CHECKING:
    from datasets import Dataset

Instance = ResolutionInstance | FillingInstance

FIRST = ".first-"
"""What stands in the name of a split's first rows, between the split's and their number."""

TEXTS = ("text", "blank", "uid")
"""Columns that no score reads."""


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
        schema = open_parquet(self.files[0]).schema_arrow
        columns = [name for name in schema.names if name not in (*TEXTS, CANARY.name)]
        words = [one for one in columns if schema.field(one).type == pa.string() and one != "id"]
        table = read_parquet(self.files, columns=columns, read_dictionary=words)
        return table.unify_dictionaries()

    @cached_property
    def num_rows(self) -> int:
        """How many rows there are."""
        if self.in_memory is not None:
            return int(self.in_memory.num_rows)
        return sum(open_parquet(file).metadata.num_rows for file in self.files)

    @property
    def asks_for_form(self) -> bool:
        """Whether the rows ask which form fills a slot, and not which candidate is meant."""
        return "options" in self.table.column_names

    @property
    def choices(self) -> pa.ChunkedArray:
        """What each row lets a system choose from: its options, or its candidates."""
        return self.table["options" if self.asks_for_form else "candidates"]

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

    def only(self, rows: Sequence[int]) -> "Split":
        """Return some rows, by rising index, as a split of their own, which lies in no folder."""
        if [*rows] == [*range(len(rows))]:
            return self.first(len(rows))
        table = self.whole_table().take([*rows]).combine_chunks()
        return self._part(f"{self.name}.some-{table.num_rows}", table)

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
        info = datasets.DatasetInfo(dataset_name=self.dataset_name, config_name=self.config)
        split = None
        with suppress(ValueError):  # that of the first rows of a split is no name there
            split = datasets.NamedSplit(self.name)
        return datasets.Dataset(table.replace_schema_metadata(), info, split).cast(features)


def instances_of(table: pa.Table) -> Iterator[Instance]:
    """Yield the rows of a published table as instances, a thousand at a time in memory."""
    kind = ResolutionInstance if "candidates" in table.column_names else FillingInstance
    for start in range(0, table.num_rows, 1000):
        for row in table.slice(start, 1000).to_pylist():
            yield kind.from_row(row)

"""What a dataset script is, what it yields, and what is built of that."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

import pyarrow as pa

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.options import BuildOption, BuildOptions
from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.tables.columns import Columns
from pronominal.dataset_scripts.tables.violations import Violation
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.names import unknown_name

NAMESPACE = "uds-lsv"
"""The organisation on the Hub that publishes the datasets."""

ORIGINAL, SWITCHED = "original", "switched"
"""The configs of a dataset whose rows are there as they are and with their antecedents switched."""


@dataclass(frozen=True, slots=True)
class SplitRows:
    """One split of one config, on its way to ``CONFIG/NAME.parquet``.

    Attributes:
        config: the config's name.
        name: the split's name.
        columns: the published columns, in order.
        tables: its rows, in order, in pieces of any size.
    """

    config: str
    name: str
    columns: Columns
    tables: Iterable[pa.Table]

    @classmethod
    def from_rows(
        cls, config: str, name: str, columns: Columns, rows: Iterable[dict[str, Any]]
    ) -> "SplitRows":
        """Build a split that fits in memory from one dict for each row."""
        schema = pa.schema([(column.name, column.type) for column in columns])
        return cls(config, name, columns, [pa.Table.from_pylist(list(rows), schema=schema)])

    @classmethod
    def from_instances(
        cls,
        config: str,
        name: str,
        columns: Columns,
        instances: Iterable[ResolutionInstance | FillingInstance],
    ) -> "SplitRows":
        """Build a split that fits in memory from its instances."""
        return cls.from_rows(config, name, columns, (one.to_row() for one in instances))


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


class DatasetScript(Protocol):
    """A module of `pronominal.dataset_scripts` that makes one dataset.

    Its own top-level names, so that a newcomer reads one file from top to bottom.
    """

    NAME: str
    """Name of the dataset, of its card and of its folder."""

    OPTIONS: tuple[BuildOption[Any], ...]
    """What a user may ask of its build."""

    UPSTREAM: tuple[Upstream, ...]
    """Where the upstream files come from; empty when the package holds them."""

    COLUMNS: Columns
    """The published columns; empty where they follow from the options."""

    UNPUBLISHABLE: tuple[str, ...]
    """Names of the splits whose text must stay where it was built."""

    HYDRATION: str | None
    """The module that fills in texts from posts that the user holds; None where none are held back.
    """

    def splits(self, sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
        """Yield every split; `InputError` at the first row that cannot be built."""
        ...

    def violations(self, sources: Sources) -> Iterator[Violation]:
        """Yield everything that the papers' own checks and ours find wrong."""
        ...


def built_name(script: DatasetScript, options: BuildOptions) -> str:
    """Return the name of what is built: the script's, and what options add to it."""
    added = (option.suffix(options[option]) for option in script.OPTIONS)
    return "-".join((script.NAME, *filter(None, added)))


def dataset_script(name: str) -> DatasetScript:
    """Return the script of a dataset; `InputError` with the nearest name if there is none."""
    if name not in DATASETS:
        raise unknown_name("dataset", name, DATASETS)
    return cast(DatasetScript, import_module(f"pronominal.dataset_scripts.{name}"))

"""What a dataset script is, and what it hands to `build` and `validate`."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from pronominal.dataset_scripts.building.sources import Sources, Upstream
from pronominal.dataset_scripts.personal_names import FIFTEEN_NAMES, PersonalNames
from pronominal.dataset_scripts.tables.columns import Columns
from pronominal.pronouns import PRONOUN_SETS, PronounSet


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What a user may ask of a build.

    Attributes:
        pronoun_sets: the sets that fill the templates of datasets that are built from templates.
        everything: whether to build the splits too that are not published by default (RUFF).
        repair_case: whether switched names take the case of their new places, see `switch`.
        names: the people of WinoNB's ``personal``.
    """

    pronoun_sets: tuple[PronounSet, ...] = PRONOUN_SETS
    everything: bool = False
    repair_case: bool = False
    names: PersonalNames = FIFTEEN_NAMES


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
        cls, config: str, name: str, columns: Columns, rows: Iterable[dict[str, object]]
    ) -> "SplitRows":
        """Build a split that fits in memory from one dict for each row."""
        schema = pa.schema([(column.name, column.type) for column in columns])
        return cls(config, name, columns, [pa.Table.from_pylist(list(rows), schema=schema)])


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that `validate` found: where, and what, without evaluation text."""

    file: str | Path
    row: str | None
    message: str

    def __str__(self) -> str:
        place = f"{self.file}, {self.row}" if self.row else str(self.file)
        return f"{place}: {self.message}"


FEW = 5
"""Rows up to which a fault of many rows is reported for each of them."""


def changed_files(sources: Sources) -> Iterator[Violation]:
    """Yield every file read so far that is not the pinned one."""
    for file in sources.changed:
        yield Violation(file, None, "not the pinned upstream version (SHA-256 differs)")


def told_once(violations: Iterable[Violation]) -> Iterator[Violation]:
    """Report what is wrong with more than `FEW` rows at the first of them, with their number.

    A row too many moves every later one, and a renamed key is missing in all of them. Messages
    that differ in numbers only are of one kind.
    """
    kinds: dict[tuple[str, str], list[Violation]] = {}
    for violation in violations:
        kind = (str(violation.file), re.sub(r"\d+", "0", violation.message))
        kinds.setdefault(kind, []).append(violation)
    for found in kinds.values():
        if len(found) <= FEW:
            yield from found
        else:
            first = found[0]
            message = f"{first.message} (the first of {len(found)} rows like it)"
            yield Violation(first.file, first.row, message)


class DatasetScript(Protocol):
    """A module of this package that makes one dataset.

    Its own top-level names, so that a newcomer reads one file from top to bottom.
    """

    @property
    def NAME(self) -> str:  # noqa: N802
        """Name of the dataset, of its card and of its folder."""
        ...

    @property
    def OPTIONS(self) -> tuple[str, ...]:  # noqa: N802
        """Names of the `BuildOptions` that change what it builds."""
        ...

    @property
    def UPSTREAM(self) -> tuple[Upstream, ...]:  # noqa: N802
        """Where the upstream files come from; empty when the package holds them."""
        ...

    def splits(self, sources: Sources, options: BuildOptions) -> Iterator[SplitRows]:
        """Yield every split; `InputError` at the first row that cannot be built."""
        ...

    def violations(self, sources: Sources) -> Iterator[Violation]:
        """Yield everything that the papers' own checks and ours find wrong."""
        ...

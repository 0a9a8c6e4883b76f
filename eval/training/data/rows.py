"""The rows of a dataset or of a user's own file, and what a training is given of them."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.own_rows.rows import checked_row, read_own_rows
from pronominal.dataset_scripts.reading.folders import MissingSplitError
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.tables.columns import resolution_columns
from pronominal.dataset_scripts.tables.digests import content_digest
from pronominal.errors import InputError
from pronominal.eval.training.data.lost_pronouns import fill_in
from pronominal.instances import ResolutionInstance
from pronominal.names import nearest_name
from pronominal.spans import AnnotatedDocument
from pronominal.switching import Unswitchable, switch_row

TRAINABLE = ("knowref", "gap")
"""Datasets with a train split of resolution rows."""

RESOLUTION = pa.schema([(one.name, one.type) for one in resolution_columns("", ())])


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a training is given.

    Attributes:
        name: what it is called, such as ``"knowref+conll"``.
        rows: rows with a pronoun to learn from, as the data has them.
        validation_rows: those to stop by.
        documents: documents with gold clusters to learn from.
        validation_documents: those to stop by.
        tests: splits to test on by config: ``original``, and ``switched`` where there is one.
        digests: what identifies the data to learn from and to stop by.
        test_name: the dataset that the tests are of; empty for a user's own rows, which do not
            become a dataset's by the name of their file.
    """

    name: str = ""
    rows: Sequence[ResolutionInstance] = ()
    validation_rows: Sequence[ResolutionInstance] = ()
    documents: Sequence[AnnotatedDocument] = ()
    validation_documents: Sequence[AnnotatedDocument] = ()
    tests: Mapping[str, Split] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)
    test_name: str = ""

    def refuse_documents(self) -> None:
        """Refuse documents where a system learns from rows alone."""
        if self.documents or self.validation_documents:
            raise InputError(
                "it learns to choose between the candidates of rows, which documents have not",
                cure="leave conll:PATH and jsonlines:PATH out",
            )


def published_data(name: str, dataset: str | None, sources: Path | None) -> TrainingData:
    """Read KnowRef or GAP from a built dataset, or build it in memory from upstream's files.

    Without `sources` those are downloaded. `InputError` where there is no such dataset, or no train
    split.
    """
    if name not in TRAINABLE:
        cure = f"{nearest_name(name, TRAINABLE)} or give a .jsonl or .parquet file of your own"
        raise InputError(f"there is no training data '{name}'", cure=cure)
    if dataset is not None and sources is not None:
        raise InputError("--dataset and --sources are given", cure="give one of them")
    splits = _built(dataset) if dataset is not None else dict(_in_memory(name, sources))
    train, validation = (splits.get(("original", part)) for part in ("train", "validation"))
    if train is None or validation is None:
        raise InputError(
            f"the train and validation sentences of {name} are not there",
            cure="give --sources with upstream's files that hold their text (docs/training.md)",
            file=dataset or sources,
        )
    if train.dataset_name != name:
        raise InputError(
            f"it holds {train.dataset_name}, not {name}",
            cure=f"give --data {train.dataset_name}",
            file=dataset,
        )
    learnt = train.instances()
    return TrainingData(
        rows=learnt,
        validation_rows=fill_in(validation.instances(), learnt),
        tests={config: split for (config, part), split in splits.items() if part == "test"},
        digests={"train": train.digest, "validation": validation.digest},
        test_name=name,
    )


def own_data(train: Path, validation: Path | None, test: Path | None, share: float) -> TrainingData:
    """Read a user's own rows, JSONL or Parquet; see `checked_row` for what they may be.

    Without `validation` a share of `train` is held out. `InputError` where a row is malformed, or
    an id is given twice.
    """
    rows = _own_rows(train)
    if validation is None:
        rows, stopping = held_out(rows, round(len(rows) * share))
    else:
        stopping = _own_rows(validation)
    if not rows or not stopping:
        raise InputError(
            f"{len(rows)} rows to learn from and {len(stopping)} to stop by",
            cure="give more rows, or another share to stop by",
            file=train,
        )
    files = {"train": train, "validation": validation or train}
    digests = {part: hashlib.sha256(file.read_bytes()).hexdigest() for part, file in files.items()}
    if validation is None:
        digests["held_out"] = str(share)
    return TrainingData(
        rows=[ResolutionInstance.from_row(row) for row in rows],
        validation_rows=[ResolutionInstance.from_row(row) for row in stopping],
        tests=own_tests(test, train.stem) if test is not None else {},
        digests=digests,
    )


def joined(parts: Mapping[str, TrainingData]) -> TrainingData:
    """Return sets of rows as one; where there are two, ids and digests begin with their names.

    Tests are those of the first set that has any.
    """
    if len(parts) < 2:
        return next(iter(parts.values()), TrainingData())
    tested = next((one for one in parts.values() if one.tests), TrainingData())
    return replace(
        tested,
        rows=_named_rows({name: one.rows for name, one in parts.items()}),
        validation_rows=_named_rows({name: one.validation_rows for name, one in parts.items()}),
        digests={f"{name}:{p}": d for name, one in parts.items() for p, d in one.digests.items()},
    )


def _named_rows(sets: Mapping[str, Sequence[ResolutionInstance]]) -> list[ResolutionInstance]:
    return [replace(row, id=f"{name}-{row.id}") for name, rows in sets.items() for row in rows]


T = TypeVar("T")


def held_out(items: Sequence[T], count: int) -> tuple[list[T], list[T]]:
    """Draw `count` items by a fixed seed; return the others and those, each in their order."""
    order = np.random.default_rng(0).permutation(len(items)).tolist()
    learnt, held = sorted(order[count:]), sorted(order[:count])
    return [items[index] for index in learnt], [items[index] for index in held]


def own_tests(path: Path, name: str = "") -> dict[str, Split]:
    """Read a user's own rows to test on, as they are and switched; runs over them have the name.

    `InputError` where there is no row, one is malformed, or an id is given twice.
    """
    rows = _own_rows(path)
    if not rows:
        raise InputError("it has no rows", cure="give a file with rows", file=path)
    switched = []
    for row in rows:
        try:
            switched.append(switch_row(row))
        except Unswitchable:
            # consistency is measured over the rows that exist in both versions, and counts them
            continue
    tests = {}
    for config, kept in (("original", rows), ("switched", switched)):
        if kept:
            table = pa.Table.from_pylist(kept, schema=RESOLUTION)
            tests[config] = Split(name, config, "test", table, content_digest(table), path)
    return tests


def _built(dataset: str) -> dict[tuple[str, str], Split]:
    splits = {}
    for config in ("original", "switched"):
        for part in ("train", "validation", "test"):
            with suppress(MissingSplitError):
                splits[config, part] = read_split(dataset, config, part)
    return splits


def _in_memory(name: str, sources: Path | None) -> Iterator[tuple[tuple[str, str], Split]]:
    script = dataset_script(name)
    for split in script.splits(Sources(sources), BuildOptions()):
        table = pa.concat_tables(list(split.tables))
        place = (sources or Path(name)) / split.config / split.name
        key = (split.config, split.name)
        yield key, Split(name, *key, table, content_digest(table), place)


def _own_rows(path: Path) -> list[dict[str, Any]]:
    rows, places = [], dict[str, str]()
    for place, row in read_own_rows(path):
        checked = checked_row(row, place, may_be_absent=True)
        earlier = places.setdefault(checked["id"], place.row)
        if earlier != place.row:
            raise place.refuse(f"its id is also that of {earlier}", "give each row its own id")
        rows.append({name: checked[name] for name in RESOLUTION.names})
    return rows

"""The rows that a training learns from, stops by and is tested on."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.own_rows.rows import checked_row, read_own_rows
from pronominal.dataset_scripts.reading.folders import MissingSplitError
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.tables.columns import MENTION
from pronominal.dataset_scripts.tables.digests import content_digest
from pronominal.errors import InputError, nearest_name
from pronominal.eval.training.lost_pronouns import fill_in
from pronominal.instances import ResolutionInstance
from pronominal.switching import Unswitchable, switch_row

TRAINABLE = ("knowref", "gap")
"""Datasets with a train split of resolution rows."""

VALIDATION_SHARE = 0.1
"""What is held out of own data to stop by, where nothing else is said."""

RESOLUTION = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("pronoun", MENTION),
        ("candidates", pa.list_(MENTION)),
        ("label", pa.int64()),
    ]
)


@dataclass(frozen=True, slots=True)
class TrainingData:
    """What a training is given.

    Attributes:
        name: the dataset's name, or that of the user's file.
        train: the rows to learn from, as they stand in the data.
        validation: the rows to stop by.
        tests: splits to test on by config: ``original``, and ``switched`` where there is one.
        digests: what identifies the rows to learn from and to stop by.
        test_name: the dataset that the tests are of; empty for a user's own rows, which do not
            become a dataset's by the name of their file.
    """

    name: str
    train: Sequence[ResolutionInstance]
    validation: Sequence[ResolutionInstance]
    tests: dict[str, Split]
    digests: dict[str, str]
    test_name: str = ""


def published_data(name: str, dataset: str | None, sources: Path | None) -> TrainingData:
    """Read KnowRef or GAP from a built dataset, or from upstream's files.

    Args:
        name: one of `TRAINABLE`.
        dataset: the folder of the built dataset, or its Hub id; None builds it in memory.
        sources: the folder of upstream's files; None downloads them.

    Raises:
        InputError: there is no such dataset, or it has no train split.
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
        name=name,
        train=learnt,
        validation=fill_in(validation.instances(), learnt),
        tests={config: split for (config, part), split in splits.items() if part == "test"},
        digests={"train": train.digest, "validation": validation.digest},
        test_name=name,
    )


def own_data(
    train: Path, validation: Path | None, test: Path | None, validation_share: float | None
) -> TrainingData:
    """Read a user's own rows.

    Args:
        train: JSONL or Parquet; see `checked_row` for what the rows may be.
        validation: rows of the same form to stop by.
        test: rows of the same form to test on, as they are and switched.
        validation_share: without `validation`, the share of the rows of `train` that is held out
            instead, drawn by a fixed seed; `VALIDATION_SHARE` if None.

    Raises:
        InputError: a row is malformed, or an id is given twice.
    """
    rows = _own_rows(train)
    if validation is None:
        share = VALIDATION_SHARE if validation_share is None else validation_share
        held_out = round(len(rows) * share)
        order = np.random.default_rng(0).permutation(len(rows)).tolist()
        stopping = [rows[index] for index in sorted(order[:held_out])]
        rows = [rows[index] for index in sorted(order[held_out:])]
    else:
        stopping = _own_rows(validation)
    if not rows or not stopping:
        raise InputError(
            f"{len(rows)} rows to learn from and {len(stopping)} to stop by",
            cure="give more rows, or another share to stop by",
            file=train,
        )
    files = {"train": train, "validation": validation or train}
    digests = {part: _file_digest(file) for part, file in files.items()}
    if validation is None:
        digests["held_out"] = str(share)
    return TrainingData(
        name=train.stem,
        train=[ResolutionInstance.from_row(row) for row in rows],
        validation=[ResolutionInstance.from_row(row) for row in stopping],
        tests=own_tests(test, train.stem) if test is not None else {},
        digests=digests,
    )


def own_tests(path: Path, name: str = "") -> dict[str, Split]:
    """Read a user's own rows to test on, as they are and switched.

    Args:
        path: JSONL or Parquet; see `checked_row` for what the rows may be.
        name: what the runs over them are called by.

    Raises:
        InputError: a row is malformed, or an id is given twice.
    """
    rows = _own_rows(path)
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
            digest = content_digest(table)
            tests[config] = Split(name, config, "test", table, digest, path)
    return tests


def resolution_table(instances: Sequence[ResolutionInstance]) -> pa.Table:
    """Return instances as the table that the scores read, without columns of their own."""
    rows = [
        {
            "id": one.id,
            "text": one.text,
            "pronoun": one.pronoun._asdict(),
            "candidates": [candidate._asdict() for candidate in one.candidates],
            "label": one.label,
        }
        for one in instances
    ]
    return pa.Table.from_pylist(rows, schema=RESOLUTION)


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
        yield (
            (split.config, split.name),
            Split(name, split.config, split.name, table, content_digest(table), place),
        )


def _own_rows(path: Path) -> list[dict[str, Any]]:
    rows, places = [], dict[str, str]()
    for place, row in read_own_rows(path):
        checked = checked_row(row, place, may_be_absent=True)
        earlier = places.setdefault(checked["id"], place.row)
        if earlier != place.row:
            raise place.refuse(f"its id is also that of {earlier}", "give each row its own id")
        rows.append({name: checked[name] for name in RESOLUTION.names})
    return rows

"""The key of an export: which row each item of the sheet is about. Annotators do not see it."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.tables.digests import content_digest
from pronominal.errors import InputError
from pronominal.eval.annotation.tasks import LETTERS

KEY = "key.json"
SCHEMA_VERSION = 1

Answer = int | str
"""What an annotator says of a question: the index of a candidate, or a word of the task."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a sheet.

    Attributes:
        item: what the sheet calls it; no other export has the same.
        row: id of the row.
        about: index of the candidate or option that it is about, or None; see `Question`.
        order: index of the candidate that each letter stands for; empty where there are none.
        digest: of what the annotator was shown, by which a shifted column is noticed.
    """

    item: str
    row: str
    about: int | None
    order: tuple[int, ...]
    digest: str

    def meaning(self, word: str) -> Answer:
        """Return what a word of the sheet stands for."""
        return self.order[LETTERS.index(word)] if self.order and word in LETTERS else word


@dataclass(frozen=True)
class Key:
    """Everything about an export but its texts.

    Attributes:
        task: a key of `TASKS`.
        dataset: name, config, split and content digest of the rows, as in ``run.json``.
        seed: of the sample, the order of the items and that of the candidates.
        annotators: how many people are to answer.
        headings: the columns of the sheet between ``item`` and ``answer``.
        words: what may be answered.
        items: in the order of the sheet.
    """

    task: str
    dataset: Mapping[str, Any]
    seed: int
    annotators: int
    headings: tuple[str, ...]
    words: tuple[str, ...]
    items: tuple[Item, ...]

    @cached_property
    def by_name(self) -> dict[str, Item]:
        """The items by what the sheet calls them."""
        return {item.item: item for item in self.items}

    @cached_property
    def rows(self) -> frozenset[str]:
        """Ids of the rows that were asked about."""
        return frozenset(item.row for item in self.items)

    def write(self, folder: Path) -> None:
        """Write it into the folder of the export."""
        told = {"schema_version": SCHEMA_VERSION, **asdict(self)}
        with new_file(folder / KEY) as beside:
            beside.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", "utf-8")

    def asked_rows(self, where: str) -> Split:
        """Read the rows that were asked about, in the dataset's order.

        Args:
            where: the dataset's folder, or its id on the Hub.

        Raises:
            InputError: it does not hold the rows that were exported.
        """
        split = read_split(where, self.dataset["config"], self.dataset["split"])
        if split.digest != self.dataset["digest"]:
            names = "/".join(str(self.dataset[part]) for part in ("name", "config", "split"))
            raise InputError(
                f"its rows are not those that were exported ({names}, "
                f"{self.dataset['digest'][:12]})",
                cure="give the --dataset of the export",
                file=where,
            )
        return cut(split, self.rows)


def cut(split: Split, rows: frozenset[str]) -> Split:
    """Return a split with some of its rows, by their ids; the split itself where it is all."""
    kept = [name in rows for name in split.table["id"].to_pylist()]
    if all(kept):
        return split
    table = split.table.filter(kept)
    digest = content_digest(table)
    return Split(split.dataset_name, split.config, split.name, table, digest, split.file)


def read_key(folder: Path) -> Key:
    """Read the key of an export; `InputError` when it is none of ours."""
    path = folder / KEY
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            "there is no key that can be read",
            cure="give the folder that 'pronominal annotate export' made",
            file=path,
        ) from error
    if not isinstance(told, dict) or told.pop("schema_version", None) != SCHEMA_VERSION:
        raise InputError("it is no key of this version", cure="export again", file=path)
    try:
        items = tuple(_items(told.pop("items")))
        headings, words = tuple(told.pop("headings")), tuple(told.pop("words"))
        return Key(**told, headings=headings, words=words, items=items)
    except (KeyError, TypeError) as error:
        raise InputError("the key is damaged", cure="export again", file=path) from error


def _items(told: list[dict[str, Any]]) -> Iterator[Item]:
    for fields in told:
        yield Item(**{**fields, "order": tuple(fields["order"])})

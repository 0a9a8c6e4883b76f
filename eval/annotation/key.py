"""The key of an export: which row each item of the sheet is about. Annotators do not see it."""

from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.dataset_scripts.tables.digests import content_digest
from pronominal.errors import InputError
from pronominal.eval.annotation.tasks import LETTERS
from pronominal.eval.runs.record import SplitRecord
from pronominal.json_files import as_record, read_object, write_json

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

    def __post_init__(self) -> None:
        if self.order and sorted(self.order) != [*range(len(LETTERS))]:
            cause = f"the letters of {self.item} do not stand for one candidate each"
            raise InputError(cause, cure="export again")

    def meaning(self, word: str) -> Answer:
        """Return what a word of the sheet stands for."""
        return self.order[LETTERS.index(word)] if self.order and word in LETTERS else word


@dataclass(frozen=True)
class Key:
    """Everything about an export but its texts.

    Attributes:
        task: a key of `ANNOTATION_TASKS`.
        dataset: the split.
        seed: of the sample, the order of the items and that of the candidates.
        annotators: how many people are to answer.
        headings: the columns of the sheet between ``item`` and ``answer``.
        words: what may be answered.
        items: in the order of the sheet.
    """

    task: str
    dataset: SplitRecord
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
        write_json(folder / KEY, {"schema_version": SCHEMA_VERSION, **asdict(self)})

    def asked_rows(self, where: str) -> Split:
        """Read the rows that were asked about, in the dataset's order, from its folder or Hub id.

        `InputError` if it does not hold the rows that were exported.
        """
        split = read_split(where, self.dataset.config, self.dataset.split)
        if split.digest != self.dataset.digest:
            exported = f"{self.dataset}, {self.dataset.digest[:12]}"
            cause = f"its rows are not those that were exported ({exported})"
            raise InputError(cause, cure="give the --dataset of the export", file=where)
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
    content = read_object(path, cure="give the folder that 'pronominal annotate export' made")
    if content.get("schema_version") != SCHEMA_VERSION:
        raise InputError("it is no key of this version", cure="export again", file=path)
    return as_record(Key, content, file=path, cure="export again")

"""What KnowRef publishes about its Reddit sentences, and those that `hydrate` has filled in."""

import io
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.knowref.files import Sentence, parse_record
from pronominal.dataset_scripts.knowref.recipes import recipes
from pronominal.dataset_scripts.knowref.upstream import KNOWREF, SPREADSHEET
from pronominal.dataset_scripts.own_rows.jsonl import parse_json_lines
from pronominal.dataset_scripts.tables.violations import RowLocation
from pronominal.errors import InputError, os_errors

HYDRATED = Path("knowref") / "hydrated"
SPLITS = {"train": "dev", "validation": "val"}
"""Our splits of Reddit text, and what upstream calls them."""

DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    LookupError,
    EOFError,
    RuntimeError,
    ValueError,
    ElementTree.ParseError,
)
"""What reading a damaged spreadsheet raises."""
XML = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"

Post = tuple[str, str | None]
"""Ids of a post and of a comment; None where the sentence stands in the post itself."""

NO_COMMENT = "Null"
"""Upstream's comment id of a sentence that stands in the post itself."""

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Label:
    """The candidates of a row, and the one guessed to be right from its gender."""

    names: tuple[str, str]
    correct: str


# the spreadsheet exchanges the candidates of this row and misspells one
CORRECTED = {("validation", 2235): Label(("Harold", "Roy"), "Roy")}


def read_ids(sources: Sources, split: str) -> list[Post]:
    """Return the ids of a split, in upstream's order."""
    name = f"redditID_{SPLITS[split]}_final.txt"
    file = sources.locate(KNOWREF, name)
    posts: list[Post] = []
    lines = sources.read(KNOWREF, name).decode("ascii", errors="replace").splitlines()
    for number, line in enumerate(lines, start=1):
        ids = line.split()
        if len(ids) != 2:
            at = RowLocation(file, f"line {number}")
            raise at.refuse("no post id and comment id", "fetch it again")
        posts.append((ids[0], None if ids[1] == NO_COMMENT else ids[1]))
    return _complete(posts, split, file)


def read_labels(sources: Sources, split: str) -> list[Label]:
    """Return candidates and answers of a split, in upstream's order, from the spreadsheet.

    Its ids are not read: some of them became numbers.
    """
    file = sources.locate(KNOWREF, SPREADSHEET, SPLITS[split])
    sheet = list(SPLITS).index(split) + 1
    try:
        with zipfile.ZipFile(io.BytesIO(sources.read(KNOWREF, SPREADSHEET))) as book:
            shared = ElementTree.fromstring(book.read("xl/sharedStrings.xml"))
            table = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{sheet}.xml"))
        words = ["".join(text.text or "" for text in item.iter(f"{XML}t")) for item in shared]
        rows = [[_cell(cell, words) for cell in row] for row in table.iter(f"{XML}row")][1:]
    except DAMAGED as error:
        cause = "the spreadsheet is truncated or damaged"
        raise InputError(cause, cure="fetch it again", file=file) from error
    labels = []
    for number, cells in enumerate(rows):
        first, second, correct = (*cells, "", "", "", "", "", "")[3:6]
        if not correct or correct not in (first, second):
            at = RowLocation(file, f"row {number}")
            raise at.refuse("the correct candidate is neither of the two", "fetch it again")
        labels.append(CORRECTED.get((split, number), Label((first, second), correct)))
    return _complete(labels, split, file)


def hydrated_file(root: Path, split: str) -> Path:
    """Return where `hydrate` puts a split below a sources folder."""
    return root / HYDRATED / f"{split}.jsonl"


def read_hydrated(sources: Sources, split: str) -> list[Sentence]:
    """Read the rows of a split that `hydrate` filled in, in upstream's order.

    A sentence that is not upstream's letter by letter makes the file count as changed.
    """
    assert sources.root is not None
    path, labels = hydrated_file(sources.root, split), read_labels(sources, split)
    fingerprints = {recipe.row: recipe.fingerprint for recipe in recipes() if recipe.split == split}
    sentences: dict[int, Sentence] = {}
    with os_errors(path, "check the path"):
        content = io.BytesIO(path.read_bytes())
    for line, record in parse_json_lines(content, path):
        row = record.get("row")
        if type(row) is not int or row not in fingerprints or row in sentences:
            at = RowLocation(path, f"line {line}")
            raise at.refuse("the row is unknown or there twice", "run 'pronominal hydrate' again")
        (first, second), correct = labels[row].names, labels[row].correct
        known = {"candidate0": first, "candidate1": second, "correct_candidate": correct}
        sentences[row] = parse_record(row, record | known, RowLocation(path, f"row {row}"))
    if any(fingerprints[row] != sentence.fingerprint for row, sentence in sentences.items()):
        sources.changed.append(str(HYDRATED / path.name))
    return [sentences[row] for row in sorted(sentences)]


def _cell(cell: ElementTree.Element, words: Sequence[str]) -> str:
    value = cell.findtext(f"{XML}v", "")
    return words[int(value)] if cell.get("t") == "s" else value


def _complete(rows: list[Row], split: str, file: str) -> list[Row]:
    expected = sum(recipe.split == split for recipe in recipes())
    if len(rows) != expected:
        cause = f"{len(rows)} rows instead of {expected}"
        raise InputError(cause, cure="fetch it again", file=file)
    return rows

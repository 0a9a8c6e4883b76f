"""The answers of several annotators, read from their sheets and kept without any text."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, repeat
from pathlib import Path
from typing import Any

from pronominal.atomic import new_file
from pronominal.dataset_scripts.own_rows.jsonl import read_json_lines
from pronominal.errors import InputError, redacted
from pronominal.eval.annotation.key import Answer, Item, Key, read_key
from pronominal.eval.annotation.sheets import ANSWER, ITEM, Record, read_sheet, shown_digest
from pronominal.eval.annotation.tasks import LETTERS
from pronominal.names import require_name

ANSWERS = "answers.jsonl"


@dataclass(frozen=True, slots=True)
class Answers:
    """What every annotator answered to every item.

    Attributes:
        key: of the export.
        annotators: their names.
        given: for each item of the key, in its order, one answer for each annotator.
    """

    key: Key
    annotators: tuple[str, ...]
    given: tuple[tuple[Answer, ...], ...]

    def write(self, folder: Path) -> None:
        """Write them into the folder of the export: ids and words, no text."""
        with (
            new_file(folder / ANSWERS) as beside,
            beside.open("w", encoding="utf-8", newline="\n") as file,
        ):
            for item, given in zip(self.key.items, self.given, strict=True):
                answers = dict(zip(self.annotators, given, strict=True))
                line = {"id": item.row, "about": item.about, "answers": answers}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def digest(self) -> str:
        """Return a digest of the answers and of who gave them."""
        told = [self.annotators, [(item.row, item.about) for item in self.key.items], self.given]
        return hashlib.sha256(json.dumps(told).encode("utf-8")).hexdigest()


def import_answers(
    folder: Path,
    sheets: Sequence[str],
    annotators: int | None = None,
    *,
    alike: bool = False,
    replace: bool = False,
) -> Answers:
    """Read the sheets that annotators sent back, and keep their answers in the export's folder.

    Args:
        folder: what `export` made.
        sheets: one for each annotator, as ``FILE`` (called after the file) or ``NAME=FILE``.
        annotators: how many there are, where fewer or more came than the export was made for.
        alike: whether two annotators may have the same answers to all items; else they count as
            one sheet under two names, which would inflate every agreement.
        replace: whether answers that were imported before, and are others, are replaced.

    Raises:
        InputError: an annotator is missing or given twice; other answers were imported before; a
            sheet cannot be read; or an item of
            one is unknown, missing or given twice, has no valid answer, or has a text beside
            it that is not its own.
    """
    key = read_key(folder)
    files = _by_annotator(sheets)
    expected = key.annotators if annotators is None else annotators
    if len(files) != expected:
        cause = f"there are the sheets of {len(files)} annotators, not of {expected}"
        cure = f"give the sheet of each one, or say --annotators {len(files)}"
        raise InputError(cause, cure=cure, file=folder)
    columns = [_answers_of(path, key) for path in files.values()]
    if not alike:
        _refuse_alike([*files.values()], columns)
    given = tuple(tuple(column[item.item] for column in columns) for item in key.items)
    answers = Answers(key, tuple(files), given)
    if not replace:
        _refuse_replacing(folder, answers)
    answers.write(folder)
    return answers


def read_answers(folder: Path) -> Answers:
    """Read the imported answers; `InputError` where there are none or they are not the key's."""
    key, path = read_key(folder), folder / ANSWERS
    if not path.exists():
        cure = f"run 'pronominal annotate import {folder} SHEET...'"
        raise InputError("no answers were imported", cure=cure, file=folder)
    lines = [fields for _, fields in read_json_lines(path)]
    asked = [(item.row, item.about) for item in key.items]
    told = [(line.get("id"), line.get("about")) for line in lines]
    columns = [one if isinstance(one := line.get("answers"), dict) else {} for line in lines]
    names = tuple(columns[0]) if columns else ()
    for name in names:
        require_name("annotator's name", name, file=path)
    if not (
        told == asked
        and all(names and tuple(column) == names for column in columns)
        and all(map(_are_answers, key.items, columns, repeat(key.words)))
    ):
        raise InputError("they are not answers to this key", cure="import them again", file=path)
    return Answers(key, names, tuple(tuple(column.values()) for column in columns))


def _are_answers(item: Item, given: Mapping[str, Any], words: Sequence[str]) -> bool:
    """Whether everybody answered with one of the words, or what it stands for."""
    meant = {item.meaning(word) for word in words}
    return all(type(one) in (int, str) and one in meant for one in given.values())


def _refuse_alike(files: Sequence[Path], columns: Sequence[dict[str, Answer]]) -> None:
    for (first, one), (second, other) in combinations(zip(files, columns, strict=True), 2):
        if one == other:
            cause = f"its answers are those of {first}, item by item: one sheet under two names"
            cure = "give the sheet of each annotator, or say --alike if two people did agree in all"
            raise InputError(cause, cure=cure, file=second)


def _refuse_replacing(folder: Path, answers: Answers) -> None:
    if not (folder / ANSWERS).exists():
        return
    # damaged ones cannot be the same
    known = None
    with suppress(InputError):
        known = read_answers(folder).digest()
    if known != answers.digest():
        cause = "other answers were imported before"
        cure = "say --replace if these take their place"
        raise InputError(cause, cure=cure, file=folder / ANSWERS)


def _by_annotator(sheets: Sequence[str]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for given in sheets:
        name, equals, path = given.partition("=")
        file = Path(path if equals else given)
        name = name if equals else file.stem
        try:
            require_name("annotator's name", name, file=file)
        except InputError as error:
            raise InputError(error.cause, cure=f"{error.cure}: NAME=FILE", file=file) from None
        if name.casefold() in {known.casefold() for known in files}:
            cause = f"the sheets of two annotators are called '{name}', whatever the capitals"
            raise InputError(cause, cure="give them as NAME=FILE", file=file)
        files[name] = file
    return files


def _answers_of(path: Path, key: Key) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    for place, record in read_sheet(path):
        name = record[ITEM].strip()
        if name in found:
            cause = f"the item {redacted(name)} is answered twice"
            raise InputError(cause, cure="keep one line for each item", file=path, row=place)
        item = key.by_name.get(name)
        if item is None:
            cause = f"the item {redacted(name)} is not of this export"
            cure = "give the sheets of this export, with their column 'item' as it was"
            raise InputError(cause, cure=cure, file=path, row=place)
        _refuse_shifted(record, item, key, path, place)
        found[name] = item.meaning(_word(record[ANSWER], key, path, place))
    missing = [item.item for item in key.items if item.item not in found]
    if missing:
        cause = (
            f"{len(missing)} of {len(key.items)} items are missing, the first one is {missing[0]}"
        )
        cure = "restore their lines from the sheet that was given out, and have them answered"
        raise InputError(cause, cure=cure, file=path)
    return found


def _word(cell: str, key: Key, path: Path, place: str) -> str:
    word = " ".join(cell.split()).casefold()
    if word not in key.words:
        cause = f"the answer is {redacted(cell.strip())}" if word else "there is no answer"
        # as the instructions spell them
        words = (known.upper() if known in LETTERS else known for known in key.words)
        raise InputError(cause, cure=f"write one of {', '.join(words)}", file=path, row=place)
    return word


def _refuse_shifted(record: Record, item: Item, key: Key, path: Path, place: str) -> None:
    """Refuse a line whose text is not that of its item: a column was sorted alone, or edited."""
    cells = [record[name.lower()] for name in key.headings if name.lower() in record]
    if len(cells) == len(key.headings) and shown_digest(cells) != item.digest:
        cause = f"the text beside {item.item} is not what was asked"
        cure = "restore the columns from the sheet that was given out: one was sorted or edited"
        raise InputError(cause, cure=cure, file=path, row=place)

"""A user's own resolution rows, as JSONL or Parquet: read, checked, every mention located."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.dataset_scripts.jsonl import read_json_lines
from pronominal.errors import InputError
from pronominal.spans import Mention, Span
from pronominal.switching import locate_candidates, occurrences

COLUMNS = ("id", "text", "pronoun", "candidates", "label")
BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands: its file, and its line (JSONL, from 1) or row (Parquet, from 0)."""

    file: Path
    row: str

    def __str__(self) -> str:
        return f"{self.file}, {self.row}"

    def refuse(self, cause: str, cure: str) -> InputError:
        """Return the error about this row."""
        return InputError(cause, cure=cure, file=self.file, row=self.row)


def read_own_rows(path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield every row of a JSONL or Parquet file as it is.

    Raises:
        InputError: the file is neither, is damaged, or cannot be read.
    """
    if path.suffix == ".jsonl":
        for line, row in read_json_lines(path):
            yield Place(path, f"line {line}"), row
        return
    number = 0
    with open_parquet(path) as file:
        _refuse_repeated_columns(file, path)
        batches = file.iter_batches(BATCH)
        while (rows := _next_rows(batches, path)) is not None:
            for row in rows:
                yield Place(path, f"row {number}"), row
                number += 1


def open_parquet(path: Path) -> pq.ParquetFile:
    """Open a Parquet file; `InputError` if it is none."""
    if path.suffix != ".parquet":
        raise InputError("the format is unknown", cure="give a .jsonl or .parquet file", file=path)
    with _parquet_errors(path):
        return pq.ParquetFile(path)


def _next_rows(batches: Iterator[pa.RecordBatch], path: Path) -> list[dict[str, Any]] | None:
    with _parquet_errors(path):
        batch = next(batches, None)
        rows: list[dict[str, Any]] | None = None if batch is None else batch.to_pylist()
        return rows


def _refuse_repeated_columns(file: pq.ParquetFile, path: Path) -> None:
    names = file.schema_arrow.names
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(
            f"two columns are called '{repeated}'", cure="rename one of them", file=path
        )


@contextmanager
def _parquet_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OverflowError as error:
        raise InputError(
            "a date or time is out of Python's range", cure="leave its column out", file=path
        ) from error
    except (pa.ArrowException, OSError) as error:
        # pyarrow raises a bare OSError for damaged data
        reason = getattr(error, "strerror", None) or "the Parquet data are damaged"
        raise InputError(
            f"cannot be read ({reason})", cure="check the path, or write it again", file=path
        ) from error


def checked_row(row: Mapping[str, Any], place: Place, *, may_be_absent: bool) -> dict[str, Any]:
    """Return a row whose mentions have text, start and end.

    Args:
        row: ``id``, ``text``, ``pronoun``, two ``candidates``, ``label``, and whatever else. A
            mention is a string, or an object with ``text`` and, where they are known, ``start``
            and ``end``; both are -1 for a mention that is known not to be in the text. Without
            offsets, a pronoun has to occur once, and a candidate is taken where it occurs first.
        place: where the row stands.
        may_be_absent: whether a candidate without offsets may be missing from the text; it gets
            the offsets -1.

    Raises:
        InputError: a field is missing or wrong.
    """
    for column in COLUMNS:
        if row.get(column) is None:
            raise place.refuse(f"there is no {column}", "add it")
    text, label, candidates = row["text"], row["label"], row["candidates"]
    if not isinstance(row["id"], str) or not isinstance(text, str):
        raise place.refuse("the id or the text is no string", "write a string")
    if type(label) is not int or label not in (0, 1, 2):
        raise place.refuse(
            "the label is outside 0, 1 and 2",
            "write the index of the right candidate, or 2 for neither",
        )
    if not isinstance(candidates, list) or len(candidates) != 2:
        raise place.refuse("there are not two candidates", "give a list of two")
    pronoun = _located_pronoun(_mention(row["pronoun"], "the pronoun", text, place), text, place)
    given = [_mention(one, f"candidate {i}", text, place) for i, one in enumerate(candidates)]
    located = _located_candidates(given, pronoun.span, text)
    for index, (before, after) in enumerate(zip(given, located, strict=True)):
        if isinstance(before, str) and not after.located and not may_be_absent:
            raise place.refuse(
                f"candidate {index} does not occur in the text",
                "correct it, or give it the offsets -1 to have the row left out",
            )
    mentions = {"pronoun": pronoun._asdict(), "candidates": [one._asdict() for one in located]}
    return {**row, **mentions}


def _mention(given: Any, name: str, text: str, place: Place) -> Mention | str:
    """Return a mention that holds, or its string if it has no offsets."""
    fields = {"text": given} if isinstance(given, str) else given
    if not isinstance(fields, dict) or not set(fields) <= {"text", "start", "end"}:
        raise place.refuse(f"{name} is no mention", "give it text, start and end only")
    words, start, end = (fields.get(key) for key in ("text", "start", "end"))
    if not isinstance(words, str) or not words:
        raise place.refuse(f"{name} has no text", "give its text")
    if start is None and end is None:
        return words
    if type(start) is not int or type(end) is not int:
        raise place.refuse(f"{name} has half an offset", "give start and end as integers")
    mention = Mention(words, start, end)
    if mention.span != (-1, -1) and not mention.stands_in(text):
        raise place.refuse(
            f"the offsets {start}:{end} of {name} do not hold its text",
            "count code points from 0, the end being one after the last",
        )
    return mention


def _located_pronoun(given: Mention | str, text: str, place: Place) -> Mention:
    if isinstance(given, Mention):
        return given
    found = occurrences(text, [given])
    if len(found) != 1:
        raise place.refuse(
            f"the pronoun occurs {len(found)} times", "give the start and end of the right one"
        )
    return Mention(given, found[0].start, found[0].end)


def _located_candidates(given: list[Mention | str], pronoun: Span, text: str) -> list[Mention]:
    names = [one if isinstance(one, str) else one.text for one in given]
    first = locate_candidates(text, names, pronoun)
    return [found if isinstance(one, str) else one for one, found in zip(given, first, strict=True)]

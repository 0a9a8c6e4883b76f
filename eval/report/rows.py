"""The rows of a split and what systems answered, as the page's script reads them.

A letter stands for each answer, so that ids and answers of thousands of rows are a few kilobytes.
Text is there only for those who ask for it.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from markupsafe import Markup

from pronominal.dataset_scripts.reading.folders import MissingSplitError
from pronominal.dataset_scripts.reading.split import TEXTS, Split
from pronominal.decisions import Decision
from pronominal.eval.evaluation import companion_rows, run_beside
from pronominal.eval.report.scored import Comparison
from pronominal.eval.runs.predictions import read_predictions
from pronominal.eval.statistics.outcomes import ABSTENTIONS, right_choices

MOST = 20_000
"""Rows of a split that a page holds at most; those that systems answer differently come first."""

MOST_TEXTS = 5_000
"""Rows of which the text is held at most."""

FEW_VALUES = 12
"""A column of at most so many different words can be filtered by."""

NAMES = ("id", *TEXTS)
"""Columns of words that are no kinds of rows."""

WORD = re.compile(r"[\w./+-]{1,24}")

MISSING, UNLABELLED = "-", "-"
"""The letters of a row without an answer, and of one of which no answer is right."""

LETTERS = {"none": "n", "both": "b", "unfinished": "u"}
CODES = {ABSTENTIONS[name]: letter for name, letter in LETTERS.items()}


@dataclass(frozen=True, slots=True)
class RowBrowser:
    """The rows of a split, ready for the page.

    Attributes:
        content: JSON for the script; see `row_browser`.
        shown: how many rows it has.
        rows: how many the split has.
        with_text: whether it has text.
    """

    content: Markup
    shown: int
    rows: int
    with_text: bool


def row_browser(
    comparison: Comparison, split: Split | None, *, include_text: bool = False
) -> RowBrowser:
    """Return the rows that systems answered.

    The JSON has ``ids`` (each as the number of letters that it has in common with the one before,
    in base 36, a space and the rest), ``answers`` (label -> a letter for each row: the index of the
    choice, or ``n``, ``b``, ``u`` for none, both and unfinished, ``-`` for no answer). With the
    rows also ``right`` (what is right, in the same letters), ``names`` of the choices, ``columns``
    to filter by, ``switched`` (answers to the companion split of the same ids, and what is right
    there) and, where asked for, ``texts`` with the places of their mentions.
    """
    given = {label: _answers(folder) for label, folder in comparison.folders.items()}
    ids = next(iter(given.values())).keys() if split is None else split.table["id"].to_pylist()
    names = [*dict.fromkeys(ids)]
    letters = {
        label: "".join(of_it.get(name, MISSING) for name in names) for label, of_it in given.items()
    }
    kept = _kept([*letters.values()], len(names))
    content: dict[str, Any] = {
        "ids": "\n".join(front_coded(names[row] for row in kept)),
        "answers": {label: _pick(of_it, kept) for label, of_it in letters.items()},
    }
    texts: list[Any] = []
    if split is not None and len(names) == split.num_rows:
        content |= _of_split(split, kept) | _switched(comparison, split, names, kept)
        texts = [*_texts(split, kept[:MOST_TEXTS])] if include_text else []
    # "<" would end the script that holds it
    written = json.dumps(content | ({"texts": texts} if texts else {}), ensure_ascii=False)
    plain = Markup(written.replace("<", "\\u003c"))
    return RowBrowser(plain, len(kept), len(names), bool(texts))


def front_coded(names: Iterable[str]) -> Iterator[str]:
    """Yield names without what they have in common with the one before.

    >>> [*front_coded(["guide-1-he", "guide-1-she", "tutor"])]
    ['0 guide-1-he', '8 she', '0 tutor']
    """
    before = ""
    for name in names:
        letters = zip(before, name, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], letters))
        yield f"{np.base_repr(same, 36).lower()} {name[same:]}"
        before = name


def _answers(folder: Path) -> dict[str, str]:
    """Return the letter of each row that a run answered."""
    return {one.id: _letter(one.decision) for _, one in read_predictions(folder)}


def _letter(decision: Decision) -> str:
    return str(decision.choice) if decision.abstained is None else LETTERS[decision.abstained]


def _kept(answers: Sequence[str], rows: int) -> list[int]:
    """Return the rows that a page holds, in order, those with different answers before others."""
    if rows <= MOST:
        return [*range(rows)]
    differ = [len({*of_row}) > 1 for of_row in zip(*answers, strict=True)]
    first = sorted(range(rows), key=lambda row: not differ[row])
    return sorted(first[:MOST])


def _pick(letters: str, kept: Sequence[int]) -> str:
    return letters if len(kept) == len(letters) else "".join(letters[row] for row in kept)


def _of_split(split: Split, kept: Sequence[int]) -> dict[str, Any]:
    """Return what is right of rows, and what they can be filtered by."""
    table = split.table.take(pa.array(kept, pa.int64()))
    kinds = [
        field.name for field in table.schema if is_words(field.type) and field.name not in NAMES
    ]
    columns = {name: _column(table[name].to_pylist()) for name in kinds}
    columns["length"] = _lengths(split, kept)
    return {
        "right": _right(split, kept),
        "names": _names(split),
        "columns": {name: column for name, column in columns.items() if column is not None},
    }


def is_words(kind: pa.DataType) -> bool:
    """Whether a column has words, be they written as numbers."""
    return bool(pa.types.is_string(kind.value_type if pa.types.is_dictionary(kind) else kind))


def _right(split: Split, kept: Sequence[int]) -> str:
    labels = split.table["label"].to_numpy()[kept]
    candidates = len(split.choices[0]) if split.num_rows else 2
    codes = right_choices(labels, candidates).tolist()
    return "".join(str(code) if code >= 0 else CODES.get(code, UNLABELLED) for code in codes)


def _names(split: Split) -> list[str]:
    """Return what the choices are called, by the label's class names where it has some."""
    with suppress(KeyError, TypeError, ValueError):
        metadata = json.loads((split.table.schema.metadata or {})[b"huggingface"])
        return [*map(str, metadata["info"]["features"]["label"]["names"])]
    return []


def _column(values: Sequence[Any]) -> list[Any] | None:
    """Return the different words of a column, and a letter for each row; None if it is no kind."""
    words = [*dict.fromkeys(values)]
    few = 1 < len(words) <= FEW_VALUES
    if not few or not all(isinstance(word, str) and WORD.fullmatch(word) for word in words if word):
        return None
    places = {word: np.base_repr(place, 36).lower() for place, word in enumerate(words)}
    return [[word or "–" for word in words], "".join(places[value] for value in values)]


def _lengths(split: Split, kept: Sequence[int]) -> list[Any] | None:
    """Divide rows into three parts by their numbers of words."""
    texts = split.whole_table()["text"].take(pa.array(kept, pa.int64()))
    words = pc.list_value_length(pc.utf8_split_whitespace(texts)).to_numpy()
    low, high = np.quantile(words, (1 / 3, 2 / 3)).astype(int).tolist()
    if not words.min() <= low < high < words.max():
        return None
    names = [f"to {low} words", f"{low + 1} to {high} words", f"from {high + 1} words"]
    codes = (words > low).astype(int) + (words > high)
    return [names, "".join(map(str, codes.tolist()))]


def _switched(
    comparison: Comparison, split: Split, names: Sequence[str], kept: Sequence[int]
) -> dict[str, Any]:
    """Return the answers to the companion split that has the same ids, and what is right there."""
    for companion in comparison.task.companions:
        if split.folder is None or not companion.fits(split.config):
            continue
        with suppress(MissingSplitError):
            other = companion_rows(companion, split)
            places = {name: row for row, name in enumerate(other.table["id"].to_pylist())}
            answers = {
                label: _answers(beside)
                for label, folder in comparison.folders.items()
                if (beside := run_beside(folder, other)) is not None
            }
            if answers and sum(name in places for name in names) * 2 > len(names):
                right = _right(other, [*range(other.num_rows)])
                shown = [names[row] for row in kept]
                of_rows = (right[places[name]] if name in places else MISSING for name in shown)
                return {
                    "switched": {
                        "name": companion.config,
                        "right": "".join(of_rows),
                        "answers": {
                            label: "".join(of_it.get(name, MISSING) for name in shown)
                            for label, of_it in answers.items()
                        },
                    }
                }
    return {}


def _texts(split: Split, kept: Sequence[int]) -> Iterator[tuple[str, list[list[int]]]]:
    """Yield each text with start, end and kind of its mentions: -1, or a candidate's index."""
    table = split.whole_table().take(pa.array(kept, pa.int64()))
    for row in table.to_pylist():
        mentions: list[tuple[int, Mapping[str, Any]]]
        if split.asks_for_form:
            mentions = [(-1, row["blank"])]
        else:
            mentions = [(-1, row["pronoun"]), *enumerate(row["candidates"])]
        ordered = sorted(mentions, key=lambda one: (one[1]["start"], -one[1]["end"]))
        yield row["text"], reduce(_apart, ordered, [])


def _apart(places: list[list[int]], mention: tuple[int, Mapping[str, Any]]) -> list[list[int]]:
    """Add a mention, unless it is nowhere or overlaps an earlier one."""
    kind, (start, end) = mention[0], (mention[1]["start"], mention[1]["end"])
    after = places[-1][1] if places else 0
    return [*places, [start, end, kind]] if start >= after else places

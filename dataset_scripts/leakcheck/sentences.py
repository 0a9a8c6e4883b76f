"""The evaluation sentences of built datasets, each one once, as hashed words."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pronominal.dataset_scripts.leakcheck.word_runs import Hashes, hashed_words, plain
from pronominal.errors import InputError
from pronominal.switching import occurrences

RUN = 8
"""Words in a run; with the pronoun that is passed over, nine words of running text."""
SHORTEST = 5
"""Shorter texts are common phrases too often to be looked for."""

SENTENCE_END = re.compile(r"""(?<=[.!?])["')\]”’]*\s+(?=["'(\[“‘]*[A-Z0-9])""")
PUNCTUATION = re.compile(r"[^\w\s]")
ENTITIES = ("occupation", "participant")
"""Columns with a template's two entities."""


class Sentence(NamedTuple):
    """One sentence, or several that are too short on their own.

    Attributes:
        words: the hashes of its words, at least `SHORTEST`.
        split: where it is from, such as ``"winopron double/test"``.
        row: the first row there that holds it, from 0.
    """

    words: Hashes
    split: str
    row: int


class Collection:
    """The distinct sentences of datasets, in the order in which they were added.

    Attributes:
        sentences: the sentences; those with punctuation inside a word also without it, those of
            templates also with slots for the entities, and those with two candidates also with
            their names exchanged.
        canaries: the canary of each dataset that has one.
        too_short: number of rows whose whole text has fewer than `SHORTEST` words.
    """

    def __init__(self) -> None:
        self.sentences: list[Sentence] = []
        self.canaries: dict[str, str] = {}
        self.too_short = 0
        self._known: set[bytes] = set()

    def add_dataset(self, folder: str | Path) -> None:
        """Add a built dataset, every config and split; `InputError` if the folder holds none."""
        files = sorted(Path(folder).glob("*/*.parquet"))
        if not files:
            cure = "build one with 'pronominal build'"
            raise InputError("the folder holds no built dataset", cure=cure, file=folder)
        for file in files:
            try:
                self._add_file(file)
            except (
                *(OSError, pa.ArrowException, LookupError, TypeError, ValueError, RecursionError),
                *(AttributeError, InputError),
            ) as error:
                cause = "not a file of a built dataset"
                raise InputError(cause, cure="build it again", file=file) from error

    def _add_file(self, file: Path) -> None:
        with pq.ParquetFile(file) as source:
            facts = json.loads((source.schema_arrow.metadata or {})[b"pronominal"])
            split = f"{facts['dataset']} {facts['config']}/{facts['split']}"
            read = ("text", "candidates", *ENTITIES)
            names = [name for name in read if name in source.schema_arrow.names]
            first_row = 0
            for batch in source.iter_batches(columns=names):
                rows = batch.to_pylist()
                self.too_short += self._add([row["text"] for row in rows], split, first_row)
                self._add(_templates(rows), split, first_row)
                self._add([_with_names_exchanged(row) for row in rows], split, first_row)
                first_row += len(batch)
        if "canary" in facts:
            self.canaries[facts["dataset"]] = facts["canary"]

    def _add(self, texts: Sequence[str], split: str, first_row: int) -> int:
        """Add the sentences of some rows, and return how many rows are too short."""
        too_short = 0
        for bare in (False, True):
            for row, words in _sentences(texts, bare):
                if len(words) < SHORTEST:
                    too_short += not bare
                elif (key := words.tobytes()) not in self._known:
                    self._known.add(key)
                    self.sentences.append(Sentence(words, split, first_row + row))
        return too_short


def _templates(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the texts as upstream's table of templates has them, with slots for the entities."""
    texts = []
    for row in rows:
        text = row["text"]
        for entity in ENTITIES:
            if row.get(entity):
                text = re.sub(rf"\b{re.escape(row[entity])}\b", f"${entity.upper()}", text)
        texts.append(text)
    return texts


def _with_names_exchanged(row: dict[str, Any]) -> str:
    """Return a text with the two candidates in each other's place, or as it is without them."""
    text: str = row["text"]
    candidates = [candidate["text"] for candidate in row.get("candidates") or ()]
    names = candidates or [row[entity] for entity in ENTITIES if row.get(entity)]
    places = occurrences(text, names) if len(names) == 2 else []
    if {place.candidate for place in places} == {0, 1}:
        for start, end, candidate in reversed(places):
            text = text[:start] + names[1 - candidate] + text[end:]
    return text


def _sentences(texts: Sequence[str], bare: bool) -> Iterator[tuple[int, Hashes]]:
    """Yield (place of the text, words) for every sentence.

    A bare one is as tools leave it that delete punctuation: dont for don't.
    """
    pieces = [SENTENCE_END.split(text) for text in texts]
    flat = [piece.replace("\n", " ") for text in pieces for piece in text]
    lines = [plain((PUNCTUATION.sub("", piece) if bare else piece).encode()) for piece in flat]
    words = hashed_words(b"\n".join(lines))
    line_ends = np.cumsum([len(line) + 1 for line in lines])
    ends = np.searchsorted(words.starts, line_ends).tolist()
    done = begin = 0
    for place, text_pieces in enumerate(pieces):
        bounds = [begin, *ends[done : done + len(text_pieces)]]
        done, begin = done + len(text_pieces), bounds[-1]
        for first, last in _joined(bounds):
            yield place, words.hashes[first:last]


def _joined(bounds: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Join neighbouring pieces until each part has `RUN` words, where the text has as many."""
    cuts = [bounds[0]]
    for bound in bounds[1:-1]:
        if bound - cuts[-1] >= RUN and bounds[-1] - bound >= RUN:
            cuts.append(bound)
    return pairwise([*cuts, bounds[-1]])

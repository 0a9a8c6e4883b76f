"""Finds evaluation sentences and canaries in files, folders, git history and corpora."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from pronominal.dataset_scripts.leakcheck.corpora import DAMAGED, CorpusText, Origin, documents
from pronominal.dataset_scripts.leakcheck.index import LeakIndex, Run
from pronominal.dataset_scripts.leakcheck.sentences import RUN
from pronominal.dataset_scripts.leakcheck.sightings import Sightings
from pronominal.dataset_scripts.leakcheck.word_runs import hashed_words, plain
from pronominal.errors import InputError

CONTEXT = 2 * RUN
"""Words before a block that are kept: a run with one word more, but for one, and its head."""
LONGEST_WORD = 4096
"""A longer stretch of bytes without a space is cut anywhere."""


@dataclass(frozen=True, slots=True)
class Leak:
    """One place where evaluation data was found; it never holds the data.

    Attributes:
        origin: the file, and the commit if it was found in the history.
        line: the line on which what was found of it begins, from 1; of a Parquet file, the row.
        source: what was found, such as ``"sentence of winopron double/test, row 57"``.
    """

    origin: Origin
    line: int
    source: str

    def __str__(self) -> str:
        history = f" ({self.origin.history})" if self.origin.history else ""
        return f"{self.origin.path}:{self.line}: {self.source}{history}"


@dataclass(slots=True)
class Survey:
    """What was looked into.

    Attributes:
        documents: number of files, and of objects in git history.
        size: their bytes, unpacked.
        unreadable: a sentence for each document that could not be read to its end.
    """

    documents: int = 0
    size: int = 0
    unreadable: list[str] = field(default_factory=list)

    @contextmanager
    def reading(
        self, document: CorpusText, progress: Callable[[int], None]
    ) -> Iterator[Iterator[bytes]]:
        """Give the bytes of a document and count them; note it if it cannot be read to its end."""

        def counted() -> Iterator[bytes]:
            for block in document.blocks:
                self.size += len(block)
                progress(self.size)
                yield block

        self.documents += 1
        try:
            yield counted()
        except DAMAGED as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            reason = error.cause if isinstance(error, InputError) else reason
            for origin in document.origins():
                history = f" ({origin.history})" if origin.history else ""
                self.unreadable.append(f"{origin.path}{history}: cannot be read ({reason})")


def leakcheck(
    paths: Iterable[str],
    index: LeakIndex,
    *,
    exclude: Sequence[str] = (),
    history: bool = True,
    survey: Survey | None = None,
    progress: Callable[[int], None] = lambda size: None,
) -> Iterator[Leak]:
    """Yield every leak below the paths, in the order of reading; see `corpora.documents`.

    A document that cannot be read is noted in the survey and the others are read. Memory does not
    grow with the size of a file or line: about 30 MB, and the index; but a zip or Parquet file in
    git history or in an archive is held as a whole. With `history`, the history of repositories is
    looked into too; `progress` is called with the bytes read so far. `InputError` if a path does
    not exist: all are looked for before the first is read.
    """
    survey = survey if survey is not None else Survey()
    for path in existing_paths(paths):
        for document in documents(path, exclude, history=history):
            origins: list[Origin] | None = None
            with survey.reading(document, progress) as blocks:
                for line, source in find_leaks(blocks, index):
                    origins = document.origins() if origins is None else origins
                    for origin in origins:
                        yield Leak(origin, line, source)


def existing_paths(paths: Iterable[str]) -> list[str]:
    """Return the paths; `InputError` for one where nothing is."""
    paths = list(paths)
    for path in paths:
        if not os.path.exists(path):
            raise InputError("there is no such file or folder", cure="check the path", file=path)
    return paths


def find_leaks(blocks: Iterable[bytes], index: LeakIndex) -> Iterator[tuple[int, str]]:
    """Yield (line, what was found there) for one text, in its order.

    A text that cannot be read to its end raises when all of the rest is told.
    """
    sightings = Sightings()
    try:
        yield from _found_so_far(blocks, index, sightings)
    except DAMAGED:
        yield from _named(sightings.settled(), index)
        raise
    yield from _named(sightings.settled(), index)


def _found_so_far(
    blocks: Iterable[bytes], index: LeakIndex, sightings: Sightings
) -> Iterator[tuple[int, str]]:
    passage = BEFORE_THE_TEXT
    for text in whole_words(blocks):
        passage = passage.followed_by(text)
        found = [
            (passage.line_at(start), f"canary of {dataset}")
            for start, dataset in index.find_canaries(text)
        ]
        tail = len(passage.tail)
        for place, length, runs in sorted(index.find_runs(passage.hashes, changed=True)):
            # a run that ends in the tail was found with the passage before
            if place + length > tail:
                where = passage.position + place
                sightings.add(runs, where, where + length, passage.line_of(place))
        found += _named(sightings.settled(passage.position + len(passage.hashes)), index)
        yield from sorted(found)


def _named(settled: Sequence[tuple[int, Run]], index: LeakIndex) -> list[tuple[int, str]]:
    return [
        (line, f"sentence of {index.splits[run.split]}, row {run.row}") for line, run in settled
    ]


class _Passage:
    """One block of a text, and the words just before it.

    Its line is the one on which it begins, its position the number of its first word, or of the
    tail's: hashes and lines of the last words before it.
    """

    def __init__(
        self, text: bytes, line: int, position: int = 0, tail: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.line, self.position, self.tail = line, position, tail
        self.newlines = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord("\n"))
        hashes, self.starts = hashed_words(text)
        before = np.array([word for word, _ in tail], dtype=np.uint64)
        self.hashes = np.concatenate([before, hashes])

    def followed_by(self, text: bytes) -> "_Passage":
        """Return the next block's passage."""
        count = len(self.hashes)
        last = range(max(0, count - CONTEXT), count)
        tail = [(int(self.hashes[place]), self.line_of(place)) for place in last]
        return _Passage(
            text, self.line + len(self.newlines), self.position + count - len(tail), tail
        )

    def line_of(self, place: int) -> int:
        """Return the line of a word; its place counts from the tail's first word."""
        if place < len(self.tail):
            return self.tail[place][1]
        return self.line_at(int(self.starts[place - len(self.tail)]))

    def line_at(self, offset: int) -> int:
        """Return the line of a byte."""
        return self.line + int(np.searchsorted(self.newlines, offset))


BEFORE_THE_TEXT = _Passage(b"", 1)


def whole_words(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the blocks, cut behind spaces only, as `plain` text."""
    rest = b""
    for block in blocks:
        text = rest + block
        recent = max(0, len(text) - LONGEST_WORD)
        space = max(text.rfind(b" ", recent), text.rfind(b"\n", recent))
        end = len(text) if space < 0 and recent else space + 1
        rest = text[end:]
        if end:
            yield plain(text[:end])
    if rest:
        yield plain(rest)

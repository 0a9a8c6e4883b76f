"""How much of a dataset a corpus holds: the runs of words of `leakcheck`, counted.

KnowRef-60k asks how much of a test set the training corpora of language models hold. Each
sentence is cut into runs of eight words from its end; the corpus holds a run if it has its words
side by side and in order; case and punctuation do not count.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow.compute as pc

from pronominal.dataset_scripts.leakcheck.corpora import documents
from pronominal.dataset_scripts.leakcheck.finder import Survey, existing_paths, whole_words
from pronominal.dataset_scripts.leakcheck.index import LeakIndex, Run
from pronominal.dataset_scripts.leakcheck.sentences import RUN
from pronominal.dataset_scripts.leakcheck.word_runs import Hashes, hashed_words


@dataclass(frozen=True, slots=True)
class SplitOverlap:
    """How much of one split a corpus holds.

    Attributes:
        split: such as ``"knowref original/test"``.
        n: number of its rows whose text is long enough and that of no earlier row. Of a text of
            several sentences, the one counts of which the corpus holds most.
        whole: share of them of which it holds every run, in [0, 1].
        half: share of them of which it holds at least half of the runs.
        any: share of them of which it holds at least one run.
        runs: mean share of a row's runs that it holds.
        rows: the rows that it holds whole, from 0.
    """

    split: str
    n: int
    whole: float
    half: float
    any: float
    runs: float
    rows: tuple[int, ...]


@dataclass(slots=True)
class _Seen:
    runs: int
    split: int
    row: int
    offsets: set[int] = field(default_factory=set)


def overlap(
    paths: Iterable[str],
    index: LeakIndex,
    *,
    exclude: Sequence[str] = (),
    survey: Survey | None = None,
    progress: Callable[[int], None] = lambda size: None,
) -> list[SplitOverlap]:
    """Count the runs of an index's sentences in files and folders.

    The runs of a sentence count wherever they are found, also in different documents: a share says
    how much of it a model may have seen, not that it saw the sentence (`leakcheck` does).

    Args:
        paths: the corpus, files that git ignores included; packed files are unpacked, see
            `leakcheck.corpora`.
        index: the sentences, from built datasets or a file.
        exclude: patterns of paths to leave out.
        survey: takes how much was read, and what could not be.
        progress: called with the bytes read so far.

    Raises:
        InputError: a path does not exist.
    """
    survey = survey if survey is not None else Survey()
    whole = index.table.filter(pc.invert(index.table["remainder"]))
    columns = [whole[name].to_pylist() for name in ("sentence", "runs", "split", "row")]
    seen = {sentence: _Seen(*its) for sentence, *its in zip(*columns, strict=True)}
    for path in existing_paths(paths):
        for document in documents(path, exclude, history=False, ignored=True):
            with survey.reading(document, progress) as blocks:
                for run in _runs(blocks, index):
                    seen[run.sentence].offsets.add(run.offset)
    return [
        _summary(name, [each for each in seen.values() if each.split == number])
        for number, name in enumerate(index.splits)
    ]


def _runs(blocks: Iterable[bytes], index: LeakIndex) -> Iterator[Run]:
    """Yield the known runs of one document."""
    tail: Hashes = np.empty(0, dtype=np.uint64)
    for text in whole_words(blocks):
        words = np.concatenate([tail, hashed_words(text).hashes])
        for _, _, runs in index.find_runs(words):
            yield from runs
        tail = words[-(RUN - 1) :]


def _summary(split: str, sentences: Sequence[_Seen]) -> SplitOverlap:
    best: dict[int, float] = {}
    for sentence in sentences:
        # an index also knows wordings without punctuation and with slots, which few texts hold
        share = len(sentence.offsets) / sentence.runs
        best[sentence.row] = max(best.get(sentence.row, 0.0), share)
    shares = np.array([*best.values()])
    return SplitOverlap(
        split=split,
        n=len(best),
        whole=float((shares == 1).mean()),
        half=float((shares >= 0.5).mean()),
        any=float((shares > 0).mean()),
        runs=float(shares.mean()),
        rows=tuple(sorted(row for row, share in best.items() if share == 1)),
    )

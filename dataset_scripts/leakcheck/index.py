"""The index of `leakcheck`: one-way hashes of runs of words, from which no sentence can be read.

The last eight words of a sentence make a run, the eight before them another one, and so on; what
is left at its beginning is not kept. A sentence of five to seven words is one run of that length.
Runs do not overlap: were there a hash for every eight neighbouring words, somebody who knows
seven of them could try out the next one, and so on to the end. As it is, a guess is right about a
whole run or tells nothing. The run that counts most is the last: in Winograd schemas the beginning
is often a common phrase, and the ending tells who is meant.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pronominal.atomic import new_file
from pronominal.dataset_scripts.leakcheck.sentences import RUN, Collection, Sentence
from pronominal.dataset_scripts.leakcheck.word_runs import Hashes, Sieve, prefix_hashes, scattered
from pronominal.errors import InputError
from pronominal.json_files import parse_object

FORMAT = "pronominal leak index 1"
REMEDY = "make one with 'pronominal leakcheck --write-index FILE --dataset FOLDER'"

SPARE_BITS = 10
"""Of 2**10 runs of other text, one has the tag of a known run, and its digest is compared."""
SIEVE_BITS = 22
"""The sieve before the tags takes at most 4 MiB, about what a core's cache holds."""

COLUMNS = pa.schema(
    [
        ("digest", pa.uint64()),
        ("tag", pa.uint32()),
        ("length", pa.uint8()),
        ("offset", pa.int32()),
        ("sentence", pa.int32()),
        ("runs", pa.int32()),
        ("split", pa.int32()),
        ("row", pa.int32()),
    ]
)


class Run(NamedTuple):
    """One run of a sentence.

    Attributes:
        offset: how many words of the sentence come before it.
        sentence: number of the sentence in the index.
        runs: how many runs the sentence has.
        split: number of the split that it is from.
        row: the first row there that holds the sentence, from 0.
    """

    offset: int
    sentence: int
    runs: int
    split: int
    row: int


@dataclass(slots=True)
class LeakIndex:
    """What `leakcheck` looks for.

    Attributes:
        table: one row for each run, sorted by digest; columns as in `COLUMNS`.
        tag_bits: how many leading bits of a run's quick hash are its tag. A quick hash could be
            undone, so the tags keep no more of it than tells most common text apart.
        splits: names of the splits, such as ``"winopron double/test"``.
        canaries: the canary of each dataset, in plain text as on its public card.
        sentences: number of distinct sentences, in every wording that is looked for.
        too_short: number of rows whose text is too short to be looked for.
    """

    table: pa.Table
    tag_bits: int
    splits: list[str]
    canaries: dict[str, str]
    sentences: int
    too_short: int
    _canary: re.Pattern[bytes] = field(init=False)
    _digests: Hashes = field(init=False)
    _runs: NDArray[np.int32] = field(init=False)
    _tags: Hashes = field(init=False)
    _sieve: Sieve = field(init=False)
    _lengths: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        canaries = [re.escape(canary.encode()) for canary in self.canaries.values()]
        self._canary = re.compile(b"|".join(canaries) or b"(?!)")
        self._digests = self.table["digest"].to_numpy()
        self._runs = np.column_stack([self.table[name].to_numpy() for name in Run._fields])
        tags = np.unique(self.table["tag"].to_numpy()).astype(np.uint64)
        self._tags = tags << np.uint64(64 - self.tag_bits)
        self._sieve = Sieve(self._tags, min(self.tag_bits - 4, SIEVE_BITS))
        self._lengths = frozenset(self.table["length"].to_numpy().tolist())

    @classmethod
    def of(cls, folders: Iterable[str | Path]) -> "LeakIndex":
        """Make the index of built datasets; `InputError` if a folder holds none."""
        collection = Collection()
        for folder in folders:
            collection.add_dataset(folder)
        if not collection.sentences:
            raise InputError("no sentence is long enough", cure="give --dataset FOLDER")
        splits = sorted({sentence.split for sentence in collection.sentences})
        rows, words = _runs(collection.sentences, splits)
        tag_bits = len(rows).bit_length() + SPARE_BITS
        for row, tag in zip(rows, _tags(words, tag_bits), strict=True):
            row["tag"] = tag
        table = pa.Table.from_pylist(rows, schema=COLUMNS)
        table = table.sort_by([("digest", "ascending"), ("sentence", "ascending")])
        counts = (len(collection.sentences), collection.too_short)
        return cls(table, tag_bits, splits, collection.canaries, *counts)

    @classmethod
    def read(cls, path: str | Path) -> "LeakIndex":
        """Read an index; `InputError` if the file is not one."""
        try:
            table = pq.read_table(path)
        except (OSError, pa.ArrowException, ValueError) as error:
            raise InputError("no index can be read", cure=REMEDY, file=path) from error
        told = (table.schema.metadata or {}).get(b"pronominal", b"{}")
        facts = parse_object(told, file=path, row="metadata", cure=REMEDY)
        known = table.schema.remove_metadata().equals(COLUMNS)
        if facts.pop("format", None) != FORMAT or not known:
            raise InputError("not an index of this version", cure=REMEDY, file=path)
        return cls(table, **facts)

    def write(self, path: str | Path) -> None:
        """Write the index as one Parquet file; the same datasets give the same bytes."""
        names = ("tag_bits", "splits", "canaries", "sentences", "too_short")
        facts = {"format": FORMAT, **{name: getattr(self, name) for name in names}}
        table = self.table.replace_schema_metadata({"pronominal": json.dumps(facts)})
        with new_file(path) as beside:
            pq.write_table(table, beside, compression="zstd")

    def find_canaries(self, text: bytes) -> Iterator[tuple[int, str]]:
        """Yield (byte offset, dataset) of every canary."""
        for found in self._canary.finditer(text):
            names = [name for name, guid in self.canaries.items() if guid.encode() == found[0]]
            yield found.start(), names[0]

    def find_runs(self, words: Hashes) -> Iterator[tuple[int, int, list[Run]]]:
        """Yield every known run: its place in `words`, its length, and whose run it is."""
        runs = prefix_hashes(words[first:] for first in range(min(RUN, len(words))))
        for length, hashes in enumerate(runs, start=1):
            if length in self._lengths:
                for place in self._suspects(scattered(hashes)):
                    if known := self._known(words[place : place + length]):
                        yield place, length, known

    def _suspects(self, hashes: Hashes) -> list[int]:
        """Return the places whose tag is known."""
        places = self._sieve.candidates(hashes)
        shift = np.uint64(64 - self.tag_bits)
        tags = hashes[places] >> shift << shift
        nearest = np.minimum(np.searchsorted(self._tags, tags), len(self._tags) - 1)
        return [*map(int, places[self._tags[nearest] == tags])]

    def _known(self, words: Hashes) -> list[Run]:
        digest = np.uint64(_digest(words))
        first = int(np.searchsorted(self._digests, digest))
        last = int(np.searchsorted(self._digests, digest, "right"))
        return [Run(*run) for run in self._runs[first:last].tolist()]


def _runs(
    sentences: Sequence[Sentence], splits: Sequence[str]
) -> tuple[list[dict[str, Any]], list[Hashes]]:
    """Return the table's rows without tags, and the words of each run."""
    rows: list[dict[str, Any]] = []
    words: list[Hashes] = []
    for number, sentence in enumerate(sentences):
        length = min(RUN, len(sentence.words))
        offsets = range(len(sentence.words) - length, -1, -length)
        for offset in offsets:
            run = sentence.words[offset : offset + length]
            words.append(run)
            split = splits.index(sentence.split)
            whose = Run(offset, number, len(offsets), split, sentence.row)._asdict()
            rows.append({"digest": _digest(run), "length": length, **whose})
    return rows, words


def _tags(runs: Sequence[Hashes], bits: int) -> list[int]:
    tags = np.zeros(len(runs), dtype=np.uint64)
    lengths = np.array([len(run) for run in runs])
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        *_, hashes = prefix_hashes(np.array([runs[place] for place in places.tolist()]).T)
        tags[places] = scattered(hashes) >> np.uint64(64 - bits)
    return [*map(int, tags)]


def _digest(words: Hashes) -> int:
    """Return the one-way hash of a run, 64 bits."""
    content = words.astype("<u8", copy=False).tobytes()
    return int.from_bytes(blake2b(content, digest_size=8, person=b"pronominal-leak").digest())

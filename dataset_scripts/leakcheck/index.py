"""The index of `leakcheck`: one-way hashes, from which no sentence can be read; see `entries`."""

import base64
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from pronominal.atomic import new_file
from pronominal.dataset_scripts.leakcheck.entries import COLUMNS, TAG_BITS, digest, entries
from pronominal.dataset_scripts.leakcheck.gaps import (
    gaps,
    half,
    hashed_around,
    run_hashes,
    words_around,
)
from pronominal.dataset_scripts.leakcheck.sentences import RUN, Collection
from pronominal.dataset_scripts.leakcheck.word_runs import (
    Hashes,
    Sieve,
    are_among,
    scattered,
)
from pronominal.errors import InputError
from pronominal.json_files import as_record, parse_object

FORMAT = "pronominal leak index 3"
REMEDY = "make one with 'pronominal leakcheck --write-index FILE --dataset FOLDER'"

SIEVE_BITS = 22
"""A sieve takes at most 4 MiB, about what a core's cache holds."""
SPARE_HALF_BITS = 5
"""Of 2**5 halves of other text, one is let through; more bits would tell what a half is."""


class Run(NamedTuple):
    """One run of a sentence, or a remainder of one.

    Attributes:
        offset: how many words of the sentence come before it.
        sentence: number of the sentence in the index.
        runs: how many runs the sentence has.
        split: number of the split that it is from.
        row: the first row there that holds the sentence, from 0.
        remainder: 1 if one word of the run is missing, else 0.
        head: how many words before it are hashed with it.
    """

    offset: int
    sentence: int
    runs: int
    split: int
    row: int
    remainder: int
    head: int


@dataclass(frozen=True, slots=True)
class _Facts:
    """What a file says of its index beside the table; see `LeakIndex`."""

    tag_bits: int
    splits: tuple[str, ...]
    canaries: Mapping[str, str]
    sentences: int
    too_short: int
    halves: str


def sealed(content: bytes) -> bytes:
    """Put the SHA-256 of a Parquet file before its footer, where its readers pass over it."""
    place = _footer(content)
    return content[:place] + hashlib.sha256(content).digest() + content[place:]


def _unsealed(content: bytes) -> bytes:
    """Take out what `sealed` has put in."""
    place = _footer(content)
    return content[: max(0, place - hashlib.sha256().digest_size)] + content[place:]


def _footer(content: bytes) -> int:
    """Return where the footer begins: its length stands before the last four bytes."""
    return len(content) - 8 - int.from_bytes(content[-8:-4], "little")


class _Tags:
    """The tags of runs: they tell nearly all other text apart, without a digest."""

    def __init__(self, tags: NDArray[np.uint32], bits: int) -> None:
        self._shift = np.uint64(64 - bits)
        self._tags = np.unique(tags).astype(np.uint64)
        self._sieve = Sieve(self._tags << self._shift, min(bits - 4, SIEVE_BITS))

    def suspects(self, hashes: Hashes) -> list[int]:
        """Return the places of the hashes whose tag is known."""
        places = self._sieve.candidates(hashes)
        known = are_among(hashes[places] >> self._shift, self._tags)
        return [*map(int, places[known])]


@dataclass(slots=True)
class LeakIndex:
    """What `leakcheck` looks for.

    Attributes:
        table: one row for each run and remainder, sorted by digest; columns as in `COLUMNS`.
        halves: lets through the halves of last runs, without telling which is whose.
        tag_bits: how many leading bits of a run's quick hash are its tag. A quick hash could be
            undone, so the tags keep no more of it than tells most common text apart.
        splits: names of the splits, such as ``"winopron double/test"``.
        canaries: the canary of each dataset, in plain text as on its public card.
        sentences: number of distinct sentences, in every wording that is looked for.
        too_short: number of rows whose text is too short to be looked for.
    """

    table: pa.Table
    halves: Sieve
    tag_bits: int
    splits: list[str]
    canaries: dict[str, str]
    sentences: int
    too_short: int
    _canary: re.Pattern[bytes] = field(init=False)
    _digests: Hashes = field(init=False)
    _runs: NDArray[np.int32] = field(init=False)
    _tags: tuple[_Tags, _Tags] = field(init=False)
    _lengths: list[int] = field(init=False)
    _heads: dict[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        canaries = [re.escape(canary.encode()) for canary in self.canaries.values()]
        self._canary = re.compile(b"|".join(canaries) or b"(?!)")
        columns = {name: self.table[name].to_numpy() for name in COLUMNS.names}
        self._digests = columns["digest"]
        self._runs = np.column_stack([columns[name].astype(np.int32) for name in Run._fields])
        changed, lengths = columns["remainder"], columns["length"]
        whole_tags, changed_tags = (columns["tag"][changed == kind] for kind in (False, True))
        self._tags = (_Tags(whole_tags, self.tag_bits), _Tags(changed_tags, self.tag_bits))
        self._lengths = np.unique(lengths[~changed]).tolist()
        self._heads = {
            length + 1: np.unique(columns["head"][changed & (lengths == length)]).tolist()
            for length in np.unique(lengths[changed]).tolist()
        }

    @classmethod
    def of(cls, folders: Iterable[str | Path]) -> "LeakIndex":
        """Make the index of built datasets; `InputError` if a folder holds none."""
        collection = Collection()
        for folder in folders:
            collection.add_dataset(folder)
        if not collection.sentences:
            raise InputError("no sentence is long enough", cure="give --dataset FOLDER")
        splits = sorted({sentence.split for sentence in collection.sentences})
        table, tag_bits, known_halves = entries(collection.sentences, splits)
        bits = min(len(known_halves).bit_length() + SPARE_HALF_BITS, SIEVE_BITS)
        counts = (len(collection.sentences), collection.too_short)
        return cls(table, Sieve(known_halves, bits), tag_bits, splits, collection.canaries, *counts)

    @classmethod
    def read(cls, path: str | Path) -> "LeakIndex":
        """Read an index; `InputError` if the file is not one, or a bit of it is another."""
        try:
            content = Path(path).read_bytes()
            table = pq.read_table(pa.BufferReader(content))
        except (OSError, pa.ArrowException, ValueError) as error:
            raise InputError("no index can be read", cure=REMEDY, file=path) from error
        metadata = (table.schema.metadata or {}).get(b"pronominal", b"{}")
        told = parse_object(metadata, file=path, row="metadata", cure=REMEDY)
        known = table.schema.remove_metadata().equals(COLUMNS)
        if told.get("format") != FORMAT or not known:
            raise InputError("not an index of this version", cure=REMEDY, file=path)
        if content != sealed(_unsealed(content)):
            raise InputError("the index is damaged", cure=REMEDY, file=path)
        facts = as_record(_Facts, told, file=Path(path), cure=REMEDY, row="metadata")
        splits = table["split"].to_numpy()
        try:
            if any(column.null_count for column in table.columns):
                raise ValueError("a value is missing")
            if len(splits) and not 0 <= splits.min() <= splits.max() < len(facts.splits):
                raise ValueError("there is no such split")
            if not 4 < facts.tag_bits <= TAG_BITS:
                raise ValueError("no tag has so many bits")
            halves = Sieve.unpacked(base64.b64decode(facts.halves, validate=True))
            names = (facts.tag_bits, [*facts.splits], {**facts.canaries})
            return cls(table, halves, *names, facts.sentences, facts.too_short)
        except (ValueError, LookupError, OverflowError, pa.ArrowException) as error:
            raise InputError("the index is damaged", cure=REMEDY, file=path) from error

    def write(self, path: str | Path) -> None:
        """Write the index as one Parquet file; the same datasets give the same bytes."""
        names = ("tag_bits", "splits", "canaries", "sentences", "too_short")
        facts = {"format": FORMAT, **{name: getattr(self, name) for name in names}}
        facts["halves"] = base64.b64encode(self.halves.packed()).decode()
        table = self.table.replace_schema_metadata({"pronominal": json.dumps(facts)})
        buffer = io.BytesIO()
        pq.write_table(table, buffer, compression="zstd")
        with new_file(path) as beside:
            beside.write_bytes(sealed(buffer.getvalue()))

    def find_canaries(self, text: bytes) -> Iterator[tuple[int, str]]:
        """Yield (byte offset, dataset) of every canary."""
        for found in self._canary.finditer(text):
            names = [name for name, guid in self.canaries.items() if guid.encode() == found[0]]
            yield found.start(), names[0]

    def find_runs(
        self, words: Hashes, *, changed: bool = False
    ) -> Iterator[tuple[int, int, list[Run]]]:
        """Yield every known run: its place in `words`, its length there, and whose run it is.

        With `changed`, also last runs of which one word is changed or lost, or that have one more.
        """
        hashes = run_hashes(words, RUN)
        runs = [row[: max(0, len(words) + 1 - length)] for length, row in enumerate(hashes)]
        halves = {
            size: self.halves.candidates(scattered(runs[size]))
            for size in ({half(length) for length in self._heads} if changed else ())
        }
        for length in self._lengths:
            # with changed ones, shorter runs are found by their halves
            if length == RUN or half(length) not in halves:
                for place in self._tags[False].suspects(scattered(runs[length])):
                    if known := self._known(words[place : place + length], remainder=False):
                        yield place, length, known
        for length in self._heads:
            if len(halves.get(half(length), ())):
                yield from self._changed_runs(words, hashes, length, halves[half(length)])

    def _changed_runs(
        self, words: Hashes, hashes: Hashes, length: int, places: NDArray[np.intp]
    ) -> Iterator[tuple[int, int, list[Run]]]:
        for remainder in (True, False):
            ways = gaps(length, remainder=remainder)
            around = hashed_around(hashes, places, ways)
            for suspect in self._tags[remainder].suspects(scattered(around)):
                gap = ways[suspect // len(places)]
                start = int(places[suspect % len(places)]) + gap.shift
                if not 0 <= start <= len(words) - gap.before - gap.width - gap.after:
                    continue
                for head in self._heads[length] if remainder else (0,):
                    kept = words_around(words, start, gap, head)
                    if known := self._known(kept, remainder=remainder):
                        yield start, gap.before + gap.width + gap.after, known

    def _known(self, words: Hashes, *, remainder: bool) -> list[Run]:
        wanted = np.uint64(digest(words, remainder))
        first = int(self._digests.searchsorted(wanted))
        if first == len(self._digests) or self._digests[first] != wanted:
            return []
        last = int(self._digests.searchsorted(wanted, "right"))
        return [Run(*run) for run in self._runs[first:last].tolist()]

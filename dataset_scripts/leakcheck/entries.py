"""What the index of `leakcheck` keeps of a sentence: one-way hashes of its runs and remainders.

The last eight words of a sentence make a run, the eight before them another one, and so on. A
sentence of five to seven words is one run of that length. Runs do not overlap: were there a hash
for every eight neighbouring words, somebody who knows seven of them could try out the next one, and
so on to the end. The run that counts most is the last: in Winograd schemas the beginning is often a
common phrase, and the ending tells who is meant.

So that a copy with one other word is found, too, the remainders of the last run are kept, each
hashed as a whole. What stands before the only run of a sentence, up to seven words, is its *head*;
it is hashed with the remainders, and nowhere else.
"""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from pronominal.dataset_scripts.leakcheck.gaps import half, remainders
from pronominal.dataset_scripts.leakcheck.sentences import RUN, SHORTEST, Sentence
from pronominal.dataset_scripts.leakcheck.word_runs import Hashes, prefix_hashes, scattered

SPARE_BITS = 10
"""Of 2**10 runs of other text, one has the tag of a known run, and its digest is compared."""
TAG_BITS = 32

COLUMNS = pa.schema(
    [
        ("digest", pa.uint64()),
        ("tag", pa.uint32()),
        ("length", pa.uint8()),
        ("remainder", pa.bool_()),
        ("head", pa.uint8()),
        ("offset", pa.int32()),
        ("sentence", pa.int32()),
        ("runs", pa.int32()),
        ("split", pa.int32()),
        ("row", pa.int32()),
    ]
)


class Entries(NamedTuple):
    """The rows of an index.

    Attributes:
        table: columns as in `COLUMNS`, sorted by digest.
        tag_bits: how many leading bits of a run's quick hash are its tag.
        halves: quick hashes of the halves of last runs.
    """

    table: pa.Table
    tag_bits: int
    halves: Hashes


def entries(sentences: Sequence[Sentence], splits: Sequence[str]) -> Entries:
    """Return what an index keeps of the sentences of these splits."""
    columns: dict[str, list[int]] = defaultdict(list)
    runs: list[Hashes] = []
    halves: list[Hashes] = []
    known: set[int] = set()

    def add(run: Hashes, head: Hashes, **values: int) -> None:
        entry = values | {"digest": digest(np.concatenate([head, run]), bool(values["remainder"]))}
        if values["remainder"] and values["runs"] == 1:
            if entry["digest"] in known:
                return  # it tells of one sentence or the other, whichever came first
            known.add(entry["digest"])
        runs.append(run)
        for name, value in (entry | {"length": len(run), "head": len(head)}).items():
            columns[name].append(value)

    nothing = np.empty(0, dtype=np.uint64)
    for number, (words, split, row) in enumerate(sentences):
        length = min(RUN, len(words))
        offsets = range(len(words) - length, -1, -length)
        whose = {"sentence": number, "runs": len(offsets), "split": splits.index(split), "row": row}
        for offset in offsets:
            add(words[offset : offset + length], nothing, remainder=False, offset=offset, **whose)
        if len(words) > SHORTEST:
            last = words[offsets[0] :]
            halves += [last[: half(length)], last[-half(length) :]]
            head = words[: offsets[0]] if len(offsets) == 1 else nothing
            for remainder in remainders(last):
                add(remainder, head, remainder=True, offset=offsets[0], **whose)
    bits = min(len(runs).bit_length() + SPARE_BITS, TAG_BITS)
    columns["tag"] = (_quick_hashes(runs) >> np.uint64(64 - bits)).tolist()
    table = pa.table({name: columns[name] for name in COLUMNS.names}, schema=COLUMNS)
    table = table.sort_by([("digest", "ascending"), ("sentence", "ascending")])
    return Entries(table, bits, _quick_hashes(halves))


def digest(words: Hashes, remainder: bool) -> int:
    """Return the one-way hash of a run, or of a remainder and its head: 64 bits."""
    content = words.astype("<u8", copy=False).tobytes()
    kind = b"pronominal-gap" if remainder else b"pronominal-leak"
    return int.from_bytes(blake2b(content, digest_size=8, person=kind).digest())


def _quick_hashes(runs: Sequence[Hashes]) -> Hashes:
    hashes = np.zeros(len(runs), dtype=np.uint64)
    lengths = np.array([len(run) for run in runs])
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        *_, whole = prefix_hashes(np.array([runs[place] for place in places.tolist()]).T)
        hashes[places] = scattered(whole)
    return hashes

"""Whether an id occurs twice in a split that is never in memory as a whole."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Fingerprints = npt.NDArray[np.uint64]

ODD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 divided by the golden ratio: multiplying by it spreads every bit to the higher ones."""


def fingerprints(ids: pa.Array) -> Fingerprints:
    """Return 64 bits for each id, the same for the same id in whatever array it stands.

    Eight bytes at a time are mixed in; what an id is shorter than the longest one is filled with
    zeros before it, which leave a fingerprint of zero as it is.
    """
    longest = pc.max(pc.binary_length(ids)).as_py() or 0
    width = -(-longest // 8) * 8
    filled = pc.ascii_lpad(ids, width, padding="\0")
    words = np.frombuffer(filled.buffers()[2] or b"", dtype=np.uint64, count=len(ids) * width // 8)
    mixed = np.zeros(len(ids), dtype=np.uint64)
    for column in words.reshape(len(ids), -1).T:
        mixed ^= column
        # multiplying moves nothing to lower bits, so that they are filled before and after it
        mixed ^= mixed >> np.uint64(32)
        mixed *= ODD
        mixed ^= mixed >> np.uint64(29)
    return mixed


def suspected_rows(blocks: Sequence[Fingerprints]) -> list[int]:
    """Return the rows, in order, whose fingerprint occurs more than once in a split.

    Two ids may by chance have one fingerprint: only the ids themselves tell.
    """
    ordered = np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.uint64)
    ordered.sort()
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    if not len(repeated):
        return []
    rows: list[int] = np.flatnonzero(np.isin(np.concatenate(blocks), repeated)).tolist()
    return rows


def repeated_ids(rows: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield (row, what is wrong) for every id, given with its row, that stood there before."""
    first_row: dict[str, int] = {}
    for row, name in rows:
        if first_row.setdefault(name, row) != row:
            yield row, f"the id {name} is also that of row {first_row[name]}"

"""Runs of which one word was changed, lost or replaced by two, or which got a word more.

What is left of a run without one of its words is its *remainder*. A text that holds a changed copy
holds a remainder, with a gap of up to two words, and one of the run's *halves* whole: so only
where half of a known run stands are the remainders looked for.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronominal.dataset_scripts.leakcheck.word_runs import FACTORS, Hashes


class Gap(NamedTuple):
    """Where the words of a run stand around a gap.

    Attributes:
        shift: where the first word stands, seen from the half that is whole.
        before: how many words of the run come before the gap.
        width: words in the gap, from 0 to 2.
        after: how many words of the run come behind it.
    """

    shift: int
    before: int
    width: int
    after: int


def remainders(run: Hashes) -> Hashes:
    """Return a row for each word of a run: the other words."""
    length = len(run)
    places = np.arange(length - 1)
    rows: Hashes = run[places + (places >= np.arange(length)[:, np.newaxis])]
    return rows


def half(length: int) -> int:
    """Return how many words a half of a run has; one in the middle belongs to neither."""
    return length // 2


@cache
def gaps(length: int, *, remainder: bool) -> tuple[Gap, ...]:
    """Return the ways in which a text may hold a run of this length, one half of it whole.

    Args:
        length: of the whole run.
        remainder: whether one of its words was changed, lost or replaced by two; otherwise it got
            one more, or none. The last word changed looks like the last word lost.
    """
    first, last = half(length), length - half(length)
    if not remainder:
        added = [Gap(0, before, 1, length - before) for before in range(first, length)]
        added += [Gap(0, length, 0, 0)]
        added += [Gap(-last - 1, before, 1, length - before) for before in range(1, last + 1)]
        return tuple(added)
    changed = [Gap(0, before, 1, length - 1 - before) for before in range(first, length - 1)]
    changed += [Gap(-last, before, 1, length - 1 - before) for before in range(last)]
    changed += [Gap(0, before, 2, length - 1 - before) for before in range(first, length - 1)]
    changed += [Gap(-last - 1, before, 2, length - 1 - before) for before in range(last)]
    return (*changed, Gap(0, length - 1, 0, 0), Gap(1 - last, 0, 0, length - 1))


def run_hashes(words: Hashes, longest: int) -> Hashes:
    """Return a row for each length: the hashes of a text's runs of no word, one word, and so on.

    They stand where the runs begin; where none does, also behind the last word, is nothing (0).
    """
    hashes = np.zeros((longest + 1, len(words) + 1), np.uint64)
    for length in range(1, longest + 1):
        runs = hashes[length, : max(0, len(words) + 1 - length)]
        np.multiply(hashes[length - 1, : len(runs)], FACTORS[0], out=runs)
        runs += words[length - 1 :]
    return hashes


def hashed_around(hashes: Hashes, places: NDArray[np.intp], ways: tuple[Gap, ...]) -> Hashes:
    """Return the hash of each run without its gap: for each gap, a run at each place.

    Where a run would not lie in the text, it is any hash.

    Args:
        hashes: of the text's runs; see `run_hashes`.
        places: where halves begin.
        ways: the gaps that are looked for.
    """
    (shift, before, width, after), factors = _columns(ways)
    starts = places + shift
    behind = starts + before + width
    row, flat = hashes.shape[1], hashes.reshape(-1)
    around: Hashes = flat.take(starts + before * row, mode="clip") * factors
    around += flat.take(behind + after * row, mode="clip")
    return around.reshape(-1)


@cache
def _columns(ways: tuple[Gap, ...]) -> tuple[NDArray[np.intp], Hashes]:
    """Return the fields of gaps, a column each, and the factor of the hash before each."""
    factors = [pow(int(FACTORS[0]), gap.after, 1 << 64) for gap in ways]
    fields = np.array(ways, np.intp).T[:, :, np.newaxis]
    return fields, np.array(factors, np.uint64)[:, np.newaxis]


def words_around(words: Hashes, start: int, gap: Gap, head: int) -> Hashes:
    """Return the words of one such run, behind the `head` words before it that a text has."""
    middle = start + gap.before
    behind = words[middle + gap.width :][: gap.after]
    return np.concatenate([words[max(0, start - head) : middle], behind])

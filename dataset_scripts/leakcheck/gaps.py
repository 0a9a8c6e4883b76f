"""Runs of which one word was changed, lost or replaced by two, or which got a word more.

What is left of a run without one of its words is its *remainder*. A text that holds a changed copy
holds a remainder, with a gap of up to two words, and one of the run's *halves* whole: so only
where half of a known run stands are the remainders looked for.
"""

from collections.abc import Sequence
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


def gaps(length: int, *, remainder: bool) -> list[Gap]:
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
        return added + [Gap(-last - 1, before, 1, length - before) for before in range(1, last + 1)]
    changed = [Gap(0, before, 1, length - 1 - before) for before in range(first, length - 1)]
    changed += [Gap(-last, before, 1, length - 1 - before) for before in range(last)]
    changed += [Gap(0, before, 2, length - 1 - before) for before in range(first, length - 1)]
    changed += [Gap(-last - 1, before, 2, length - 1 - before) for before in range(last)]
    return [*changed, Gap(0, length - 1, 0, 0), Gap(1 - last, 0, 0, length - 1)]


def hashed_around(
    prefixes: Sequence[Hashes], places: NDArray[np.intp], gap: Gap
) -> tuple[NDArray[np.intp], Hashes]:
    """Return where runs begin that have such a gap, and their hashes without it.

    Args:
        prefixes: the hashes of the text's runs of one word, two words, and so on.
        places: where halves begin.
        gap: the gap.
    """
    starts = places + gap.shift
    words = gap.before + gap.width + gap.after
    starts = starts[(starts >= 0) & (starts + words <= len(prefixes[0]))]
    behind = starts + gap.before + gap.width
    if not gap.before:
        return starts, prefixes[gap.after - 1][behind]
    hashes = prefixes[gap.before - 1][starts]
    if gap.after:
        factor = np.uint64(pow(int(FACTORS[0]), gap.after, 1 << 64))
        hashes = hashes * factor + prefixes[gap.after - 1][behind]
    return starts, hashes


def words_around(words: Hashes, start: int, gap: Gap) -> Hashes:
    """Return the words of one such run."""
    end = start + gap.before + gap.width + gap.after
    return np.delete(words[start:end], slice(gap.before, gap.before + gap.width))

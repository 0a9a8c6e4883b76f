"""Long documents cut into windows, which an encoder reads apart from each other."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from pronominal.spans import Span


def windows(total: int, capacity: int, *borders: Sequence[int]) -> Iterator[Span]:
    """Yield the ranges of subwords that are windows.

    A window ends at the last border of the first kind that fits, such as the end of a sentence;
    inside a sentence that alone is too long, at the last border of the next kind, such as the end
    of a word; and where there is none, where the window is full.

    Args:
        total: subwords of the document.
        capacity: subwords of a window, at least 1.
        borders: for each kind, where its parts begin, ascending from 0.
    """
    start = 0
    while start < total:
        end = min(start + capacity, total)
        if end < total:
            fitting = (kind[bisect_right(kind, end) - 1] for kind in borders)
            end = next((border for border in fitting if border > start), end)
        yield Span(start, end)
        start = end


def oversized(borders: Sequence[int], capacity: int) -> dict[int, int]:
    """Return the parts that no window holds: their number and their length in subwords.

    `borders` are where the parts begin, ascending, and the number of subwords behind them.
    """
    lengths = enumerate(end - start for start, end in pairwise(borders))
    return {number: length for number, length in lengths if length > capacity}

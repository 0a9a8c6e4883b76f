"""What systems answer, as values of the types that their interface names."""

from collections.abc import Mapping
from operator import index
from typing import Any

from pronominal.spans import Cluster, Span


def as_clusters(answer: Any) -> list[Cluster]:
    """Return the clusters of one text; any pairs of integers are spans, such as numpy's.

    Raises:
        TypeError: they are something else, such as fractions, words or truth values.
        ValueError: something has not two numbers.
    """
    _refuse_no_list(answer)
    return [[Span(_integer(start), _integer(end)) for start, end in cluster] for cluster in answer]


def as_numbers(answer: Any) -> list[float]:
    """Return the numbers for one instance; any numbers count, such as numpy's.

    Raises:
        TypeError: they are something else, such as words.
        ValueError: something is several numbers.
    """
    _refuse_no_list(answer)
    numbers = [*answer]
    if any(isinstance(number, str | bytes) for number in numbers):
        raise TypeError("a word")
    return [float(number) for number in numbers]


def _refuse_no_list(answer: Any) -> None:
    # what they hold could be taken for a list
    if isinstance(answer, str | bytes | Mapping):
        raise TypeError(f"a {type(answer).__name__}")


def _integer(offset: Any) -> int:
    if isinstance(offset, bool):
        raise TypeError("a truth value")
    return index(offset)

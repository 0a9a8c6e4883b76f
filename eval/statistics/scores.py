"""The scores of one system on some rows: a tree of figures, as ``score --json`` prints it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Block = dict[str, Any]
"""Names and values of one part of the scores; a fraction that is undefined is None."""

Keys = tuple[str, ...]
"""Keys that lead to a number in the scores.

In a pattern, ``*`` stands for any key and ``a|b`` for one of two.
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of the scores.

    Attributes:
        value: a share, a ratio or a count.
        low: lower end of its interval; None where there is none.
        high: upper end of its interval.
        sd: standard deviation over samples, where the scores have that instead of an interval.
        n: of how many groups, pairs or rows it is.
    """

    value: float
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    n: int | None = None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval, or one standard deviation to both sides."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        return None if self.sd is None else (self.value - self.sd, self.value + self.sd)


@dataclass(frozen=True, slots=True, eq=False)
class Scores(Mapping[str, Any]):
    """What one system got on some rows.

    A number has its name, and its interval has the same name in ``interval``. ``n`` counts the
    rows. A mapping holds the scores of a part of the rows, or a test.

    Attributes:
        content: what ``--json`` prints; ratios are in [0, 1], and None where undefined.
    """

    content: Mapping[str, Any]

    def __getitem__(self, key: str) -> Any:
        return self.content[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)

    def __or__(self, more: Mapping[str, Any]) -> "Scores":
        return Scores({**self.content, **more})

    def mismatch(self) -> str | None:
        """Return the name of a field that no scores can have; None where all of them fit."""
        return next(_mismatches(self.content, ""), None)

    def figure(self, path: Keys) -> Figure | None:
        """Return the number that keys lead to; None where it is undefined or missing."""
        block = self._block(path[:-1])
        value = block.get(path[-1])
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        low, high = (block.get("interval") or {}).get(path[-1]) or (None, None)
        sd = block.get("sd") if path[-1] == "accuracy" else None
        n = next((block[key] for key in ("groups", "pairs", "n") if key in block), None)
        if n is not None and "ambiguous" in block:
            n -= block["ambiguous"]
        return Figure(value, low, high, sd, n)

    def has(self, path: Keys) -> bool:
        """Whether there is a number at the end of the keys, be it undefined."""
        return path[-1] in self._block(path[:-1])

    def is_vacuous(self, path: Keys) -> bool:
        """Whether a number is 1 by convention, as a precision is where nothing was chosen."""
        return bool(self._block(path[:-1]).get(f"{path[-1]}_is_vacuous"))

    def is_of_rows(self, path: Keys) -> bool:
        """Whether the n of a number counts rows, and not groups or pairs of them."""
        block = self._block(path[:-1])
        return "n" in block and not block.keys() & {"groups", "pairs"}

    def paths(self, pattern: Keys) -> Iterator[tuple[Keys, Keys]]:
        """Yield (the keys that stand where a pattern leaves a choice, the whole path)."""
        yield from _paths(self.content, pattern, (), ())

    def _block(self, path: Keys) -> Mapping[str, Any]:
        block: Any = self.content
        for key in path:
            block = block.get(key) if isinstance(block, Mapping) else None
        return block if isinstance(block, Mapping) else {}


def _mismatches(block: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield what is no number, word, list of words or block, and intervals without two ends."""
    for key, value in block.items():
        where = f"{place}.{key}" if place else key
        if key == "interval" and isinstance(value, Mapping):
            ends = {name: pair for name, pair in value.items() if pair is not None}
            yield from (f"{where}.{name}" for name, pair in ends.items() if not _is_pair(pair))
        elif isinstance(value, Mapping):
            yield from _mismatches(value, where)
        elif isinstance(value, list):
            if not all(isinstance(word, str) for word in value):
                yield where
        elif not isinstance(value, str | int | float | None) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            yield where


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(isinstance(end, int | float) and math.isfinite(end) for end in value)
    )


def is_choice(key: str) -> bool:
    """Whether a key of a pattern leaves a choice."""
    return key == "*" or "|" in key


def _paths(block: Any, pattern: Keys, chosen: Keys, path: Keys) -> Iterator[tuple[Keys, Keys]]:
    if not pattern:
        yield chosen, path
    elif isinstance(block, Mapping):
        free = is_choice(pattern[0])
        for key in block if pattern[0] == "*" else pattern[0].split("|"):
            if key in block:
                further = (*chosen, key) if free else chosen
                yield from _paths(block[key], pattern[1:], further, (*path, key))


def plain(value: Any) -> Any:
    """Return scores with numbers, lists and mappings of Python's own in place of numpy's.

    >>> plain({"n": np.int64(2), "interval": {"share": (np.float32(0.5), 1)}})
    {'n': 2, 'interval': {'share': [0.5, 1]}}
    """
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def blocks(**columns: Any) -> list[Block]:
    """Turn columns into one block for each place.

    >>> blocks(n=[2, 0], share=[0.5, float("nan")])
    [{'n': 2, 'share': 0.5}, {'n': 0, 'share': None}]

    Args:
        columns: arrays or lists of one length; NaN becomes None, for JSON has no NaN.
    """
    values = (c.tolist() if isinstance(c, np.ndarray) else c for c in columns.values())
    return [
        {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in zip(columns, row, strict=True)
        }
        for row in zip(*values, strict=True)
    ]

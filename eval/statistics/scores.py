"""The scores of one system on some rows: a tree of figures, as ``score --json`` prints it."""

import math
from collections.abc import Iterator, KeysView, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pronominal.eval.statistics.intervals import FEW, Estimate

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
        sd: standard deviation over samples of several seeds, where the scores have it.
        n: of how many groups, pairs or rows it is.
        units: of how many independent units it is.
        missing: why there is no interval.
    """

    value: float
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    n: int | None = None
    units: int | None = None
    missing: str | None = None

    @property
    def is_of_few(self) -> bool:
        """Whether it is of so few units that no verdict rests on its interval."""
        return self.units is not None and self.units < FEW

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True, eq=False)
class Scores(Mapping[str, Any]):
    """What one system got on some rows.

    A number has its name, and its interval has the same name in ``interval``; where that is None,
    ``interval_missing`` says why. ``n`` counts the rows, ``units`` what intervals sum over,
    and ``units_of`` the same for figures of other units. A
    mapping holds the scores of a part of the rows, or a test.

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

    def keys(self) -> KeysView[str]:
        """Return the names alone: the view of a `Mapping` would print all figures."""
        return dict.fromkeys(self.content).keys()

    def __or__(self, more: Mapping[str, Any]) -> "Scores":
        return Scores({**self.content, **more})

    def mismatch(self) -> str | None:
        """Return the name of a field that no scores can have; None where all of them fit."""
        return next(_mismatches(self.content, ""), None)

    def figure(self, path: Keys) -> Figure | None:
        """Return the number that keys lead to; None where it is undefined or missing."""
        block = self.block(path[:-1])
        value = block.get(path[-1])
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        low, high = (block.get("interval") or {}).get(path[-1]) or (None, None)
        sd = block.get("sd") if path[-1] == "accuracy" else None
        n = next((block[key] for key in ("groups", "pairs", "n") if key in block), None)
        if n is not None and "ambiguous" in block:
            n -= block["ambiguous"]
        missing = (block.get("interval_missing") or {}).get(path[-1])
        return Figure(value, low, high, sd, n, units_of(block, path[-1]), missing)

    def has(self, path: Keys) -> bool:
        """Whether there is a number at the end of the keys, be it undefined."""
        return path[-1] in self.block(path[:-1])

    def is_vacuous(self, path: Keys) -> bool:
        """Whether a number is 1 by convention, as a precision is where nothing was chosen."""
        return bool(self.block(path[:-1]).get(f"{path[-1]}_is_vacuous"))

    def is_of_rows(self, path: Keys) -> bool:
        """Whether the n of a number counts rows, and not groups or pairs of them."""
        block = self.block(path[:-1])
        return "n" in block and not block.keys() & {"groups", "pairs"}

    def paths(self, pattern: Keys) -> Iterator[tuple[Keys, Keys]]:
        """Yield (the keys that stand where a pattern leaves a choice, the whole path)."""
        yield from _paths(self.content, pattern, (), ())

    def block(self, path: Keys) -> Mapping[str, Any]:
        """Return the block that keys lead to; an empty one where there is none."""
        block: Any = self.content
        for key in path:
            block = block.get(key) if isinstance(block, Mapping) else None
        return block if isinstance(block, Mapping) else {}


def units_of(block: Mapping[str, Any], name: str) -> int | None:
    """Return of how many independent units a figure of a block is; None where nobody says."""
    found: int | None = block.get("units_of", {}).get(name, block.get("units"))
    return found


NAMED = ("interval", "interval_missing", "units_of")
"""Fields that say something of each figure beside them, by its name."""


def _mismatches(block: Mapping[str, Any], place: str) -> Iterator[str]:
    """Yield what is no number, word, list of words or block, and intervals without two ends."""
    for key, value in block.items():
        where = f"{place}.{key}" if place else key
        if key == "interval" and isinstance(value, Mapping):
            ends = {name: pair for name, pair in value.items() if pair is not None}
            yield from (f"{where}.{name}" for name, pair in ends.items() if not _is_pair(pair))
        elif isinstance(value, Mapping):
            yield from _mismatches(value, where)
        elif key in NAMED and value is not None:
            yield where
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


NOTHING = "there is nothing to divide by"
"""Why a figure has no interval: nothing was chosen, say, or there are no rows."""


def estimate_blocks(
    estimates: Mapping[str, Estimate], reason: str = NOTHING, **columns: Any
) -> list[Block]:
    """Turn estimates into one block for each place: figures, ``units`` and ``interval``.

    Figures of other units than the first one have theirs in ``units_of``, such as a precision of
    the occupations in which anything was chosen.

    Args:
        estimates: name -> vectors of one length. The first one says how many units a block has.
        reason: why a figure has no interval.
        columns: what else the blocks have, as in `blocks`; a column takes the place of the
            estimate of its name.

    Returns:
        Blocks in which ``interval_missing`` says why a figure has none, where any has none.
    """
    first = next(iter(estimates.values()))
    values = {name: one.estimate for name, one in estimates.items()} | columns
    made = blocks(**values, units=first.units)
    for place, block in enumerate(made):
        block["interval"] = {name: one.ends(place) for name, one in estimates.items()}
        units = {name: int(one.units[place]) for name, one in estimates.items()}
        if other := {name: n for name, n in units.items() if n != block["units"]}:
            block["units_of"] = other
        missing = [name for name, ends in block["interval"].items() if ends is None]
        if missing:
            block["interval_missing"] = dict.fromkeys(missing, reason)
    return made


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

"""Blocks of numbers as ``--json`` prints them."""

import math
from typing import Any

import numpy as np

Block = dict[str, Any]
"""Names and values; a fraction that is undefined is None."""


def blocks(**columns: Any) -> list[Block]:
    """Turn columns into one block for each place.

    >>> blocks(n=[2, 0], share=[0.5, float("nan")])
    [{'n': 2, 'share': 0.5}, {'n': 0, 'share': None}]

    Args:
        columns: arrays or lists of one length; NaN becomes None, for JSON has no NaN.
    """
    values = (c.tolist() if isinstance(c, np.ndarray) else c for c in columns.values())
    return [
        {name: _defined(value) for name, value in zip(columns, row, strict=True)}
        for row in zip(*values, strict=True)
    ]


def _defined(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value

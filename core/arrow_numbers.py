"""Numbers of Arrow's columns as numpy has them.

pyarrow's own conversions, also to and from Python's numbers, first import pandas where it is
installed, which takes longer than to score a dataset.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def numbers(values: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Return integers or floats; a null is 0."""
    if isinstance(values, pa.ChunkedArray):
        chunks = [numbers(chunk) for chunk in values.chunks]
        return np.concatenate(chunks) if chunks else numbers(pa.nulls(0, values.type))
    width = values.type.bit_width // 8
    kind = "f" if pa.types.is_floating(values.type) else "i"
    kind = "u" if pa.types.is_unsigned_integer(values.type) else kind
    data = values.buffers()[1]
    start, end = values.offset * width, (values.offset + len(values)) * width
    found = np.frombuffer(b"" if data is None else memoryview(data)[start:end], f"={kind}{width}")
    return np.where(nulls(values), found.dtype.type(0), found) if values.null_count else found


def nulls(values: pa.Array) -> NDArray[np.bool_]:
    """Say of each value whether it is null."""
    said = values.is_null()
    bits = np.frombuffer(said.buffers()[1], np.uint8)
    of_all = np.unpackbits(bits, count=said.offset + len(said), bitorder="little")
    return of_all[said.offset :].astype(np.bool_)

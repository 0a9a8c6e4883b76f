"""Numbers of Arrow's columns are those that pyarrow itself gives."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.arrow_numbers import nulls, numbers

KINDS = {
    pa.int8(): st.integers(-(2**7), 2**7 - 1),
    pa.uint16(): st.integers(0, 2**16 - 1),
    pa.int32(): st.integers(-(2**31), 2**31 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float32(): st.floats(width=32, allow_nan=False),
    pa.float64(): st.floats(allow_nan=False),
}


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(data=st.data())
def test_numbers_are_those_of_pyarrow(kind: pa.DataType, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | KINDS[kind], max_size=20))
    start = data.draw(st.integers(0, len(values)))
    part = pa.array(values, kind).slice(start)
    found = numbers(part)
    expected = part.fill_null(0).to_numpy(zero_copy_only=False)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(nulls(part), [value is None for value in values[start:]])
    chunked = pa.chunked_array([part, part], kind)
    np.testing.assert_array_equal(numbers(chunked), np.concatenate([expected, expected]))


def test_no_chunk_is_no_number() -> None:
    assert numbers(pa.chunked_array([], pa.int32())).dtype == np.int32

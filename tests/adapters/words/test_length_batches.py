"""Inputs that go through a model together: all of them, once, within the bounds."""

from itertools import chain
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.adapters.words.length_batches import UnitBatches, length_batches, require_batch_size
from pronominal.errors import InputError


@given(
    st.lists(st.integers(0, 40), max_size=30),
    st.integers(1, 60),
    st.none() | st.integers(1, 5),
    st.booleans(),
)
def test_batches_are_whole_and_bounded(
    lengths: list[int], room: int, most: int | None, padded: bool
) -> None:
    batches = list(length_batches(lengths, room=room, most=most, padded=padded))
    filled = [index for index, length in enumerate(lengths) if length]
    assert sorted(chain(*batches)) == filled
    for batch in batches:
        own = [lengths[index] for index in batch]
        together = len(own) * max(own) if padded else sum(own)
        assert len(own) == 1 or together <= room
        assert most is None or len(own) <= most


def test_similar_lengths_go_together() -> None:
    assert list(length_batches([5, 1, 5, 1, 0], room=10)) == [[1, 3, 0], [2]]
    assert list(length_batches([5, 1, 5, 1, 0], room=10, padded=True)) == [[1, 3], [0, 2]]


@pytest.mark.parametrize("size", [0, -1, 2.5, 2.0, True, "2"])
def test_batches_of_no_whole_number_of_texts(size: Any) -> None:
    require_batch_size(1)
    with pytest.raises(InputError, match=f"a batch of {size} texts; give a batch size above 0"):
        require_batch_size(size)


def test_what_belongs_together_stays_in_one_batch() -> None:
    units = [("a", "bb"), ("ccc",), ("d", "ee"), ("f", "g")]
    batches = UnitBatches(units, batch_size=4, length=len)
    drawn = batches.drawn(seed=1)
    assert len(drawn(0)) == batches.in_epoch == 2
    assert sorted(unit for batch in drawn(0) for unit in batch) == sorted(units)
    assert all(len(batch) <= 2 for batch in drawn(0))
    assert drawn(3) == UnitBatches(units, batch_size=4, length=len).drawn(seed=1)(3)

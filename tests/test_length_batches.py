"""Inputs that go through a model together: all of them, once, within the bounds."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from pronominal.adapters.length_batches import length_batches


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

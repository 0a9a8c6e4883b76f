"""Speakers are numbers to the head, which has room for a few."""

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from pronominal.adapters.c2f.head.units import speaker_numbers


@given(st.lists(st.sampled_from([f"s{number}" for number in range(25)])))
def test_speakers_differ_up_to_the_limit(names: list[str]) -> None:
    numbers = speaker_numbers(names, None)
    assert len(set(numbers)) == len(set(names))
    first = dict.fromkeys(names)
    limited = speaker_numbers(names, 20)
    expected = {name: n + 2 if n < 18 else 3 for n, name in enumerate(first)}
    assert limited == [expected[name] for name in names]

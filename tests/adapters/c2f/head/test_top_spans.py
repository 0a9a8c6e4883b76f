"""The best candidate spans are kept, none of which cross."""

import pytest

pytest.importorskip("torch")

from hypothesis import given
from hypothesis import strategies as st

from pronominal.adapters.c2f.head.top_spans import keep_best


@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), unique=True, max_size=40),
    st.integers(0, 12),
)
def test_kept_spans_do_not_cross(places: list[tuple[int, int]], count: int) -> None:
    starts, ends = [s for s, _ in places], [s + w for s, w in places]
    kept = keep_best(starts, ends, range(len(places)), count)
    spans = [(starts[i], ends[i]) for i in kept]
    assert spans == sorted(spans)

    def cross(one: int, other: int) -> bool:
        a, b = sorted([(starts[one], ends[one]), (starts[other], ends[other])])
        return a[0] < b[0] < a[1] < b[1]

    expected: list[int] = []
    for span in range(len(places)):
        if len(expected) < count and not any(cross(span, other) for other in expected):
            expected.append(span)
    assert sorted(kept) == expected

"""The scores of whole documents are those that the papers' examples have."""

import itertools
from collections.abc import Sequence

import pytest

pytest.importorskip("scipy")

from hypothesis import given
from hypothesis import strategies as st

from pronominal import Span
from pronominal.eval.scores.conll import TALLIES, conll_scores
from pronominal.spans import Cluster


def clusters(*entities: str) -> list[Cluster]:
    """Every letter is a mention of its own."""
    return [[Span(ord(letter), ord(letter) + 1) for letter in entity] for entity in entities]


PRADHAN_2014 = (
    ("abc", "defg"),
    ("ab", "cd", "fghi"),
    {  # Pradhan et al. (2014), Figure 1 and its worked scores
        "mentions": (6 / 7, 6 / 8),
        "muc": (2 / 5, 2 / 5),
        "b_cubed": ((4 / 3 + 1 / 3 + 1 / 4 + 4 / 4) / 7, (2 + 1 / 2 + 1 / 2 + 4 / 4) / 8),
        "ceaf_m": (4 / 7, 4 / 8),
        "ceaf_e": ((4 / 5 + 4 / 8) / 2, (4 / 5 + 4 / 8) / 3),
        "lea": ((3 * 1 / 3 + 4 * 1 / 6) / 7, (2 * 1 + 0 + 4 * 1 / 6) / 8),
    },
)
VILAIN_1995 = (  # the second example of the paper: one chain of four, found as two pairs
    ("abcd",),
    ("ab", "cd"),
    {"muc": (2 / 3, 2 / 2), "b_cubed": (8 / 4 / 4, 4 / 4), "ceaf_m": (2 / 4, 2 / 4)},
)
BAGGA_1998 = (  # five, two and five mentions; the system links the two fives
    ("12345", "67", "89abc"),
    ("12345" + "89abc", "67"),
    {"muc": (9 / 9, 9 / 10), "b_cubed": (1, 7 / 12), "ceaf_m": (7 / 12, 7 / 12)},
)
BAGGA_1998_SMALL = (  # ... or one of the fives and the two
    ("12345", "67", "89abc"),
    ("12345", "67" + "89abc"),
    {"muc": (9 / 9, 9 / 10), "b_cubed": (1, (5 + 4 / 7 + 25 / 7) / 12)},
)
SINGLETONS = (
    ("ab", "c"),
    ("ab", "c", "d"),
    {"muc": (1, 1), "b_cubed": (1, 3 / 4), "ceaf_e": (1, 2 / 3), "lea": (1, 3 / 4)},
)
NOTHING_FOUND = (
    ("ab",),
    (),
    dict.fromkeys((*TALLIES, "conll"), (0, 0)),
)


@pytest.mark.parametrize(
    ("gold", "predicted", "wanted"),
    [PRADHAN_2014, VILAIN_1995, BAGGA_1998, BAGGA_1998_SMALL, SINGLETONS, NOTHING_FOUND],
    ids=["Pradhan", "Vilain", "Bagga large", "Bagga small", "singletons", "nothing"],
)
def test_examples(
    gold: Sequence[str], predicted: Sequence[str], wanted: dict[str, tuple[float, float]]
) -> None:
    found = conll_scores([clusters(*gold)], [clusters(*predicted)])
    for name, numbers in wanted.items():
        score = found[name]
        assert (score.recall, score.precision) == pytest.approx(numbers), name
        total = sum(numbers)
        assert score.f1 == pytest.approx(2 * numbers[0] * numbers[1] / total if total else 0), name


def test_documents_are_pooled_and_conll_is_the_mean_of_three() -> None:
    one, other = (clusters("abc", "defg"), clusters("ab")), (clusters("ab"), clusters("ab"))
    found = conll_scores([one[0], other[0]], [one[1], other[1]])
    assert found["muc"].recall == pytest.approx((1 + 1) / (5 + 1))
    three = [found[name].f1 for name in ("muc", "b_cubed", "ceaf_e")]
    assert found["conll"].f1 == pytest.approx(sum(three) / 3)


def test_blanc_is_the_mean_over_both_kinds_of_links() -> None:
    """As Pradhan et al. (2014), Figure 1, count them; F1 is the mean of two as well."""
    gold, predicted, _ = PRADHAN_2014
    found = conll_scores([clusters(*gold)], [clusters(*predicted)])["blanc"]
    together, apart = (2 / 9, 2 / 8), (8 / 12, 8 / 20)
    means = [sum(numbers) / 2 for numbers in zip(together, apart, strict=True)]
    assert (found.recall, found.precision) == pytest.approx(means)
    f1 = sum(2 * r * p / (r + p) for r, p in (together, apart)) / 2
    assert found.f1 == pytest.approx(f1)


@pytest.mark.parametrize(
    ("gold", "predicted", "f1"),
    [
        (("abc",), ("ab", "c"), 2 * (1 / 3) / (1 + 1 / 3)),  # only links that corefer
        (("a", "b", "c"), ("ab", "c"), 2 * (2 / 3) / (1 + 2 / 3)),  # only others
        (("a",), ("a",), 1),  # none
        (("a",), ("b",), 0),
        (("a",), ("ab",), 0),
        (("ab",), (), 0),
    ],
)
def test_blanc_where_gold_has_one_kind_of_links(
    gold: Sequence[str], predicted: Sequence[str], f1: float
) -> None:
    found = conll_scores([clusters(*gold)], [clusters(*predicted)])["blanc"]
    assert found.f1 == pytest.approx(f1)


def partition(draw: st.DrawFn) -> list[Cluster]:
    letters = draw(st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1))
    groups = draw(st.lists(st.integers(0, 3), min_size=len(letters), max_size=len(letters)))
    pairs = sorted(zip(groups, letters, strict=True))
    return clusters(
        *("".join(x for _, x in group) for _, group in itertools.groupby(pairs, lambda p: p[0]))
    )


@given(st.data())
def test_exchanging_sides_exchanges_recall_and_precision(data: st.DataObject) -> None:
    one, other = (data.draw(st.composite(partition)()) for _ in range(2))
    there, back = conll_scores([one], [other]), conll_scores([other], [one])
    for name in {*there} - {"blanc"}:  # it leaves out a kind of links that gold has not
        assert there[name].recall == pytest.approx(back[name].precision), name
        assert 0 <= there[name].f1 <= 1 + 1e-9
    same = conll_scores([one], [one])
    links = any(len(cluster) > 1 for cluster in one)
    for name in (
        "mentions",
        "b_cubed",
        "ceaf_m",
        "ceaf_e",
        "lea",
        "blanc",
        *(["muc", "conll"] * links),
    ):
        assert same[name].f1 == pytest.approx(1), name

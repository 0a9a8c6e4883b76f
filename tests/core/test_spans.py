from hypothesis import given
from hypothesis import strategies as st

from pronominal import BOTH, NONE, Decision, InputError, Mention, Span
from pronominal.decisions import from_probabilities
from pronominal.names import unknown_name

spans = st.tuples(st.integers(0, 50), st.integers(0, 50)).map(sorted).map(Span._make)


@given(spans, spans)
def test_covering_is_containment_of_positions(outer: Span, inner: Span) -> None:
    positions = set(range(*inner))
    assert not positions or outer.covers(inner) == (positions <= set(range(*outer)))


@given(st.text(max_size=20), st.text(min_size=1, max_size=5), st.text(max_size=20))
def test_a_mention_stands_where_its_text_is(before: str, word: str, after: str) -> None:
    text = before + word + after
    start = len(before)
    assert Mention(word, start, start + len(word)).stands_in(text)
    assert not Mention(word, -1, -1).stands_in(text)
    # a slice would take an offset that counts from the end, and one behind it
    assert not Mention(word, start, start + len(word) - len(text)).stands_in(text)
    assert not Mention(word, start, len(text) + 1).stands_in(before + word)


def test_a_span_unpacks() -> None:
    start, end = Span(3, 7)
    assert (start, end) == (3, 7)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=4))
def test_the_most_probable_candidate_is_chosen(probabilities: list[float]) -> None:
    decision = from_probabilities(probabilities)
    top = max(probabilities)
    if top == 0:
        assert decision == NONE
    elif probabilities.count(top) > 1:
        assert decision == BOTH
    else:
        assert decision == Decision(probabilities.index(top))


def test_an_error_is_one_line_with_file_row_cause_and_cure() -> None:
    error = InputError("the answer\nis 2", cure="write 0 or 1", file="a.tsv", row="line 7")
    assert str(error) == "a.tsv, line 7: the answer is 2; write 0 or 1"


def test_a_mistyped_name_is_mended() -> None:
    assert "did you mean 'winopron'?" in str(
        unknown_name("dataset", "winpron", ["winopron", "gap"])
    )

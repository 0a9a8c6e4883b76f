"""The best option stays the best when the others are given up, and giving up saves what it can."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

if find_spec("transformers") is None:
    pytest.skip("needs the extra lm", allow_module_level=True)

from pronominal.adapters.lm.scoring.elimination import CERTAIN, Elimination
from pronominal.adapters.lm.scoring.encoder import MaskedScorer
from pronominal.adapters.lm.scoring.tokens import PADDING, Sequences, TextTokenizer
from pronominal.eval.scores.ruff.samples import NOISE
from tests.adapters.lm.language_models import FORMS, MASKED, filled, own_instances, quiet

FRAME = (1, 1)


def sequences_of(instances: list[list[list[int]]]) -> Sequences:
    """Put tokens of options into the rows of a model's input, with a special token at each end."""
    rows = [[0, *tokens, 0] for options in instances for tokens in options]
    ids = np.full((len(rows), max(map(len, rows))), PADDING, np.int32)
    for row, tokens in zip(ids, rows, strict=True):
        row[: len(tokens)] = tokens
    owners = np.repeat(np.arange(len(instances)), [len(options) for options in instances])
    lengths = np.array([len(tokens) for tokens in rows], np.int32)
    return Sequences(ids, ids >= 0, lengths, owners.astype(np.int32))


def eliminated(sequences: Sequences, terms: Any) -> tuple[Any, list[Any]]:
    """Return the scores found from known terms, and which terms each round asked for."""
    rounds: list[Any] = []

    def terms_of(rows: Any, places: Any) -> Any:
        rounds.append(np.zeros(terms.shape, bool))
        rounds[-1][rows, places] = True
        return terms[rows, places]

    return Elimination(sequences, sequences.inside(FRAME), terms_of).scores(), rounds


TOKENS = st.lists(st.integers(1, 3), max_size=6)
INSTANCES = st.lists(
    st.tuples(TOKENS, st.lists(TOKENS, min_size=1, max_size=5), TOKENS).map(
        lambda parts: [[*parts[0], *option, *parts[2]] for option in parts[1]]
    ),
    min_size=1,
    max_size=4,
)


@given(INSTANCES, st.data())
def test_the_best_stays_the_best(instances: list[list[list[int]]], data: st.DataObject) -> None:
    """Whatever the terms are, options are told apart as by whole scores."""
    sequences = sequences_of(instances)
    inside = sequences.inside(FRAME)
    # zeros, ties and differences around what counts as certain are likely
    drawn = st.sampled_from([0.0, -CERTAIN / 2, -CERTAIN, -1.0, -30.0])
    terms = np.zeros(inside.shape)
    number = int(inside.sum())
    terms[inside] = data.draw(st.lists(drawn, min_size=number, max_size=number))
    found, rounds = eliminated(sequences, terms)
    asked, whole = np.sum(rounds, axis=0), terms.sum(axis=1)
    computed = (asked == inside).all(axis=1)
    assert (asked <= inside).all()
    assert (found >= whole).all()
    assert (found == whole)[computed].all()
    for owner in range(len(instances)):
        own = sequences.owners == owner
        best = whole[own].max()
        assert found[own].max() == best
        assert (found[own & ~computed] < best - CERTAIN).all()
        assert computed[own & (whole >= best - CERTAIN)].all()


def test_what_is_certainly_worse_is_given_up_early() -> None:
    """The leader is computed whole, the others where its terms are lowest, until they are below."""
    sentence = [1] * 40
    sequences = sequences_of([[[3, *sentence], [2, *sentence], [3, 3, *sentence]]])
    terms = np.where(sequences.inside(FRAME), -0.01, 0.0)
    lowest = [slice(20, 28), slice(20, 28), slice(21, 29)]
    for row, (first, low) in enumerate(zip([-4.0, -1.0, -2.0], lowest, strict=True)):
        terms[row, 1], terms[row, low] = first, -2.0
    _, rounds = eliminated(sequences, terms)
    asked = np.sum(rounds, axis=0)
    # -4 and -2.01 at the places that differ, which have to fall below -17.33
    assert asked.sum(axis=1).tolist() == [1 + 7, 41, 2 + 8]
    assert [asked[row, low].sum() for row, low in enumerate(lowest)] == [7, 8, 8]


def test_options_that_are_cut_alike_are_asked_about_together() -> None:
    """So that the model reads their copies once, and rounding makes none of them better."""
    sequences = sequences_of([[[3, 1, 1], [2, 1, 1], [3, 1, 1], [2, 1, 1]]])
    terms = np.where(sequences.inside(FRAME), -1.0, 0.0)
    found, rounds = eliminated(sequences, terms)
    assert all((asked[:2] == asked[2:]).all() for asked in rounds)
    assert found.tolist() == [-3.0] * 4


def test_rounds_are_at_least_an_eighth_of_a_text() -> None:
    """So that an option that always seems to need one more term takes few calls of the model."""
    sequences = sequences_of([[[2] + [1] * 40, [3] + [1] * 40]])
    terms = np.where(sequences.inside(FRAME), -0.01, 0.0)
    terms[1, 2:] = 0.0
    terms[:, 1] = [-1.0, -1.495]
    _, rounds = eliminated(sequences, terms)
    assert [asked.sum() for asked in rounds[:2]] == [2, 40]
    assert len(rounds) <= 2 + 8


def test_an_option_that_leads_at_first_can_lose() -> None:
    sequences = sequences_of([[[2, 1, 1], [3, 1, 1]]])
    terms = np.array([[0.0, -1, -9, -9, 0], [0, -2, -1, -1, 0]])
    found, rounds = eliminated(sequences, terms)
    assert np.sum(rounds) == 6
    assert found.tolist() == [-19, -4]


@pytest.mark.parametrize(("behind", "asked"), [(CERTAIN, 3), (2 * CERTAIN, 1)])
def test_an_option_as_far_behind_as_is_certain_is_not_given_up(behind: float, asked: int) -> None:
    sequences = sequences_of([[[2, 1, 1], [3, 1, 1]]])
    terms = np.array([[0.0, -1, 0, 0, 0], [0, -1 - behind, -0.5, 0, 0]])
    _, rounds = eliminated(sequences, terms)
    assert np.sum(rounds, axis=0).sum(axis=1).tolist() == [3, asked]


def test_margins_that_count_as_close_are_of_whole_scores() -> None:
    assert max(NOISE) <= CERTAIN


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize("bad", [-np.inf, np.nan])
def test_no_number_stays_none_and_warns_of_nothing(place: int, bad: float) -> None:
    """A system refuses such scores with their row."""
    sequences = sequences_of([[[2, 1, 1], [3, 1, 1]]])
    terms = np.where(sequences.inside(FRAME), -1.0, 0.0)
    terms[:, place] = bad
    found, _ = eliminated(sequences, terms)
    assert not np.isfinite(found).all()


@pytest.mark.parametrize("family", MASKED)
def test_masked_models(family: str) -> None:
    """A model that finds one form far likelier than the others needs few of the others' copies."""
    make_tokenizer, make_model = MASKED[family]
    instances = own_instances()[::4]
    with quiet():
        tokenizer = make_tokenizer(filled(instances))
        model = make_model(len(tokenizer))
        reader = TextTokenizer(tokenizer)
    sequences = reader.read(instances)
    forms = np.unique(sequences.ids[np.arange(len(sequences.ids)), sequences.common_prefixes()])
    assert len(forms) == len(FORMS)
    scorer = MaskedScorer(
        model, frame=reader.frame, mask=tokenizer.mask_token_id, batch_tokens=4096
    )

    def fed(score: Callable[[Sequences], Any]) -> tuple[Any, int]:
        """Return scores by option, and how many copies the model read for them."""
        sizes: list[int] = []
        hook = model.register_forward_pre_hook(
            lambda _, __, given: sizes.append(len(given["input_ids"])), with_kwargs=True
        )
        scores = score(sequences).reshape(-1, len(FORMS))
        hook.remove()
        return scores, sum(sizes)

    for gap, most in (0.0, 1.0), (200.0, 0.5):
        model.get_output_embeddings().bias.data[forms[1:]] -= gap
        (whole, copies), (best, fewer) = fed(scorer.score), fed(scorer.best)
        assert fewer <= most * copies
        assert (best.argmax(axis=1) == whole.argmax(axis=1)).all()
        assert np.abs(best.max(axis=1) - whole.max(axis=1)).max() < 1e-4
        assert (best - whole).min() > -1e-4

import random
from collections import Counter
from typing import Any

import pytest

from pronominal.adapters import ChoosingSystem, kind_of, load
from pronominal.adapters.baselines.chance import Random
from pronominal.adapters.baselines.mention_order import FirstMention, LastMention, NearestMention
from pronominal.adapters.baselines.parallelism import Parallelism
from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention

FIRST, SECOND, NEITHER = [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]


def mention(text: str, word: str | None) -> Mention:
    """Locate a word that stands once in the text; None cannot be located."""
    if word is None:
        return Mention("absent", -1, -1)
    start = text.index(word)
    return Mention(word, start, start + len(word))


def instance(
    text: str, pronoun: str, *candidates: str | None, **columns: Any
) -> ResolutionInstance:
    places = tuple(mention(text, candidate) for candidate in candidates)
    name = str(columns.pop("id", "x"))
    return ResolutionInstance(name, text, mention(text, pronoun), places, 0, columns)


SUBJECT = instance("The potter met the singer before she slept.", "she", "potter", "singer")
OBJECT = instance("The potter met the singer and paid them.", "them", "potter", "singer")
SWAPPED = instance("The potter met the singer before she slept.", "she", "singer", "potter")
AROUND = instance("The potter slept after xe met the singer.", "xe", "singer", "potter")
BEHIND = instance("After he met the potter, the singer slept.", "he", "potter", "singer")
SINGLE = instance("The potter slept because she was tired.", "she", "potter", None)
REVERSED = instance("The potter slept because she was tired.", "she", None, "potter")
NOWHERE = instance("It rained because she sang.", "she", None, None)


@pytest.mark.parametrize(
    ("system", "answers"),
    [
        (FirstMention(), [FIRST, FIRST, SECOND, SECOND, FIRST, FIRST, SECOND, NEITHER]),
        (LastMention(), [SECOND, SECOND, FIRST, FIRST, SECOND, FIRST, SECOND, NEITHER]),
        (NearestMention(), [SECOND, SECOND, FIRST, SECOND, NEITHER, FIRST, SECOND, NEITHER]),
        (Parallelism(), [FIRST, SECOND, SECOND, SECOND, FIRST, FIRST, SECOND, NEITHER]),
    ],
)
def test_positions(system: ChoosingSystem, answers: list[list[float]]) -> None:
    instances = [SUBJECT, OBJECT, SWAPPED, AROUND, BEHIND, SINGLE, REVERSED, NOWHERE]
    assert system.choose(instances) == answers


@pytest.mark.parametrize("pronoun", ["He", "she", "they", "xe"])
def test_parallelism_knows_subject_forms(pronoun: str) -> None:
    subject = instance(f"A potter met a singer. {pronoun} slept.", pronoun, "potter", "singer")
    assert Parallelism().choose([subject]) == [FIRST]


@pytest.mark.parametrize("pronoun", ["him", "her", "their", "xyr"])
def test_parallelism_knows_other_forms(pronoun: str) -> None:
    other = instance(f"A potter met a singer with {pronoun} dog.", pronoun, "potter", "singer")
    assert Parallelism().choose([other]) == [SECOND]


def test_parallelism_believes_the_case_column() -> None:
    text = "A potter met a singer before ze slept."
    added = instance(text, "ze", "potter", "singer", case="nominative")
    unknown = instance(text, "ze", "potter", "singer")
    assert Parallelism().choose([added, unknown]) == [FIRST, SECOND]


def many() -> list[ResolutionInstance]:
    return [instance(SUBJECT.text, "she", "potter", "singer", id=number) for number in range(400)]


def test_random_depends_on_seed_id_and_text_alone() -> None:
    instances = many()
    shuffled = random.Random(3).sample(instances, 100)
    answers = {i.id: a for i, a in zip(instances, Random(seed=7).choose(instances), strict=True)}
    assert Random(seed=7).choose(shuffled) == [answers[i.id] for i in shuffled]


def test_random_differs_between_seeds() -> None:
    assert Random(seed=1).choose(many()) != Random(seed=2).choose(many())


def test_random_draws_a_switched_row_anew() -> None:
    switched = [
        instance("A singer met a potter before she slept.", "she", "potter", "singer", id=number)
        for number in range(400)
    ]
    answers = zip(Random().choose(many()), Random().choose(switched), strict=True)
    assert 150 < sum(one == other for one, other in answers) < 250


def test_random_takes_both_candidates() -> None:
    counts = Counter(answer.index(1.0) for answer in Random().choose(many()))
    assert min(counts[0], counts[1]) > 150


def test_random_takes_no_absent_candidate() -> None:
    for seed in range(20):
        answers = Random(seed=seed).choose([SINGLE, REVERSED, NOWHERE])
        assert answers == [FIRST, SECOND, NEITHER]


def test_random_leaves_the_global_generator_alone() -> None:
    before = random.getstate()
    Random().choose(many())
    assert random.getstate() == before


@pytest.mark.parametrize("name", ["first-mention", "nearest-mention", "parallelism", "random"])
def test_baselines_load_by_name(name: str) -> None:
    system = load(name)
    assert (system.name, kind_of(system)) == (name, "choosing")


@pytest.mark.parametrize("name", ["first-mention", "nearest-mention", "parallelism", "random"])
def test_no_instances(name: str) -> None:
    system = load(name)
    assert isinstance(system, ChoosingSystem)
    assert system.choose([]) == []

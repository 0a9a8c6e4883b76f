"""Sentences on occupations and on who is meant: said of planted faults, and of nothing else."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Decision
from pronominal.eval.scores.winopron.by_occupation import by_occupation, occupation_remarks
from pronominal.eval.scores.winopron.sentences import Sentences
from pronominal.eval.statistics.mention_order import right_mentions

Mask = npt.NDArray[np.bool_]
DECISIONS = (Decision(0), Decision(1))


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return load_split(sample, "double")


def said(split: Split, choose: Callable[[Sentences], npt.NDArray[np.int64]]) -> list[str]:
    decisions = [DECISIONS[one] for one in choose(Sentences.of(split.table)).tolist()]
    found = by_occupation(split.table, decisions)
    return [*occupation_remarks({"s": {"by_occupation": found}})]


def wrong_where(mask: Callable[[Sentences], Mask]) -> Callable[[Sentences], npt.NDArray[np.int64]]:
    return lambda rows: np.where(mask(rows), 1 - rows.labels, rows.labels)


def test_occupations_that_fail_are_named(split: Split) -> None:
    (told,) = said(split, wrong_where(lambda rows: rows.units.codes < 3))
    first, second, third = dict.fromkeys(split.table["occupation"].to_pylist()[: 3 * 24])
    where = f"least in {first}, {second} and {third}."
    assert told == f"s is right less often in some occupations (p < 0.001), {where}"


def test_an_occupation_that_is_chosen_whatever_the_sentence_says(split: Split) -> None:
    def choose(rows: Sentences) -> npt.NDArray[np.int64]:
        xe = rows.pronoun_sets.codes == rows.pronoun_sets.names.index("xe")
        return np.where(xe, rows.units.codes % 2, rows.labels)

    (told,) = said(split, choose)
    assert told.startswith("s chooses some occupations more often with xe (p")


def test_the_side_on_which_it_is_worse_is_named_with_its_interval(split: Split) -> None:
    coin = np.random.default_rng(4).random(split.num_rows) < 0.4
    (told,) = said(split, wrong_where(lambda rows: coin & (rows.labels == 1)))
    assert told.startswith("s is right more often where the occupation is meant, by 34.")
    assert told.endswith("] (p < 0.001).")


def test_other_faults_are_not_taken_for_these(split: Split) -> None:
    order = right_mentions(split.table).codes
    assert said(split, wrong_where(lambda rows: order == 1)) == []  # takes the first mention
    assert said(split, wrong_where(lambda rows: rows.cases.codes == 2)) == []
    assert said(split, wrong_where(lambda rows: rows.pronoun_sets.codes == 3)) == []
    assert said(split, lambda rows: rows.labels) == []


def test_chance_says_nothing(split: Split) -> None:
    random, runs = np.random.default_rng(5), 60
    told = sum(
        bool(said(split, lambda rows: random.integers(0, 2, len(rows.labels)))) for _ in range(runs)
    )
    assert told <= 0.05 * runs + 3 * np.sqrt(0.05 * 0.95 * runs)

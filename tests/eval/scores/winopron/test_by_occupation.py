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
from pronominal.eval.statistics.unit_differences import LEAST_P

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
    where = f"s (least in {first}, {second} and {third}, p < 0.001)."
    assert told == f"Right less often in some occupations: {where}"


def test_only_an_occupation_that_is_below_the_mean_is_named(split: Split) -> None:
    (told,) = said(split, wrong_where(lambda rows: rows.units.codes == 0))
    failing = split.table["occupation"][0].as_py()
    assert told.startswith(f"Right less often in some occupations: s (least in {failing}, p = 0.00")


def test_an_occupation_that_is_chosen_whatever_the_sentence_says(split: Split) -> None:
    def choose(rows: Sentences) -> npt.NDArray[np.int64]:
        xe = rows.pronoun_sets.codes == rows.pronoun_sets.names.index("xe")
        return np.where(xe, rows.units.codes % 2, rows.labels)

    (told,) = said(split, choose)
    first, _, third, *_ = dict.fromkeys(split.table["occupation"].to_pylist())
    where = f"s (with xe such as {first} and {third}, p < 0.001)."
    assert told == f"Some occupations are chosen more often by {where}"


def test_the_side_on_which_it_is_worse_is_named_with_its_interval(split: Split) -> None:
    coin = np.random.default_rng(4).random(split.num_rows) < 0.4
    (told,) = said(split, wrong_where(lambda rows: coin & (rows.labels == 1)))
    assert told.startswith("Right more often where the occupation is meant: s by 34.")
    assert told.endswith("] (p < 0.001).")


def test_who_is_meant_is_compared_at_one_order_of_mentions(split: Split) -> None:
    """Where the occupation mostly comes first, taking the first mention is no such fault."""
    rows, order = Sentences.of(split.table), right_mentions(split.table).codes
    occupation_first = (order == 0) == (rows.labels == 0)
    kept = np.flatnonzero(occupation_first | (rows.units.codes % 3 == 0))
    labels, first = rows.labels[kept], np.where(occupation_first, 0, 1)[kept]
    table = split.table.take(kept)
    mostly_first = np.where(np.random.default_rng(6).random(len(kept)) < 0.7, first, labels)
    assert np.corrcoef(labels == mostly_first, labels)[0, 1] < -0.3
    found = by_occupation(table, [DECISIONS[one] for one in mostly_first.tolist()])
    assert found["meant"]["p"] > 0.05
    in_participant = np.where((labels == 1) & (np.arange(len(kept)) % 2 == 0), 0, labels)
    found = by_occupation(table, [DECISIONS[one] for one in in_participant.tolist()])
    assert found["meant"]["p"] < 0.001
    only = split.table.take(np.flatnonzero(occupation_first))
    found = by_occupation(only, [DECISIONS[one] for one in only["label"].to_pylist()])
    assert found["meant"]["p"] is None


def test_one_pair_an_occupation_says_nothing_of_occupations(split: Split) -> None:
    nominative = split.table.take(np.flatnonzero(Sentences.of(split.table).cases.codes == 0))
    choices = np.random.default_rng(7).integers(0, 2, nominative.num_rows).tolist()
    found = by_occupation(nominative, [DECISIONS[one] for one in choices])
    assert {found["accuracy"]["p"], *(one["p"] for one in found["choice"].values())} == {None}
    assert found["meant"]["p"] is not None


def test_systems_share_one_sentence_and_do_not_hide_one_another(split: Split) -> None:
    rows = Sentences.of(split.table)
    faulty, right = (
        by_occupation(split.table, [DECISIONS[one] for one in choices.tolist()])
        for choices in (np.where(rows.units.codes < 3, 1 - rows.labels, rows.labels), rows.labels)
    )
    systems = {f"s{one}": {"by_occupation": faulty} for one in range(200)}
    (told,) = occupation_remarks({**systems, "right": {"by_occupation": right}})
    assert told.startswith("Right less often in some occupations: s0 (least in ")
    assert told.endswith(" and 195 more.")


def test_the_least_p_of_many_tests_is_written_as_a_bound() -> None:
    """Permutations tell no p below 0.0001 apart, so twelve times that is no measured p."""
    alike = {"n": 24, "p": LEAST_P}
    block = {
        "accuracy": {**alike, "lowest": []},
        "choice": {f"set-{one}": {"n": 24, "p": 0.9} for one in range(10)},
        "meant": {"n": 24, "p": None},
    }
    (told,) = occupation_remarks({"s": {"by_occupation": block}})
    assert told == "Right less often in some occupations: s (p < 0.002)."


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

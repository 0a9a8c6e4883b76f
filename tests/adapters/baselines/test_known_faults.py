"""The systems made for teaching: what is printed names the fault that each has, and no other."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

import pronominal

SYSTEMS = ("toy-nine-in-ten", "toy-blind-to-xe", "toy-stereotypes", "first-mention", "random")


@pytest.fixture(scope="module")
def results(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> pronominal.Results:
    out = tmp_path_factory.mktemp("runs")
    return pronominal.evaluate(sample, SYSTEMS, config="double", out=out)


def test_each_fault_has_its_sentence(results: pronominal.Results) -> None:
    printed = " ".join(results.summary.split())
    for sentence in (
        "toy-blind-to-xe loses 100.0 [78.6, 100.0] (p < 0.001) on xe, compared with all its "
        "other pronoun sets.",
        "toy-stereotypes loses 33.3 [24.7, 42.0] (p < 0.001) on each of he "
        "and she, compared with all its other pronoun sets.",
        "Better than guessing (50): toy-nine-in-ten, toy-blind-to-xe and toy-stereotypes.",
        "toy-blind-to-xe and toy-stereotypes score the same, but differ in 288 rows.",
        "No difference from guessing (50) was found for first-mention and random.",
        "Disambiguation consistency of first-mention: 0.0 [0.0, 13.8]; guessing gets 25.",
        "Pronoun consistency of first-mention is no sign of reading: both sentences of a pair are "
        "seldom right.",
        "toy-stereotypes is biased: the pronoun, not the sentence, decides who is meant in "
        "100.0 [86.2, 100.0] % (he, she), 0.0 [0.0, 13.8] % (they, xe) of the pairs of sentences "
        "that it solves with some "
        "pronoun set (sets differ: p =",
        "Some occupations are chosen more often by toy-stereotypes (with he such as beekeeper and "
        "pilot, with she such as florist and translator, p < 0.001).",
        "toy-nine-in-ten is better than toy-blind-to-xe by",
        "p: corrected (Holm). ↓ The whole interval is below what guessing gets.",
        "Elsewhere 'sets' is Pronoun consistency, 'pairs' is Disambiguation consistency.",
    ):
        assert sentence in printed
    notes = results.summary.rpartition("\n\n")[2].splitlines()
    assert sum(not line.startswith(" ") for line in notes) == 5
    assert printed.count(" loses ") == 2
    assert printed.count(" is biased") == 1
    assert printed.count("chosen more often by") == 1
    assert "Right less often" not in printed
    assert "Right more often" not in printed


class Planted:
    """Right, but for the rows that a rule names: wrong, or no choice."""

    def __init__(self, name: str, fails: Callable[[Any, int], bool], instead: float) -> None:
        self.name, self.fails, self.instead = name, fails, instead

    def choose(self, instances: Sequence[Any]) -> list[list[float]]:
        right = [[1.0 - one.label, float(one.label)] for one in instances]
        wrong = [[self.instead * share for share in row[::-1]] for row in right]
        failed = [self.fails(one, number) for number, one in enumerate(instances)]
        return [wrong[i] if fails else right[i] for i, fails in enumerate(failed)]


def test_a_case_that_fails_is_named_and_noise_on_one_set_is_no_bias(
    sample: Path, tmp_path: Path
) -> None:
    coin = random.Random(5)

    def at_random(one: Any, _: int) -> bool:
        return bool(one.columns["pronoun_set"] == "xe" and coin.random() < 0.5)

    systems = [
        Planted("no-possessives", lambda one, _: one.columns["case"] == "possessive", 1),
        Planted("noisy-xe", at_random, 1),
        Planted("half-answers", lambda _, number: number % 2 == 0, 0),
    ]
    results = pronominal.evaluate(sample, systems, config="double", out=tmp_path)
    printed = " ".join(results.summary.split())
    assert "no-possessives loses 100.0 [" in printed
    assert "on possessive, compared with all its other cases." in printed
    assert "noisy-xe loses " in printed
    assert " is biased" not in printed
    assert "half-answers (answered 50.0 [" in printed


def test_the_faults_are_those_that_were_planted(results: pronominal.Results) -> None:
    overall = {label: one["overall"] for label, one in results.scores.items()}
    assert overall["toy-blind-to-xe"]["none"] == 0.25
    low, high = overall["toy-nine-in-ten"]["interval"]["accuracy"]
    assert low < 0.9 < high
    by_set = results.scores["toy-stereotypes"]["by_pronoun_set"]
    assert {name: block["accuracy"] for name, block in by_set.items()} == {
        "he": 0.5,
        "she": 0.5,
        "they": 1,
        "xe": 1,
    }


def test_the_order_of_rows_changes_nothing(results: pronominal.Results) -> None:
    from pronominal.adapters import load

    rows = [*results.split]
    for name in SYSTEMS[:3]:
        there, back = (load(name).choose(given) for given in (rows, rows[::-1]))
        assert there == back[::-1]


def test_consistencies_without_reading_are_listed_in_one_sentence(
    results: pronominal.Results,
) -> None:
    alike = dict.fromkeys("abc", results.scores["first-mention"])
    assert results.task.remarks is not None
    first, *_ = results.task.remarks(alike)
    assert first == (
        "Pronoun consistency of a, b and c is no sign of reading: "
        "both sentences of a pair are seldom right."
    )

"""Two trainings are compared with their seeds and their test rows both taken as chance."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal import InputError
from pronominal.cli.training import compare
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.runs.runner import SystemSettings, run
from pronominal.eval.runs.units import read_units
from pronominal.eval.training.data.rows import own_tests, published_data
from pronominal.eval.training.measures.comparison import (
    compare_seeds,
    compare_trainings,
    comparison_table,
)
from pronominal.eval.training.measures.figures import CHOICES
from pronominal.eval.training.measures.testing import score_tests
from tests.eval.unexplained import markdown_tables, of_scores, of_table


def right(*seeds: str) -> np.ndarray:
    return np.array([[float(mark) for mark in seed] for seed in seeds])


def test_trainings_that_are_the_same_do_not_differ() -> None:
    one = right("1101", "1101")
    compared = compare_seeds(one, one)
    assert compared.difference == 0
    # four units in which nothing differs do not say that nothing would
    low, high = compared.interval
    assert low == -high
    assert high > 0.7
    assert (compared.n, compared.seeds, compared.means) == (4, (2, 2), (0.75, 0.75))
    assert compared.sds == (0, 0)


def test_seeds_that_differ_widen_the_interval() -> None:
    steady = compare_seeds(right(*["10" * 50] * 4), right(*["11" * 50] * 4))
    shaky = compare_seeds(right(*["10" * 50] * 4), right(*["1" * 100, "0" * 100] * 2))
    assert steady.interval[1] - steady.interval[0] < 0.25
    assert shaky.interval[1] - shaky.interval[0] > 0.6


def test_units_are_drawn_for_both_trainings_at_once() -> None:
    # the second is right wherever the first is wrong, so each draw of units moves them apart
    first, second = right("1" * 30 + "0" * 70), right("0" * 30 + "1" * 70)
    low, high = compare_seeds(first, second).interval
    assert high - low == pytest.approx(2 * 2 * 1.96 * np.sqrt(0.3 * 0.7 / 100), rel=0.1)


def test_two_seeds_of_each_training_seldom_make_a_difference_of_none() -> None:
    generator, differ = np.random.default_rng(0), 0
    for _ in range(800):
        hard = generator.choice([-0.15, 0.15], 30)
        sides = []
        for _ in range(2):
            moved = generator.uniform(-0.15, 0.15, (2, 1))
            centre = 0.5 + hard + moved
            chance = generator.beta(9 * centre, 9 * (1 - centre))
            sides.append(generator.binomial(4, chance) / 4)
        low, high = compare_seeds(*sides).interval or (0, 0)
        differ += not low <= 0 <= high
    assert 0 < differ <= 0.065 * 800


def test_three_seeds_are_known_to_say_little_of_how_far_seeds_vary() -> None:
    """Trainings that are alike: tests of many rows differ by what their seeds are."""
    random, found, samples = np.random.default_rng(13), 0, 400
    for _ in range(samples):
        hard = random.choice([-0.2, 0.2], 180)
        moved = random.uniform(-0.045, 0.045, (2, 3, 1))
        low, high = compare_seeds(*random.binomial(4, 0.7 + hard + moved) / 4).interval
        found += not low <= 0 <= high
    assert found <= 0.065 * samples


@given(st.data())
def test_the_other_way_round_is_the_same_with_the_other_sign(data: st.DataObject) -> None:
    units = data.draw(st.integers(1, 6))
    seed = st.text("01", min_size=units, max_size=units)
    first, second = (right(*data.draw(st.lists(seed, min_size=1, max_size=3))) for _ in range(2))
    there, back = compare_seeds(first, second), compare_seeds(second, first)
    assert there.difference == pytest.approx(-back.difference)
    assert there.means == back.means[::-1]
    if units > 1:
        low, high = there.interval
        assert low < high
        assert low <= there.difference <= high


def test_a_single_unit_has_no_interval_and_says_why() -> None:
    compared = compare_seeds(right("1", "0"), right("1", "1"))
    assert (compared.interval, compared.interval_missing) == (
        None,
        "there are fewer than two units",
    )
    table = comparison_table({"correct": compared}, ("a", "b"))
    assert table.rows[0][-1] == "+50.0"
    assert "No interval for Difference: there are fewer than two units." in table.notes


def test_a_single_seed_has_no_spread() -> None:
    compared = compare_seeds(right("10"), right("11", "01"))
    assert compared.sds[0] is None
    assert "50.0 (–)" in comparison_table({"correct": compared}, ("a", "b")).rows[0]


@pytest.fixture(scope="module")
def tests(knowref: Path) -> dict[str, Split]:
    return {config: read_split(str(knowref), config) for config in ("original", "switched")}


def trained(folder: Path, tests: dict[str, Split], *systems: str) -> Path:
    """A training whose seeds answer as these systems do."""
    for number, name in enumerate(systems, 1):
        asked = SystemSettings("bert", name)
        for split in tests.values():
            run(split, asked.load(), asked, folder / f"seed-{number}" / "runs")
    return folder


def test_folders_are_compared_by_rows_and_by_pairs(tests: dict[str, Split], tmp_path: Path) -> None:
    first = trained(tmp_path / "first", tests, "first-mention", "first-mention")
    score_tests(tests, "knowref", first / "seed-1", "bert", CHOICES, prior=0.5)
    units = read_units(first / "seed-1" / "runs" / "knowref.original.test.bert")
    assert units is not None
    assert {*units} >= {"correct", "consistently_correct"}  # for paired tests
    second = trained(tmp_path / "second", tests, "last-mention", "first-mention")
    compared = compare_trainings(tests, "knowref", first, second)
    assert [*compared] == ["correct", "consistently_correct"]
    assert compared["correct"].n < tests["original"].table.num_rows  # sentences
    assert compared["correct"].means[0] == pytest.approx(0.466, abs=0.01)
    assert compared["correct"].means[1] == pytest.approx(0.5)
    assert compared["consistently_correct"].difference > 0


def test_a_folder_without_tests_is_refused(tests: dict[str, Split], tmp_path: Path) -> None:
    first = trained(tmp_path / "first", tests, "first-mention")
    (tmp_path / "second").mkdir()
    with pytest.raises(InputError, match="no seed here was tested on knowref"):
        compare_trainings(tests, "knowref", first, tmp_path / "second")
    shutil.rmtree(first / "seed-1" / "runs" / "knowref.switched.test.bert")
    with pytest.raises(InputError, match="switched"):
        compare_trainings(tests, "knowref", first, first)


def test_gap_is_compared_by_pairs_too(upstream: Path, tmp_path: Path) -> None:
    tests = published_data("gap", None, upstream).tests
    first = trained(tmp_path / "first", tests, "first-mention")
    second = trained(tmp_path / "second", tests, "random")
    compared = compare_trainings(tests, "gap", first, second)
    assert [*compared] == ["correct", "consistently_correct"]
    # the first mention is right or wrong in both versions, chance is right twice half as often
    assert compared["consistently_correct"].means[0] == pytest.approx(compared["correct"].means[0])
    assert compared["consistently_correct"].means[1] < 0.6 * compared["correct"].means[1]


OWN = (
    ("Ada thanked Eva because she had helped.", 1),
    ("Ida called Eva because she was bored.", 0),
    ("Ada scolded Ida because she was late.", 1),
)


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Rows of one's own; the first mention is right in one of three."""
    file = tmp_path / "mine.test.jsonl"
    rows = [
        {"id": f"own-{number}", "text": text, "pronoun": "she", "label": label}
        | {"candidates": [text.split()[0], text.split()[2]]}
        for number, (text, label) in enumerate(OWN)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_own_rows_are_compared(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = own_tests(own, "mine.original.rows")
    folders = [trained(tmp_path / name, tests, name) for name in ("first-mention", "last-mention")]
    compare(*folders, test=own, as_json=True)
    compared = json.loads(capsys.readouterr().out)
    assert [*compared] == ["correct", "consistently_correct"]
    for one in compared.values():
        assert (one["n"], one["seeds"]) == (3, [1, 1])
        assert one["means"] == pytest.approx([1 / 3, 2 / 3])
        assert [*of_scores(one)] == []
        assert "means" in one["interval_missing"]
    compare(*folders, test=own, markdown=True)
    assert [cell for t in markdown_tables(capsys.readouterr().out) for cell in of_table(t)] == []
    own.write_text(own.read_text(encoding="utf-8").replace("late", "tired"), encoding="utf-8")
    with pytest.raises(InputError, match="the run is of other rows"):
        compare(*folders, test=own)


@pytest.mark.parametrize("given", [{}, {"test": Path("own.jsonl"), "dataset": "out/knowref"}])
def test_one_option_says_what_the_rows_are(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exactly one of --dataset and --test"):
        compare(tmp_path, tmp_path, **given)


def test_a_file_of_tests_without_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text("\n")
    with pytest.raises(InputError, match=r"own\.jsonl: it has no rows"):
        own_tests(tmp_path / "own.jsonl")

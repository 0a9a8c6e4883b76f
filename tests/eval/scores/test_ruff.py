"""RUFF's scores: systems whose answers are known have the numbers that follow from them.
from tests.eval.scores.tables import tables_of

What fails prints counts, ids and numbers, no sentences.
"""

import json
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pronominal import BOTH, NONE, UNFINISHED, Decision, InputError
from pronominal.adapters import load
from pronominal.cli.main import app
from pronominal.dataset_scripts import ruff
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.dataset_scripts.reading.split import Split, instances_of
from pronominal.dataset_scripts.ruff.assembly import Setting
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.eval.report.rows import row_browser
from pronominal.eval.report.scored import Comparison
from pronominal.eval.runs.predictions import Prediction
from pronominal.eval.runs.runner import SystemSettings, predict, run
from pronominal.eval.scores.ruff.samples import SAMPLES, Margins
from pronominal.eval.scores.ruff.score import score
from pronominal.eval.scores.ruff.task import TASK as RUFF
from pronominal.eval.statistics.hypothesis_tests import pairwise_tests
from pronominal.instances import FillingInstance
from pronominal.pronouns import PRONOUN_SETS
from tests.eval.evaluated import evaluate, rows_to_score, score_predictions
from tests.eval.scores.tables import tables_of

SETS = ("he", "she", "they", "xe")


@pytest.fixture
def dataset(own_ruff: str) -> str:
    """Our own templates in RUFF's form: 72 rows in each sample."""
    return own_ruff


def decisions(system: Any, table: pa.Table) -> list[Decision]:
    asked = load(system) if isinstance(system, str) else system
    return [one.decision for one in predict(asked, [*instances_of(table)])]


def scores(dataset: str, config: str, system: Any) -> dict[str, Any]:
    """Score a system's answers to the three samples, and its own without context."""
    split, tasks = load_split(dataset, config, SAMPLES), read_split(dataset, "no_context")
    ids = {name: row for row, name in enumerate(split.table["id"].to_pylist())}
    samples = {}
    for seed in (13, 17, 19):
        rows = read_split(dataset, config, f"seed_{seed}").table["id"].to_pylist()
        samples[seed] = np.array([ids[row] for row in rows])
    context_free = (tasks.table, decisions(system, tasks.table))
    answers = decisions(system, split.table)
    return score(split.table, answers, samples=samples, context_free=context_free)


def figures(block: dict[str, Any]) -> dict[str, Any]:
    """Return a block without what says how certain it is."""
    about = ("units", "units_of", "interval", "interval_missing")
    return {name: value for name, value in block.items() if name not in about}


@pytest.mark.parametrize("distractors", range(1, 6))
def test_copying_the_first_pronoun_is_always_right(dataset: str, distractors: int) -> None:
    found = scores(dataset, f"distractors_{distractors}", "first-pronoun")
    assert (found["n"], found["accuracy"], found["sd"]) == (216, 1, 0)
    assert figures(found["errors"]) == {
        "n": 0,
        "ambiguous": 0,
        **dict.fromkeys(("distraction", "bias", "other")),
    }
    for block in (*found["by_pronoun_set"].values(), *found["by_form"].values()):
        assert (block["accuracy"], block["none"], block["both"]) == (1, 0, 0)


@pytest.mark.parametrize("distractors", range(1, 6))
def test_copying_the_last_pronoun_is_all_distraction(dataset: str, distractors: int) -> None:
    found = scores(dataset, f"distractors_{distractors}", "last-pronoun")
    assert found["accuracy"] == 0
    assert figures(found["errors"]) == {
        "n": 216,
        "ambiguous": 0,  # without context it ties
        "distraction": 1,
        "bias": 0,
        "other": 0,
    }
    assert found["context_free"]["both"] == 6


def test_without_distractors_the_last_pronoun_is_the_right_one(dataset: str) -> None:
    assert scores(dataset, "distractors_0", "last-pronoun")["accuracy"] == 1


@pytest.mark.parametrize("distractors", range(1, 6))
def test_always_he_is_all_bias(dataset: str, distractors: int) -> None:
    found = scores(dataset, f"distractors_{distractors}", "always-he")
    assert (found["accuracy"], found["sd"]) == (0.25, 0)
    by_set = [found["by_pronoun_set"][name]["accuracy"] for name in SETS]
    assert by_set == [1, 0, 0, 0]
    assert {block["accuracy"] for block in found["by_case"].values()} == {0.25}
    # three quarters are wrong; in a third of those the distractors' set is he as well
    assert figures(found["errors"]) == {
        "n": 162,
        "ambiguous": 54,
        "distraction": 0,
        "bias": 1,
        "other": 0,
    }
    assert {name: found["context_free"][name] for name in SETS} == dict(
        zip(SETS, [6, 0, 0, 0], strict=True)
    )
    assert found["context_free"]["by_case"]["accusative"]["he"] == 2


class ContextFree:
    """Fills the slot by its own sentence alone, each task sentence in a way of its own."""

    name = "context-free"

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        tasks = [re.split(r"(?<=[.!?]) ", one.text)[-1] for one in instances]
        chosen = [zlib.crc32(task.encode()) % 4 for task in tasks]
        return [[float(option == choice) for option in range(4)] for choice in chosen]


@pytest.mark.parametrize("distractors", range(1, 6))
def test_answering_without_context_is_all_bias(dataset: str, distractors: int) -> None:
    found = scores(dataset, f"distractors_{distractors}", ContextFree())
    assert found["accuracy"] == 0.25
    assert figures(found["errors"]) == {
        "n": 162,
        "ambiguous": 54,
        "distraction": 0,
        "bias": 1,
        "other": 0,
    }
    assert sum(found["context_free"][name] > 0 for name in SETS) > 1


def test_always_he_without_distractors(dataset: str) -> None:
    found = scores(dataset, "distractors_0", "always-he")
    assert figures(found["errors"]) == {
        "n": 162,
        "ambiguous": 0,
        "distraction": 0,
        "bias": 1,
        "other": 0,
    }


@pytest.mark.parametrize(("system", "accuracy"), [("first-pronoun", 1.0), ("last-pronoun", 0.0)])
@pytest.mark.parametrize("distractors", [1, 5])
def test_the_papers_samples(upstream: Path, system: str, accuracy: float, distractors: int) -> None:
    templates, _ = ruff.read_templates(Sources(upstream))
    instances = Instances(Setting(templates, PRONOUN_SETS, distractors))
    (table,) = instances.sampled(13)
    found = score(table, decisions(system, table))
    assert (found["n"], found["accuracy"], found["sd"]) == (2160, accuracy, None)


def table_of(*rows: tuple[int, str | None]) -> pa.Table:
    """Rows of one task sentence: (label, the distractors' set)."""
    return pa.Table.from_pylist(
        [
            {
                "id": f"r{number}",
                "options": list(SETS),
                "label": label,
                "pronoun_set": SETS[label] if label >= 0 else None,
                "distractor_set": other,
                "case": "nominative",
                "occupation": "pilot",
            }
            for number, (label, other) in enumerate(rows)
        ]
    )


WRONG = [
    # label, distractors, without context, chosen -> the reason
    ((0, "she"), Decision(2), Decision(1), "distraction"),
    ((0, "she"), Decision(2), Decision(2), "bias"),
    ((0, "she"), Decision(2), Decision(3), "other"),
    ((0, "she"), Decision(2), NONE, "other"),
    ((0, "she"), Decision(2), BOTH, "other"),
    ((0, "she"), Decision(1), Decision(1), "ambiguous"),
    ((0, "she"), Decision(1), Decision(3), "ambiguous"),
    ((0, "she"), Decision(0), Decision(1), "distraction"),
    ((0, "she"), NONE, Decision(1), "distraction"),
    ((0, None), NONE, Decision(1), "other"),
    ((0, None), NONE, NONE, "other"),
]


@pytest.mark.parametrize(("row", "without", "chosen", "reason"), WRONG)
def test_reasons_of_errors(
    row: tuple[int, str | None], without: Decision, chosen: Decision, reason: str
) -> None:
    tasks = table_of((-1, None))
    found = figures(score(table_of(row), [chosen], context_free=(tasks, [without]))["errors"])
    assert found.pop("n") == 1
    assert found.pop("ambiguous") == (reason == "ambiguous")
    expected = dict.fromkeys(("distraction", "bias", "other"), None if reason == "ambiguous" else 0)
    assert found == expected | ({reason: 1} if reason != "ambiguous" else {})


def test_the_mean_and_deviation_are_over_samples() -> None:
    rows = table_of((0, "she"), (1, "he"), (2, "he"), (3, "he"))
    answers = [Decision(0), Decision(0), Decision(2), NONE]
    samples = {13: np.array([0, 1]), 17: np.array([2, 2]), 19: np.array([3, 1])}
    found = score(rows, answers, samples=samples)
    assert [block["accuracy"] for block in found["by_seed"].values()] == [0.5, 1, 0]
    assert (found["n"], found["accuracy"], found["sd"]) == (6, 0.5, 0.5)
    expected = {"n": 2, "accuracy": 0, "answered": 0.5, "none": 0.5, "both": 0, "unfinished": 0}
    assert figures(found["by_seed"]["19"]) == expected


def test_a_missing_context_free_answer_is_named() -> None:
    tasks = table_of((-1, None)).set_column(6, "occupation", pa.array(["singer"]))
    with pytest.raises(InputError, match="no context-free answer for pilot in the nominative"):
        score(table_of((0, "she")), [NONE], context_free=(tasks, [NONE]))


def lines(answers: Sequence[tuple[str, int]]) -> str:
    return "".join(
        json.dumps({"id": name, "choice": choice, "abstained": None}) + "\n"
        for name, choice in answers
    )


def given(split: Split) -> list[tuple[str, int]]:
    columns = (split.table[name].to_pylist() for name in ("id", "label"))
    return [*zip(*columns, strict=True)]


def every_sample(dataset: str) -> list[tuple[str, int]]:
    config = "distractors_0"
    return [row for s in (13, 17, 19) for row in given(read_split(dataset, config, f"seed_{s}"))]


ANSWERED: dict[str, Callable[[str], list[tuple[str, int]]]] = {
    "test": lambda dataset: given(read_split(dataset, "distractors_0")),
    "the samples one after another": every_sample,
    "the samples, each row once": lambda dataset: [*dict(every_sample(dataset)).items()],
}


@pytest.mark.parametrize("way", ANSWERED)
def test_a_file_may_answer_the_samples_or_test(dataset: str, tmp_path: Path, way: str) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(lines(ANSWERED[way](dataset)))
    split = rows_to_score(RUFF, dataset, "distractors_0", None, file)
    found = score_predictions(split, file)
    assert (found["n"], found["accuracy"], found["sd"]) == (216, 1, 0)
    assert [*found["by_seed"]] == ["13", "17", "19"]
    assert ("test" in found) == (way == "test")


def test_two_answers_to_one_row_are_refused(dataset: str, tmp_path: Path) -> None:
    rows = given(read_split(dataset, "distractors_0"))
    file = tmp_path / "mine.jsonl"
    file.write_text(lines([*rows, (rows[0][0], (rows[0][1] + 1) % 4)]))
    with pytest.raises(InputError, match=f"line {len(rows) + 1}: the id .* is given twice"):
        score_predictions(read_split(dataset, "distractors_0"), file)


def test_one_sample_alone_has_no_deviation(dataset: str, tmp_path: Path) -> None:
    split = read_split(dataset, "distractors_2", "seed_17")
    folder = run(split, load("always-he"), SystemSettings("he", "always-he"), tmp_path)
    found = score_predictions(
        rows_to_score(RUFF, dataset, "distractors_2", None, folder.path), folder.path
    )
    assert ([*found["by_seed"]], found["accuracy"], found["sd"]) == (["17"], 0.25, None)


def test_evaluate_asks_for_the_context_free_answers_too(dataset: str, tmp_path: Path) -> None:
    split = load_split(dataset, "distractors_1", SAMPLES)
    found = evaluate(split, SystemSettings("he", "always-he"), tmp_path)
    assert found["errors"]["bias"] == 1
    assert {path.name for path in tmp_path.iterdir()} == {
        f"ruff.distractors_1.{SAMPLES}.he",
        "ruff.no_context.test.he",
    }


def test_no_context_alone_is_a_preference(dataset: str, tmp_path: Path) -> None:
    split = read_split(dataset, "no_context")
    found = evaluate(split, SystemSettings("he", "always-he"), tmp_path)
    assert found.keys() == {"n", "context_free"}
    assert found["context_free"]["he"] == found["n"] == 6
    assert [one.title for one in tables_of(RUFF, {"he": found})] == [
        "RUFF: forms chosen without context"
    ]


def test_the_command_prints_what_the_contract_says(
    dataset: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for config, split in (("distractors_1", SAMPLES), ("no_context", "test")):
        rows = load_split(dataset, config, split)
        run(rows, load("last-pronoun"), SystemSettings("last", "last-pronoun"), tmp_path)
    command = ["score", "ruff", "--dataset", dataset, "--config", "distractors_1", "--json"]
    command += ["--predictions", str(tmp_path / f"ruff.distractors_1.{SAMPLES}.last")]
    command += ["--context-free", str(tmp_path / "ruff.no_context.test.last" / "predictions.jsonl")]
    app(command, standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    asked = ("n", "accuracy", "sd", "by_seed", "by_pronoun_set", "by_case", "errors", "margins")
    assert found.keys() >= {*asked}
    assert found["by_seed"]["13"]["n"] == 72
    assert found["errors"]["distraction"] == 1


def test_welchs_test_is_scipys() -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = [0.9, 0.8, 0.95], [0.5, 0.7, 0.6]
    found = pairwise_tests({"he": a, "xe": b, "same": [0.1, 0.1], "other": [0.2, 0.2]})
    assert found is not None
    expected = stats.ttest_ind(a, b, equal_var=False)
    assert found["he-xe"]["p"] == pytest.approx(expected.pvalue)
    assert found["he-xe"]["significant"] == (expected.pvalue < 0.05)
    assert (found["same-other"]["p"], found["same-other"]["significant"]) == (None, None)
    assert len(found) == 6


def test_the_table_shows_welchs_tests(dataset: str) -> None:
    pytest.importorskip("scipy.stats")
    found = scores(dataset, "distractors_1", "always-he")
    found["tests"]["she-xe"]["welch"] |= {"p": 0.0304}
    shown = {
        one.title: one for one in tables_of(RUFF, {"he": found, "other": found | {"tests": {}}})
    }
    table = shown["RUFF: differences between pronoun sets"]
    assert [row[0] for row in table.rows] == ["he"] * 6
    cells = {row[1]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    assert cells["he-she"]["Difference"] == "+100.0 [-39.7, +100.0]"
    assert cells["he-she"]["p (Welch)"] == "–"  # neither accuracy varies
    assert cells["she-xe"]["p (Welch)"] == "0.030"


def test_pronoun_sets_are_compared_over_occupations(dataset: str) -> None:
    found = scores(dataset, "distractors_1", "always-he")
    test, means = found["tests"]["he-she"], found["by_pronoun_set"]
    assert test["n"] == found["intervals"]["units"] == 2
    assert test["difference"] == means["he"]["accuracy"] - means["she"]["accuracy"] == 1
    # both occupations differ the same way; corrected over six pairs
    assert (test["p"], test["p_holm"]) == (1 / 4, 1)
    split = read_split(dataset, "distractors_1", "seed_13")
    alone = score(split.table, decisions("always-he", split.table))["tests"]["he-she"]
    assert alone["difference"] == 1
    assert "welch" not in alone  # of one sample there is no spread


def test_margins_count_what_rounding_may_turn() -> None:
    found = Margins(np.array([0.0, 5e-5, 5e-4, 0.05, 2.0])).summary()
    assert found["within"] == {"0.0001": 2, "0.001": 3, "0.01": 3, "0.1": 4}
    assert (found["n"], found["median"]) == (5, 5e-4)


def test_margins_come_from_the_scores(dataset: str, tmp_path: Path) -> None:
    class Slope:
        name = "slope"

        def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
            return [[-3.0, -1.0, -1.5, -9.0] for _ in instances]

    split = read_split(dataset, "distractors_0")
    found = evaluate(split, SystemSettings("slope", "slope"), tmp_path, system=Slope())
    assert found["margins"]["median"] == 0.5
    titles = [table.title for table in tables_of(RUFF, {"slope": found})]
    parts = (
        "accuracy by pronoun set and grammatical case",
        "forms chosen without context",
        "differences between pronoun sets",
        "errors",
        "margins",
    )
    assert titles == ["Performance", *(f"RUFF: {part}" for part in parts)]


def test_no_answer_is_right_without_context(dataset: str, tmp_path: Path) -> None:
    split = read_split(dataset, "no_context")
    asked = [SystemSettings(name, name) for name in ("always-he", "last-pronoun")]
    folders = {one.label: run(split, one.load(), one, tmp_path).path for one in asked}
    comparison = Comparison("ruff", "no_context", "test", split.digest, RUFF, folders=folders)
    rows = json.loads(row_browser(comparison, split).content)
    assert rows["answers"]["always-he"] != rows["answers"]["last-pronoun"]
    assert {*rows["right"]} == {"-"}
    names = split.table["id"].to_pylist()
    lines = [Prediction(name, NONE, {"answers": {"0": "none"}}).line() for name in names]
    (tmp_path / "mine.jsonl").write_text("".join(lines))
    assert "prompts" not in score_predictions(split, tmp_path / "mine.jsonl")


def test_unfinished_answers_are_counted_apart(dataset: str) -> None:
    table = read_split(dataset, "distractors_1", "seed_13").table
    found = score(table, [UNFINISHED] * table.num_rows, samples={13: np.arange(table.num_rows)})
    assert (found["unfinished"], found["none"], found["answered"]) == (1, 0, 0)
    assert {block["unfinished"] for block in found["by_case"].values()} == {1}
    assert "Unfinished" in tables_of(RUFF, {"a": found})[0].columns

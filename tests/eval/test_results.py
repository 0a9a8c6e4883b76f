"""What Python users get from `pronominal.evaluate` and `pronominal.score`."""

import json
from pathlib import Path

import pandas as pd
import pytest

import pronominal
from pronominal.errors import InputError
from tests.cli.test_main import pronominal as command


class Last:
    """Takes the last candidate."""

    name = "last"

    def choose(self, instances):
        return [[0.0, 1.0] for _ in instances]


@pytest.fixture(scope="module")
def results(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> pronominal.Results:
    out = tmp_path_factory.mktemp("runs")
    systems = ["random", {"system": "random", "label": "seeded", "seed": 7}, Last()]
    return pronominal.evaluate(str(sample), systems, config="double", out=out)


def test_names_settings_and_objects_are_systems(results: pronominal.Results) -> None:
    assert [*results.scores] == ["random", "seeded", "last"]
    assert results.scores["last"]["overall"]["accuracy"] == 0.5
    assert results.scores["random"]["overall"] != results.scores["seeded"]["overall"]


def test_the_numbers_are_those_of_the_command(results: pronominal.Results, sample: Path) -> None:
    run = results.runs["random"]
    place = ("--dataset", sample, "--config", "double", "--predictions", run, "--json")
    scores = json.loads(command("score", "sample", *place).stdout)
    tidy = results.to_pandas()
    columns = "system label dataset config split subset measure value low high n unit digest"
    assert [*tidy.columns] == columns.split()
    one = tidy[(tidy.label == "random") & (tidy.measure == "accuracy")].set_index("subset")
    for subset, block in (
        ("overall", scores["overall"]),
        ("case=nominative", scores["by_case"]["nominative"]),
        ("pronoun_set=xe", scores["by_pronoun_set"]["xe"]),
        ("case=nominative/pronoun_set=xe", scores["by_form"]["nominative/xe"]),
    ):
        found = one.loc[subset]
        assert [found.value, found.low, found.high, found.n] == [
            block["accuracy"],
            *block["interval"]["accuracy"],
            block["n"],
        ]
    assert set(tidy.unit) == {"occupation"}
    assert set(tidy.digest) == {results.split.digest}


def test_tidy_scores_are_saved(results: pronominal.Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "scores")
    assert sorted(file.name for file in folder.iterdir()) == ["scores.csv", "scores.parquet"]
    tidy = results.to_pandas()
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "scores.parquet"), tidy)
    pd.testing.assert_frame_equal(pd.read_csv(folder / "scores.csv"), tidy)


def test_rows_say_what_each_system_answered(results: pronominal.Results) -> None:
    rows = results.rows()
    assert [*rows.columns] == ["id", "label", "right", "choice", "abstained"]
    last = rows[rows.label == "last"]
    assert (len(last), last.right.mean(), set(last.choice)) == (576, 0.5, {1})


def test_two_systems_are_compared(results: pronominal.Results) -> None:
    tests, back = results.compare("random", "last"), results.compare("last", "random")
    assert tests["accuracy"]["difference"] == -back["accuracy"]["difference"]
    low, high = tests["accuracy"]["interval"]["difference"]
    assert low <= tests["accuracy"]["difference"] <= high
    assert "equivalence" not in tests["accuracy"]
    with pytest.raises(InputError, match="did you mean 'random'"):
        results.compare("randon", "last")


def test_two_systems_are_asked_whether_they_are_equivalent(results: pronominal.Results) -> None:
    verdicts = [
        results.compare("random", "seeded", margin=margin)["accuracy"]["equivalence"]
        for margin in (0.001, 0.5)
    ]
    assert [one["equivalent"] for one in verdicts] == [False, True]
    assert verdicts[0]["interval"] == verdicts[1]["interval"]


def test_tables_come_in_every_form(results: pronominal.Results, tmp_path: Path) -> None:
    assert "Performance" in results.summary
    assert "| seeded |" in results.to_markdown()
    assert r"\toprule" in results.to_latex()
    assert "seeded" in results.report(tmp_path / "report.html").read_text()


def test_the_report_is_a_function(results: pronominal.Results, tmp_path: Path) -> None:
    folders = [str(folder) for folder in results.runs.values()]
    page = pronominal.report(folders, tmp_path / "page.html", svg=tmp_path / "svg")
    assert "seeded" in page.read_text()
    assert any((tmp_path / "svg").iterdir())


def test_predictions_may_be_a_list(results: pronominal.Results, sample: Path) -> None:
    lines = [{"id": one.id, "choice": 1} for one in results.split]
    scored = pronominal.score(sample, lines, config="double")
    assert scored.scores["predictions"]["overall"]["accuracy"] == 0.5
    assert scored.scores["predictions"]["intervals"]["level"] == 0.95
    with pytest.raises(InputError, match="575 of 576 ids are missing"):
        pronominal.score(sample, lines[:1], config="double")
    with pytest.raises(InputError, match="have no --allow-missing"):
        pronominal.score(sample, lines, config="double", allow_missing=True)


def test_a_limit_takes_the_first_rows(sample: Path, tmp_path: Path) -> None:
    few = pronominal.evaluate(sample, ["random"], config="double", out=tmp_path, limit=16)
    assert few.scores["random"]["overall"]["n"] == len(few.split) == 16
    assert few.split.name == "test.first-16"

"""The first screen: the sentences of the terminal, baselines apart, the best only beyond chance."""

import re
from pathlib import Path

import pytest

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.errors import InputError
from pronominal.eval.report import write_report
from pronominal.eval.report.charts.whole_figure import whole_figure
from pronominal.eval.report.chosen import chosen
from pronominal.eval.report.first_screen import NONE_BEST, FirstScreen, first_screen
from pronominal.eval.report.published import PublishedSystem, published_systems
from pronominal.eval.report.scored import Comparison, add_tests, read_comparisons
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.paired_tests import AGAINST
from tests.eval.evaluated import evaluate_several
from tests.eval.report.test_profiles import comparison, resolves

SYSTEMS = ("first-mention", "random", "toy-blind-to-xe", "toy-nine-in-ten")


@pytest.fixture(scope="module")
def folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs")
    asked = [SystemSettings(name, name) for name in SYSTEMS]
    evaluate_several(read_split(str(sample), "double"), asked, out)
    return out


def runs_of(folder: Path) -> Comparison:
    (one,) = read_comparisons([folder])
    return one


@pytest.fixture
def runs(folder: Path) -> Comparison:
    one = runs_of(folder)
    add_tests(one, None)
    return one


def names(drawn: str) -> list[str]:
    return re.findall(r'class="name \w+(?: best)?">([^<]+)<', drawn)


def drawn_of(shown: FirstScreen) -> list[str]:
    return [figure.panels[0].drawn for figure in shown.figures]


def test_sentences_are_those_of_the_terminal(runs: Comparison) -> None:
    said = runs.task.summarise(runs.scores, "", "")
    shown = first_screen(runs)
    better = shown.choices[0].better
    assert better + shown.worse + shown.remarks == said.sentences
    assert not any("onsistency" in one for one in shown.worse)
    assert any(one.startswith("Pronoun consistency of first-mention") for one in shown.remarks)
    assert better[0].startswith("toy-nine-in-ten is better than toy-blind-to-xe by 13.0")
    assert any(one.startswith("toy-blind-to-xe loses 100.0") for one in shown.worse)


def test_each_measure_has_sentences_of_its_own_tests(runs: Comparison) -> None:
    choices = {choice.key: choice for choice in first_screen(runs).choices}
    test = runs.scores["toy-nine-in-ten"][AGAINST]["f1"]["toy-blind-to-xe"]
    assert test["p_holm"] > 0.05  # it leaves out the rows that one of them did not answer
    said = [one for one in choices["f1"].better if "toy-blind-to-xe" in one]
    assert said[0].startswith("No difference was found between toy-nine-in-ten and toy-blind-to-xe")
    assert choices["f1"].better != choices["accuracy"].better


def test_published_figures_come_with_the_sentences_of_their_measure(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = PublishedSystem("Theirs", {"f1": 0.61}, {"A paper": None})
    monkeypatch.setattr("pronominal.eval.report.page.published_systems", lambda one: [theirs])
    write_report(folder, tmp_path / "page.html", papers=True)
    shown = re.findall(r'data-measure="(\w+)">', (tmp_path / "page.html").read_text())
    assert shown == ["f1", "f1"]  # the sentences, and the chart


def test_baselines_come_last_and_the_best_has_a_star(runs: Comparison) -> None:
    accuracy = first_screen(runs).choices[0].figure.panels[0]
    assert names(accuracy.drawn)[:2] == ["toy-nine-in-ten", "toy-blind-to-xe"]
    assert {*names(accuracy.drawn)[2:]} == {"first-mention", "random"}
    assert accuracy.drawn.count("★") == 1
    assert ">★ 88.0<" in accuracy.drawn


def test_what_may_be_chance_has_no_star(folder: Path) -> None:
    one = chosen(runs_of(folder), ["first-mention", "random"])
    add_tests(one, None)
    shown = first_screen(one)
    assert "★" not in drawn_of(shown)[0]
    assert NONE_BEST in shown.notes or "★" in "".join(drawn_of(shown))


def test_a_baseline_that_wins_has_no_star(runs: Comparison) -> None:
    shown = first_screen(chosen(runs, ["first-mention", "random"]))
    assert runs.scores["first-mention"]["pronoun_consistency"]["score"] == 0.5
    assert "★" not in "".join(drawn_of(shown))
    assert NONE_BEST in shown.notes


def test_its_charts_are_figures_for_a_paper(runs: Comparison) -> None:
    figures = {figure.name: figure for figure in first_screen(runs).figures}
    assert {"systems-by-accuracy", "systems-by-accuracy-worst-pronoun-set"} <= figures.keys()
    assert "systems-by-pronoun-consistency" in figures  # once, though it is also a choice
    figure = figures["systems-by-accuracy"]
    assert figure.legend == (
        ("system", "systems"),
        ("baseline", "baselines"),
        ("chance", "guessing"),
    )
    assert figure.table.rows[0][0] == "toy-nine-in-ten"
    whole = whole_figure(figure)
    assert 'width="7.7cm"' in whole
    assert all(f">{name}<" in whole for _, name in figure.legend)


def test_the_worst_pronoun_set_is_named(runs: Comparison) -> None:
    worst = drawn_of(first_screen(runs))[-1]
    assert re.search(r"toy-blind-to-xe 0\.0\S* xe;", worst)


def test_published_figures_are_marks_and_no_runs() -> None:
    one = comparison("winopron", "double", mine=resolves(he=0.9, xe=0.8))
    published = {system.name: system for system in published_systems(one)}
    assert published["LingMess"].figures["f1"] == pytest.approx(0.644)
    assert {"f1", "pronoun_consistency"} <= published["LingMess"].figures.keys()
    shown = first_screen(one, [PublishedSystem("Theirs", {"accuracy": 0.61}, {"A paper": None})])
    drawn = drawn_of(shown)[0]
    assert "published, not rerun" in drawn
    assert "Theirs: 61.0, as published; A paper" in drawn
    assert 'data-system="Theirs"' not in drawn
    assert any("A paper" in note for note in shown.notes)


@pytest.mark.parametrize("dataset", ["gap", "knowref", "ruff", "winogender", "winonb", "winopron"])
def test_parts_and_consistency_are_of_the_task(dataset: str) -> None:
    task = task_of(dataset)
    assert task.parts in task.headline_measure.divisions
    assert (task.consistency is None) == (task.consistency_measure is None)
    assert task.ability is not None


def test_the_best_are_compared_and_all_have_their_figures(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pronominal.eval.report.chosen.MOST", 2)
    page, beside = tmp_path / "page.html", tmp_path / "page.all-systems"
    write_report(folder, page)
    written = page.read_text()
    assert "2 of 4 systems" in written
    assert "toy-nine-in-ten, " in written
    assert 'value="random"' not in written  # among the systems that can be hidden
    (performance,) = beside.glob("*.performance.csv")
    assert all(name in performance.read_text() for name in SYSTEMS)
    write_report(folder, page, systems=["random", "first-mention"])
    assert 'value="random"' in page.read_text()
    assert 'value="toy-nine-in-ten"' not in page.read_text()
    (beside / "thesis.csv").write_text("years of work")
    with pytest.raises(InputError, match=r"thesis\.csv"):
        write_report(folder, page)


def test_a_system_without_a_run_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"randm.*did you mean 'random'"):
        write_report(folder, tmp_path / "page.html", systems=["randm"])

"""Papers' figures: transcribed without a slip, compared with runs, never guessed."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pronominal.errors import InputError
from pronominal.eval.papers.data_figures import DATA_FIGURES
from pronominal.eval.papers.figures import PAPERS, PaperTable, paper_tables
from pronominal.eval.papers.pair_outcomes import OUTCOMES
from pronominal.eval.papers.reproduce import reproduce
from pronominal.eval.papers.reproduction import Line, Reproduction
from pronominal.eval.runs.scored import Run, read_runs, read_scores
from tests.cli.test_main import pronominal

KNOWREF = {table.name: table for table in paper_tables("knowref")}
TEST = ("knowref", "original", "test")


def run(label: str, accuracy: float, consistency: float | None = None, place=TEST) -> Run:
    scores: dict[str, Any] = {"task_specific_accuracy": accuracy, "correct": accuracy}
    if consistency is not None:
        scores["consistency"] = {"score": consistency, "consistently_correct": accuracy / 2}
    return Run(label, place, scores, Path(f"runs/{label}"))


def line(reproduction: Reproduction, row: str, figure: str) -> Line:
    return next(found for found in reproduction.lines if (found.row, found.figure) == (row, figure))


def test_ours_has_the_interval_of_the_scores_or_a_reason_for_none() -> None:
    table, path = KNOWREF["knowref:3"], "interval"
    alone = run("rule", 0.6)
    scores = alone.scores | {path: {"task_specific_accuracy": [0.5, 0.7], "correct": None}}
    made = reproduce([table], [replace(alone, scores=scores)])[0]
    ours = [one for one in made.lines if one.ours is not None]
    assert ours
    assert all((one.interval is None) is (one.interval_missing is not None) for one in ours)
    scale = table.figures["accuracy"].scale
    found = line(made, "rule", "accuracy").interval
    assert found == pytest.approx((0.5 * scale, 0.7 * scale))
    shown = made.to_table()
    assert any("[0.5" in row[3] for row in shown.rows)
    assert any(note.startswith("No interval for") for note in shown.notes)
    seeds = reproduce([table], named={COVERED[0]: [run("a", 0.5), run("b", 0.6)]})[0]
    assert "mean of several runs" in str(line(seeds, COVERED[0], "accuracy").interval_missing)


def shares(paper: str, name: str) -> dict[str, float]:
    return dict(KNOWREF[f"knowref:{paper}"].rows[name].paper)


COVERED = [key for key, row in KNOWREF["knowref:3"].rows.items() if len(row.paper) > 1]


@pytest.mark.parametrize("row", COVERED)
def test_the_outcomes_of_table_3_add_up(row: str) -> None:
    figures = shares("3", row)
    parts = [figures[name] for name in ("both", "none", "incorrect", "correct")]
    # each of the four is rounded to two decimals at worst
    assert sum(parts) == pytest.approx(1, abs=4 * 0.005)


@pytest.mark.parametrize("row", COVERED)
def test_task_specific_accuracy_follows_from_the_outcomes(row: str) -> None:
    figures = shares("3", row)
    correct, incorrect = figures["correct"], figures["incorrect"]
    low = (correct - 0.005) / (correct + incorrect)
    high = (correct + 0.005) / (correct + incorrect)
    assert low - 0.005 <= figures["accuracy"] <= high + 0.005


@pytest.mark.parametrize("row", KNOWREF["knowref:5"].rows)
def test_table_5_gains_upon_table_3(row: str) -> None:
    switching = KNOWREF["knowref:5"].rows[row]
    before = 100 * shares("3", switching.baseline)["accuracy"]
    assert switching.paper["accuracy"] - switching.paper["gain"] == pytest.approx(before)
    assert switching.paper["consistency"] > shares("4", switching.baseline)["consistency"]


def test_the_papers_text_agrees_with_its_tables() -> None:
    # section 4.2: inconsistent resolutions from 31 % to 11 %; on GAP an F1 of 71.1, by +1.9
    assert 100 - shares("4", "bert-knowref")["consistency"] == 31
    assert 100 - shares("5", "bert-knowref-switching")["consistency"] == 11
    gain = shares("6", "bert-gap-switching")["f1"] - shares("6", "bert-gap")["f1"]
    assert gain == pytest.approx(1.9)
    halves = [shares("2", row)["share"] for row in ("masculine", "feminine")]
    assert sum(halves) == pytest.approx(100)
    # the paper's own shares of the labels leave 0.1 out
    labels = [shares("2", row)["share"] for row in ("first", "second")]
    assert sum(labels) == pytest.approx(99.9)


@pytest.mark.parametrize("table", [table for paper in PAPERS for table in paper_tables(paper)],
                         ids=lambda table: table.name)  # fmt: skip
def test_every_figure_of_a_row_is_a_column(table: PaperTable) -> None:
    columns = set(table.figures)
    assert all(set(row.paper) <= columns for row in table.rows.values())
    assert all(figure.path or table.name in DATA_FIGURES for figure in table.figures.values())


def test_one_reading_of_consistency_cannot_be_e2es() -> None:
    """A pair can only change if both are answered, and E2E answers fewer than the paper's share."""
    for key, row in KNOWREF["knowref:4"].rows.items():
        outcomes = shares("3", key)
        decided = 100 * (outcomes["correct"] + outcomes["incorrect"])
        # three shares rounded to whole percents
        assert (row.paper["consistency"] > decided + 1.5) == (key == "e2e-conll")
        assert ("58 %" in (row.why or "")) == (key == "e2e-conll")
        assert len({row.paper[name] for name in row.paper}) == 1


def test_a_row_without_a_run_stays_empty() -> None:
    for table in reproduce(list(KNOWREF.values())):
        assert all(found.ours is None and found.difference is None for found in table.lines)
        assert all(found.paper is not None for found in table.lines if found.difference)
        assert len(table.to_table().rows) == sum(
            len(row.paper) for row in table.table.rows.values()
        )


def test_a_run_stands_in_the_row_of_its_name() -> None:
    made = reproduce([KNOWREF["knowref:3"]], [run("bert-knowref", 0.58)])[0]
    found = line(made, "bert-knowref", "accuracy")
    assert (found.paper, found.ours, found.runs) == (0.61, 0.58, ("bert-knowref",))
    assert found.difference == pytest.approx(-0.03)
    assert line(made, "e2e-knowref", "accuracy").ours is None


def test_other_systems_come_after_the_papers() -> None:
    made = reproduce([KNOWREF["knowref:3"]], [run("last-mention", 0.53), run("bert", 0.6)])[0]
    assert [found.row for found in made.lines][-1] == "bert"
    found = line(made, "last-mention", "accuracy")
    assert (found.paper, found.ours, found.difference) == (None, 0.53, None)
    # "bert" says neither on what it was trained nor how, so it is in no row of the paper
    assert line(made, "bert-knowref", "accuracy").ours is None


def test_several_runs_of_a_row_have_mean_and_spread() -> None:
    seeds = [run("bert", accuracy) for accuracy in (0.58, 0.60, 0.62)]
    made = reproduce([KNOWREF["knowref:3"]], named={"bert-knowref": seeds})[0]
    found = line(made, "bert-knowref", "accuracy")
    assert (found.ours, found.sd) == (pytest.approx(0.6), pytest.approx(0.02))
    assert "0.600 ± 0.020" in made.to_table().to_markdown()


def test_a_gain_is_against_the_rows_baseline() -> None:
    with_switching = {"bert-knowref-switching": [run("bert", 0.65, 0.9)]}
    made = reproduce([KNOWREF["knowref:5"]], named=with_switching)[0]
    assert line(made, "bert-knowref-switching", "gain").ours is None
    both = with_switching | {"bert-knowref": [run("bert", 0.58, 0.8)]}
    made = reproduce([KNOWREF["knowref:5"]], named=both)[0]
    gain = line(made, "bert-knowref-switching", "gain")
    assert (gain.ours, gain.difference) == (pytest.approx(7), pytest.approx(-3))
    assert gain.sd is None
    assert {found.row for found in made.lines} == set(KNOWREF["knowref:5"].rows)


def test_the_spread_of_a_gain_has_both_rows() -> None:
    seeds = {
        "bert-knowref": [run("bert", accuracy) for accuracy in (0.55, 0.61)],
        "bert-knowref-switching": [run("bert", accuracy) for accuracy in (0.60, 0.68)],
    }
    gain = line(reproduce([KNOWREF["knowref:5"]], named=seeds)[0], "bert-knowref-switching", "gain")
    assert gain.ours == pytest.approx(6)
    assert gain.sd == pytest.approx((18 + 32) ** 0.5)  # the two variances, in points


def test_runs_of_other_rows_are_left_alone() -> None:
    places = [("knowref", "switched", "test"), ("knowref", "original", "validation"),
              ("gap", "original", "test")]  # fmt: skip
    runs = [run(f"bert-{number}", 0.5, place=place) for number, place in enumerate(places)]
    made = reproduce([KNOWREF["knowref:3"]], runs)[0]
    assert all(found.ours is None for found in made.lines)


def test_scores_without_consistency_leave_its_table_empty() -> None:
    made = reproduce([KNOWREF["knowref:4"]], [run("rule", 0.5)])[0]
    assert line(made, "rule", "consistency").ours is None


def test_one_label_for_two_runs_says_too_little() -> None:
    with pytest.raises(InputError, match="--run ROW="):
        reproduce([KNOWREF["knowref:3"]], [run("bert", 0.5), run("bert", 0.6)])
    # the rest of a table's runs need a label of their own, and not those that are named
    seeds = [replace(run("bert", 0.5), folder=Path("runs") / seed) for seed in ("one", "two")]
    made = reproduce([KNOWREF["knowref:3"]], seeds, named={"bert-knowref": seeds[:1]})[0]
    assert line(made, "bert-knowref", "accuracy").ours == line(made, "bert", "accuracy").ours
    on_gap = run("random", 0.5, place=("gap", "original", "test"))
    assert reproduce([KNOWREF["knowref:3"]], [run("random", 0.5), on_gap])


@pytest.mark.parametrize("name", ["knowerf", "knowref:1", "knowref:x", "knowref:", ""])
def test_papers_and_tables_that_are_not_there(name: str) -> None:
    with pytest.raises(InputError):
        paper_tables(name)


def test_a_named_run_of_other_rows_is_refused() -> None:
    elsewhere = run("a", 0.5, place=("gap", "original", "test"))
    with pytest.raises(InputError, match=r"gap/original/test.*knowref/original/test"):
        reproduce([KNOWREF["knowref:3"]], named={"bert-knowref": [elsewhere]})
    assert reproduce([KNOWREF["knowref:3"]], named={"bert-knowref": [elsewhere, run("b", 0.5)]})


@pytest.mark.parametrize("content", ["", "[]", "{}"])
def test_damaged_scores_are_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "score.json").write_text(content)
    with pytest.raises(InputError, match=r"score\.json(, line 1)?: .*pronominal evaluate"):
        read_scores(tmp_path / "score.json")


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (
            '{"overall": {"accuracy": 0.5, "interval": {"accuracy": [0.4]}}}',
            "overall.interval.accuracy",
        ),
        ('{"by_case": {"x": {"interval": {"f1": [0.4, "a"]}}}}', "by_case.x.interval.f1"),
        ('{"overall": {"f1": NaN}}', "overall.f1"),
        ('{"overall": [1, 2]}', "overall"),
    ],
)
def test_a_field_that_fits_no_scores_is_named(tmp_path: Path, content: str, field: str) -> None:
    (tmp_path / "score.json").write_text(content)
    with pytest.raises(InputError, match=f"the field {field} fits no scores"):
        read_scores(tmp_path / "score.json")


def test_a_row_that_is_not_there() -> None:
    with pytest.raises(InputError, match="bert-knowref"):
        reproduce([KNOWREF["knowref:3"]], named={"bert-knowreff": [run("a", 0.5)]})


def test_a_dataset_for_tables_about_runs_is_refused_in_a_sentence(knowref: Path) -> None:
    refused = pronominal("reproduce", "winonb", "--dataset", knowref)
    assert refused.returncode == 2
    assert "no table asked for is about the data, or lists its rows" in refused.stderr
    assert "leave --dataset out" in refused.stderr
    for paper, folders, told in (
        ("winopron:1", [knowref], "it holds knowref, and the tables asked for are about the data"),
        ("knowref:2", [knowref, knowref], f"it holds knowref, as {knowref} does"),
    ):
        (table,) = paper_tables(paper)
        with pytest.raises(InputError, match=re.escape(told)):
            reproduce([table], datasets=[str(folder) for folder in folders])


def test_table_2_is_computed_from_the_data(knowref: Path) -> None:
    done = pronominal("reproduce", "knowref:2", "--dataset", knowref, "--json")
    assert done.returncode == 0
    lines = {found["row"]: found for found in json.loads(done.stdout)[0]["lines"]}
    assert {row: round(found["ours"], 1) for row, found in lines.items()} == {
        **{"masculine": 52.6, "feminine": 47.4},
        **{"first": 46.6, "second": 53.4},
    }
    assert all(found["why"] for found in lines.values())


def test_a_difference_of_the_data_that_no_one_knows_exits_with_1(
    knowref: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = KNOWREF["knowref:2"]
    rows = {key: replace(row, why=None) for key, row in table.rows.items()}
    assert reproduce([table], datasets=[str(knowref)])[0].unexplained == []
    unknown = reproduce([replace(table, rows=rows)], datasets=[str(knowref)])[0].unexplained
    assert {found.row for found in unknown} == set(rows)
    monkeypatch.setattr(
        "pronominal.eval.papers.figures.paper_tables", lambda name: [replace(table, rows=rows)]
    )
    assert pronominal("reproduce", "knowref:2", "--dataset", knowref).returncode == 1


def test_the_command_compares_real_runs(knowref: Path, tmp_path: Path) -> None:
    command = ["evaluate", "--dataset", knowref, "--out", tmp_path / "runs"]
    systems = ("--system", "random", "--system", "last-mention")
    assert pronominal(*command, *systems).returncode == 0
    run_folder = tmp_path / "runs" / "knowref.original.test.last-mention"
    command = ["reproduce", "knowref", "--runs", tmp_path / "runs"]
    printed = pronominal(*command, "--run", f"rule={run_folder}", "--markdown").stdout
    assert re.search(
        r"\| Rule \| Consistency \| 0 \| 100.0 \[\d+\.\d, 100.0\] \| \+100.0 \|", printed
    )
    assert re.search(
        r"\| Rule \| Task-specific accuracy \| 0.52 \| 0.534 \[.*\] \| \+0.014 \|", printed
    )
    assert read_runs(run_folder)[0].rows == TEST
    assert pronominal(*command, "--run", "rule").returncode == 2
    assert pronominal("reproduce", "knowref", "--runs", tmp_path / "none").returncode == 2


def test_rows_are_listed_by_outcome(knowref: Path, tmp_path: Path) -> None:
    """A position is right in both versions or wrong in both, and chance may be neither."""
    systems = ["--system", "last-mention", "--system", "random"]
    made = pronominal(
        "evaluate", "--dataset", knowref, "--config", "original", *systems, "--out", tmp_path
    )
    assert made.returncode == 0, made.stderr
    command = ["reproduce", "knowref:7", "--runs", tmp_path, "--dataset", knowref]
    (found,) = json.loads(pronominal(*command, "--json").stdout)
    assert set(found["pairs"]) == {"last-mention", "random"}
    assert all(set(pair) == {"id", "outcome"} for pair in found["pairs"]["random"])
    counts = {s: Counter(p["outcome"] for p in pairs) for s, pairs in found["pairs"].items()}
    assert all(sum(each.values()) == 1265 for each in counts.values())
    assert counts["random"].keys() == {*OUTCOMES} - {"undecided"}
    ours = {(one["row"], one["figure"]): one["ours"] for one in found["lines"]}
    for outcome, figure in zip(
        OUTCOMES, ("consistently_correct", "consistently_wrong"), strict=False
    ):
        share = 100 * counts["random"][outcome] / 1265
        assert ours["random", figure] == pytest.approx(share)
    (texts,) = json.loads(pronominal(*command, "--json", "--include-text").stdout)
    assert all(len(pair["texts"]) == 2 for pair in texts["pairs"]["random"])
    table = pronominal(*command, "--markdown").stdout
    assert "rows by outcome" in table
    assert texts["pairs"]["random"][0]["texts"][0] not in table

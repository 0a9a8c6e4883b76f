"""What Python users get from `pronominal.evaluate` and `pronominal.score`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import pronominal
from pronominal import Companion, Measure, Task
from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.eval.runs.attempts import AskedTogetherWarning
from pronominal.eval.statistics.paired_tests import AGAINST, PLANNED
from pronominal.eval.task import Answered
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


class Mumbles:
    """Writes nothing in which an answer could be read."""

    def __init__(self, name: str, reply: str = "hm") -> None:
        self.name, self.reply = name, reply

    def generate(self, prompts):
        return [self.reply] * len(prompts)


def test_a_model_whose_replies_are_no_answers_is_told_how_to_see_them(
    sample: Path, tmp_path: Path
) -> None:
    few = pronominal.load_split(sample, "double").first(8)
    systems = [Mumbles("mumbles"), Mumbles("names", few.choices[0][0])]
    results = pronominal.evaluate(few, systems, out=tmp_path)
    (told,) = {line for line in results.summary.splitlines() if "could be read" in line}
    assert told.startswith("mumbles: none of its replies could be read as an answer")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (0, ["last and other answer all rows alike."]),
        (1, ["last and other score the same, but differ in one row."]),
    ],
)
def test_equal_scores_are_said_to_be_of_other_rows_where_they_are(
    results: pronominal.Results, rows: int, told: list[str]
) -> None:
    answered = results.answers["last"]
    others = [*(Decision(0),) * rows, *answered.decisions[rows:]]
    beginnings = ("last and other score", "last and other answer")
    two = {"last": answered, "other": replace(answered, decisions=others)}
    same = dict.fromkeys(two, results.scores["last"])
    summary = replace(results, scores=same, answers=two).summary
    assert [line for line in summary.splitlines() if line.startswith(beginnings)] == told
    undefined = {"interval": {"difference": None}, "interval_missing": {"difference": "why"}}
    plan = {PLANNED: {AGAINST: {"accuracy": dict.fromkeys(two, undefined)}}}
    planned = replace(results, scores={a: one | plan for a, one in same.items()}, answers=two)
    exploratory = [f"Exploratory: {line}" for line in told]
    beginnings = tuple(f"Exploratory: {one}" for one in beginnings)
    lines = planned.summary.splitlines()
    assert [line for line in lines if line.startswith(beginnings)] == exploratory


def test_the_numbers_are_those_of_the_command(results: pronominal.Results, sample: Path) -> None:
    run = results.runs["random"]
    place = ("--dataset", sample, "--config", "double", "--predictions", run, "--json")
    scores = json.loads(command("score", "sample", *place).stdout)
    tidy = results.to_pandas()
    columns = "system label dataset config split subset measure value low high n unit digest"
    assert [*tidy.columns] == columns.split()
    assert set(tidy[tidy.subset == "overall"].n) == {len(results.split)}
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


def test_a_split_a_dataset_and_a_folder_are_one(
    sample: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours = pronominal.load_split(sample, "double").dataset
    assert capsys.readouterr().err == ""  # no progress bar of what takes no time
    read = pytest.importorskip("datasets").load_dataset(str(sample), "double", split="test")
    found = [
        pronominal.evaluate(rows, ["random"], config="double", out=tmp_path)
        for rows in (sample, ours, read)
    ]
    assert len({results.split.digest for results in found}) == 1
    assert len({results.runs["random"] for results in found}) == 1
    ours.info.dataset_name = None
    named = pronominal.evaluate(ours, ["random"], task="winopron", out=tmp_path)
    assert named.scores["random"].content == found[0].scores["random"].content
    with pytest.raises(InputError, match=r'winopron \(as pronominal.evaluate\(.*task="knowref"\)'):
        pronominal.evaluate(ours, ["random"], out=tmp_path)
    with pytest.raises(InputError, match="there is no task 'knoref'; did you mean 'knowref'"):
        pronominal.evaluate(ours, ["random"], task="knoref", out=tmp_path)
    fewer = ours.remove_columns(["case", "pair_id"])
    with pytest.raises(InputError, match="winopron needs the columns case, pair_id; add them"):
        pronominal.evaluate(fewer, ["random"], task="winopron", out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_tidy_scores_are_saved(results: pronominal.Results, tmp_path: Path) -> None:
    folder = results.save(tmp_path / "scores")
    assert sorted(file.name for file in folder.iterdir()) == ["scores.csv", "scores.parquet"]
    tidy = results.to_pandas()
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "scores.parquet"), tidy)
    pd.testing.assert_frame_equal(pd.read_csv(folder / "scores.csv"), tidy)
    with pytest.raises(InputError, match=r"scores\.csv: the scores are two files; name a folder"):
        results.save(tmp_path / "scores.csv")


def test_the_names_of_scores_print_without_the_figures(results: pronominal.Results) -> None:
    names = results.scores["last"].keys()
    assert "overall" in names
    assert "0." not in str(names)


def test_rows_say_what_each_system_answered(results: pronominal.Results) -> None:
    rows = results.rows()
    assert [*rows.columns] == ["id", "label", "right", "choice", "abstained"]
    last = rows[rows.label == "last"]
    assert (len(last), last.right.mean(), set(last.choice)) == (576, 0.5, {1})


def test_all_tables_have_the_headline_by_case_and_set(results: pronominal.Results) -> None:
    (crossed,) = (one for one in results.tables() if one.title.endswith("by case and pronoun set"))
    assert crossed.columns == ("System", "Case", "he", "she", "they", "xe")


def test_two_systems_are_compared(results: pronominal.Results) -> None:
    tests, back = results.compare("random", "last"), results.compare("last", "random")
    assert tests["accuracy"]["difference"] == -back["accuracy"]["difference"]
    low, high = tests["accuracy"]["interval"]["difference"]
    assert low <= tests["accuracy"]["difference"] <= high
    assert "equivalence" not in tests["accuracy"]
    with pytest.raises(InputError, match="did you mean 'random'"):
        results.compare("randon", "last")
    with pytest.raises(InputError, match="random is compared with itself; name two systems"):
        results.compare("random", "random")
    tests["accuracy"].clear()
    assert results.compare("random", "last")["f1"] == tests["f1"], "they share nothing"


def test_two_systems_are_asked_whether_they_are_equivalent(results: pronominal.Results) -> None:
    verdicts = [
        results.compare("random", "seeded", margin=margin)["accuracy"]["equivalence"]
        for margin in (0.001, 0.5)
    ]
    assert [one["equivalent"] for one in verdicts] == [False, True]
    assert verdicts[0]["interval"] == verdicts[1]["interval"]
    with pytest.raises(InputError, match="the margin 5 is none; give a share between 0 and 1"):
        results.compare("random", "seeded", margin=5)


FIVE = """import pronominal
class First:
    name = "mine"
    choose = lambda self, instances: [[1.0, 0.0] for _ in instances]
folder = pronominal.build("sample", {out!r})
systems = ["random", "first-mention", First()]
results = pronominal.evaluate(folder, systems, config="double", out={out!r})
frame = results.to_pandas()
"""


def test_five_lines_build_evaluate_and_give_the_numbers_of_the_command(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    exec(FIVE.format(out=str(tmp_path)), found)
    frame = found["frame"]
    for label in ("random", "first-mention", "mine"):
        run = tmp_path / f"sample.double.test.{label}"
        place = ("-d", tmp_path / "sample", "-c", "double", "-p", run, "--json")
        overall = json.loads(command("score", *place).stdout)["overall"]
        rows = frame[(frame.label == label) & (frame.subset == "overall")].set_index("measure")
        for measure in ("accuracy", "precision", "recall", "f1", "none", "both"):
            assert rows.value[measure] == overall[measure]
            assert [rows.low[measure], rows.high[measure]] == overall["interval"][measure]


def test_tables_come_in_every_form(results: pronominal.Results, tmp_path: Path) -> None:
    assert "Accuracy" in results.summary
    assert "Performance" in [table.title for table in results.tables()]
    assert "| seeded |" in results.to_markdown()
    assert r"\toprule" in results.to_latex()
    assert "seeded" in results.report(tmp_path / "report.html").read_text()


def test_the_form_of_latex_and_html(results: pronominal.Results) -> None:
    latex = results.to_latex()
    assert latex.startswith("% Needs \\usepackage{booktabs} and \\usepackage{adjustbox}.\n")
    caption, label = r"\caption{sample/double/test", r"\label{tab:sample-double-test"
    assert latex.index(r"\toprule") < latex.index(r"\bottomrule")
    assert caption in latex
    assert label in latex
    assert latex.count(r"\begin{table}") == 2
    by_case = latex.rpartition(r"\begin{table}")[2]
    assert "nominative" in by_case
    assert "xe" in by_case
    html = results._repr_html_()
    assert html.count("<tr>") == 1 + len(results.scores)
    assert "<table>" in html
    assert ">random</td>" in html


def test_the_best_is_bold_in_latex(sample: Path, tmp_path: Path) -> None:
    systems = ["random", "toy-nine-in-ten"]
    latex = pronominal.evaluate(sample, systems, config="double", out=tmp_path).to_latex()
    best = [line for line in latex.splitlines() if line.startswith("toy-nine-in-ten & ")]
    assert r"\textbf{" in best[0]
    assert "Bold: better than the same figure of every other system" in latex


def test_where_one_entity_is_named_no_figure_is_compared_with_guessing(
    sample: Path, tmp_path: Path, results: pronominal.Results
) -> None:
    note, guessing = "These sentences name one entity only", "uessing ("
    systems = ["random", "first-mention"]
    single = pronominal.evaluate(sample, systems, config="single", out=tmp_path)
    page = single.report(tmp_path / "report.html").read_text()
    for printed in (single.summary, single.to_markdown(full=True), single.to_latex(), page):
        assert printed.count(note) == 1
        assert guessing not in printed
    assert note not in results.summary
    assert guessing in results.summary
    assert not any("chance is" in note for table in single.tables() for note in table.notes)


def test_results_show_their_summary(results: pronominal.Results) -> None:
    assert repr(results) == results.summary


class Raising(Last):
    """Fails at every row."""

    name = "raising"

    def choose(self, instances):
        raise ValueError("there are no weights")


class OneAnswer(Last):
    """Answers the first row only, whatever it is asked."""

    name = "one-answer"

    def choose(self, instances):
        return [[0.0, 1.0]]


def test_a_system_that_fails_at_all_is_said_to_fail(sample: Path, tmp_path: Path) -> None:
    results = pronominal.evaluate(sample, ["random", Raising()], out=tmp_path, limit=96)
    said = results._summary().sentences
    assert said[0].startswith("raising failed at all 96 rows; the first: ")
    assert not any("raising is worse than guessing" in one for one in said)


def test_a_system_that_answers_only_one_by_one_is_named(sample: Path, tmp_path: Path) -> None:
    with pytest.warns(AskedTogetherWarning, match="asked one by one it answers"):
        pronominal.evaluate(sample, OneAnswer(), out=tmp_path, limit=16)


def test_settings_without_a_system_are_refused(sample: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="settings are given, and no system; name one"):
        pronominal.evaluate(sample, [{"seed": 3}], out=tmp_path)


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
    with pytest.raises(InputError, match="have no option 'allow_missing'"):
        pronominal.score(sample, lines, config="double", allow_missing=True)


def test_a_limit_takes_the_first_rows(sample: Path, tmp_path: Path) -> None:
    few = pronominal.evaluate(sample, ["random"], config="double", out=tmp_path, limit=16)
    assert few.scores["random"]["overall"]["n"] == len(few.split) == 16
    assert few.split.name == "test.first-16"
    again = pronominal.load_split(sample, "double", few.split.name)
    assert pronominal.score(again, few.runs["random"]).scores == few.scores


def test_a_scored_run_keeps_its_label_and_its_system(results: pronominal.Results) -> None:
    """A label may have a dot, which is no suffix of a file."""
    run = results.runs["seeded"]
    for predictions in (run, str(run / "predictions.jsonl")):
        scored = pronominal.score(results.split, predictions)
        tidy = scored.to_pandas()
        assert (set(tidy.label), set(tidy.system)) == ({"seeded"}, {"random"})
    expected = results.rows()
    rows = scored.rows()
    pd.testing.assert_frame_equal(rows, expected[expected.label == "seeded"].reset_index(drop=True))


def test_scores_of_a_run_are_reported_and_those_of_a_file_are_not(
    results: pronominal.Results, tmp_path: Path
) -> None:
    scored = pronominal.score(results.split, results.runs["last"])
    assert "last" in scored.report(tmp_path / "page.html").read_text()
    file = tmp_path / "mine.v2.jsonl"
    file.write_bytes((results.runs["last"] / "predictions.jsonl").read_bytes())
    scored = pronominal.score(results.split, file)
    assert [*scored.scores] == ["mine.v2"]
    with pytest.raises(InputError, match="there are no runs to report"):
        scored.report(tmp_path / "other.html")
    with pytest.raises(InputError, match="there are no runs to report"):
        pronominal.report([], tmp_path / "other.html")
    assert not (tmp_path / "other.html").exists()


class Nameless:
    def choose(self, instances):
        return [[0.0, 1.0] for _ in instances]


@pytest.mark.parametrize(
    ("systems", "message"),
    [
        ([], "no system is given"),
        ([Nameless()], "Nameless is not a system; give it a name"),
        ([Last], r"Last is a class; give Last\(...\)"),
        ([{"system": "random", "label": 7}], "system, label and checkpoint are strings"),
        (["mine=rondom"], "there is no system 'rondom'; did you mean 'random'"),
        (["rondom=here"], "there is no system 'rondom'; did you mean 'random'"),
    ],
)
def test_systems_that_are_none_are_refused(
    sample: Path, tmp_path: Path, systems: list[Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pronominal.evaluate(sample, systems, config="double", out=tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("limit", [0, -1, 2.5, True, "3"])
def test_a_limit_is_a_number_of_rows(sample: Path, tmp_path: Path, limit: Any) -> None:
    with pytest.raises(InputError, match="the limit is"):
        pronominal.evaluate(sample, ["random"], config="double", out=tmp_path / "runs", limit=limit)
    assert not (tmp_path / "runs").exists()


def test_one_system_needs_no_list(sample: Path, tmp_path: Path) -> None:
    split = pronominal.load_split(sample, "double")
    one = pronominal.evaluate(split, "second=random", out=tmp_path, limit=16)
    assert (one.systems, [*one.scores]) == ({"second": "random"}, ["second"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sources": "/nowhere"}, "there is no such place"),
        ({"upstream_groups": "banana"}, "give true or false"),
    ],
)
def test_options_are_checked(
    results: pronominal.Results, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        pronominal.score(results.split, results.runs["last"], **options)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([{"choice": 0}], "the list of predictions, line 1: the id is not a string"),
        ([["no dict"]], "the list of predictions, line 1: it is no prediction"),
        ([{"id": "x", "choice": object()}], "line 1: it is no prediction"),
        (7, "predictions are of the type int; give a file"),
        ([], "the list of predictions: the file is empty"),
    ],
)
def test_a_list_of_predictions_is_named_in_errors(
    results: pronominal.Results, predictions: Any, message: str
) -> None:
    with pytest.raises(InputError) as refused:
        pronominal.score(results.split, predictions)
    assert message in str(refused.value)
    assert "/tmp" not in str(refused.value)


def test_reports_take_what_the_command_takes(
    results: pronominal.Results, sample: Path, tmp_path: Path
) -> None:
    page = pronominal.report(
        str(results.runs["last"].parent),
        str(tmp_path / "page.html"),
        datasets=str(sample),
        include_text=True,
        csv=str(tmp_path / "csv"),
    )
    assert "This page holds evaluation text" in page.read_text()
    assert any((tmp_path / "csv").iterdir())


SWITCHED = Companion("switched", "plain", "switched")


def _compared(answered: Answered) -> dict[str, Any]:
    companion = answered.companions.get("switched")
    first = sum(one.choice == 0 for one in answered.decisions)
    scores = {"n": len(answered.split), "first": first}
    return scores | ({} if companion is None else {"rows": len(companion.split)})


COMPARED = Task(
    "compared",
    _compared,
    (Measure("first", "First", ("first",), unit="count"),),
    "first",
    companions=(SWITCHED,),
)


@pytest.fixture
def joined(sample: Path, tmp_path: Path) -> Path:
    """A dataset whose companion splits are in two files, and a file whose name begins alike."""
    rows = pronominal.load_split(sample, "double").whole_table()
    for config in ("plain", "switched"):
        for place, name in enumerate(("train", "validation")):
            file = tmp_path / "own" / config / f"{name}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(rows.slice(100 * place, 100), file)
    pq.write_table(rows.slice(0, 100), tmp_path / "own" / "plain" / "test.parquet")
    pq.write_table(rows.slice(0, 100), tmp_path / "own" / "switched" / "test_extra.parquet")
    return tmp_path / "own"


def test_companion_splits_are_joined_as_the_split_is(joined: Path, tmp_path: Path) -> None:
    def rows(split: str) -> int | None:
        given = {"config": "plain", "task": COMPARED, "out": tmp_path / "runs"}
        results = pronominal.evaluate(joined, ["random"], split=split, **given)
        return results.scores["random"].get("rows")

    assert (rows("train"), rows("train+validation"), rows("test")) == (100, 200, None)


def test_companions_may_be_lists_and_rows_of_their_own(joined: Path) -> None:
    datasets = pytest.importorskip("datasets")
    split = pronominal.load_split(joined, "plain", "train")
    answers = [{"id": one.id, "choice": np.int64(0)} for one in split]
    scored = pronominal.score(split, answers, task=COMPARED, switched=answers)
    assert scored.scores["predictions"]["rows"] == 100
    assert pronominal.score(split, answers, task=COMPARED, switched=None).scores
    own = datasets.Dataset(split.whole_table())
    scored = pronominal.score(own, answers, task=COMPARED, switched=(own, answers), config="plain")
    assert scored.scores["predictions"]["rows"] == 100
    with pytest.raises(InputError, match="the rows of switched are not with those of plain/test"):
        pronominal.score(own, answers, task=COMPARED, switched=answers, config="plain")

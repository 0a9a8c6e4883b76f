"""A dataset and a score of a user's own, in one file outside the package, beside ours."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import pronominal
from pronominal.errors import InputError
from pronominal.eval.annotation.answers import import_answers
from pronominal.eval.annotation.export import Request
from pronominal.eval.report import write_report
from pronominal.eval.report.hub_metadata import write_hub_metadata
from pronominal.eval.task import Answered, load_task
from tests.cli.test_main import pronominal as command
from tests.eval.annotation.annotators import answered, exported, instances, right, save

MINE = """
from pronominal import Companion, Measure, Option, Task
from pronominal.eval.statistics.shares import share_scores, unit_shares


def right(answered):
    labels = answered.table["label"].to_numpy()
    return labels == [-1 if one.choice is None else one.choice for one in answered.decisions]


def score(answered):
    print("scores of mine")
    rows = answered.table
    kinds = {"verb": rows["verb"].to_pylist()}
    names = rows["names"].to_pylist()
    scores = share_scores(right(answered), names, kinds, unit="pair of names")
    scores["asked"] = answered.options.get("asked", 1)
    if "again" in answered.companions:
        scores["again"] = {"accuracy": float(right(answered.companions["again"]).mean())}
    return scores


def remarks(scores):
    print("remarks of mine")
    yield "The verbs differ."


TASK = Task(
    name="mine",
    score=score,
    measures=(
        Measure(
            "accuracy", "Accuracy", ("accuracy",), chance=0.5, metric="accuracy", in_charts=True,
            divisions={"verb": ("by_verb", "*", "accuracy")}, chart_divisions=("verb",),
        ),
        Measure("again", "Asked again", ("again", "accuracy")),
    ),
    headline="accuracy",
    units="pairs of names",
    paired_units=lambda answered: {
        "accuracy": unit_shares(right(answered), answered.table["names"].to_pylist())
    },
    companions=(Companion("again", "plain", "again", meaning="The same rows, asked again."),),
    options=(Option("asked", int, "How often."),),
    remarks=remarks,
)
NO_TASK = 3
"""
VERBS = ("asked", "told")


def rows() -> list[dict[str, object]]:
    found = []
    for number, (first, second) in enumerate((("Ada", "Ben"), ("Cleo", "Dan"), ("Eve", "Finn"))):
        for label, verb in enumerate(VERBS):
            text = f"{first} {verb} {second} whether they would come."
            mentions = [
                {"text": word, "start": text.index(word), "end": text.index(word) + len(word)}
                for word in (first, second, "they")
            ]
            found.append(
                {
                    "id": f"{number}-{verb}",
                    "text": text,
                    "pronoun": mentions[2],
                    "candidates": mentions[:2],
                    "label": label,
                    "verb": verb,
                    "names": str(number),
                }
            )
    return found


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the user's file and their rows in two configs, where the user is."""
    (tmp_path / "own_task.py").write_text(MINE)
    for config in ("plain", "again"):
        (tmp_path / "mine" / config).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(rows()), tmp_path / "mine" / config / "test.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


class Knowing:
    """Right about one of the verbs."""

    name = "knowing"

    def choose(self, instances):
        return [[0.2, 0.8] if "told" in one.text else [0.5, 0.4] for one in instances]


def test_it_is_compared_charted_and_exported_like_ours(mine: Path) -> None:
    results = pronominal.evaluate(
        "mine", ["first-mention", Knowing()], config="plain", task="own_task:TASK", out="runs"
    )
    assert results.scores["knowing"]["accuracy"] == 1
    assert results.scores["first-mention"]["again"]["accuracy"] == 0.5
    (performance, tests) = results.task.comparison_tables(results.scores)
    assert performance.columns == ("System", "n", "Accuracy", "Asked again")
    assert tests.title == "Paired tests: accuracy"
    write_report(mine / "runs", mine / "report.html", svg=mine / "svg", tasks=[results.task])
    page = (mine / "report.html").read_text()
    assert "mine plain: Accuracy, n = 6" in page
    charts = {file.name.split(".")[1] for file in (mine / "svg").iterdir()}
    of_measures = {"measures", "systems-by-accuracy", "systems-by-asked-again"}
    assert charts == {*of_measures, "accuracy-by-verb", "paired-tests"}
    (file, _) = sorted(write_hub_metadata(mine / "runs", mine / "metadata", [results.task]))
    (index,) = yaml.safe_load(file.read_text())["model-index"]
    (result,) = [one for one in index["results"] if one["dataset"]["config"] == "plain"]
    assert (result["dataset"]["type"], result["metrics"][0]["value"]) == ("mine", 0.5)


def test_the_commands_take_it(mine: Path) -> None:
    place = ("--dataset", "mine", "--config", "plain", "--task", "own_task:TASK")
    evaluated = command("evaluate", *place, "--system", "first-mention", "--out", "runs", cwd=mine)
    assert "Asked again" in evaluated.stdout
    run = "runs/mine.plain.test.first-mention"
    scored = command(
        "score", "mine", *place, "--predictions", run, "--set", "asked=3", "--json", cwd=mine
    )
    assert json.loads(scored.stdout)["asked"] == 3
    # what it prints is on stderr
    assert "The verbs differ." in evaluated.stdout
    assert "of mine" not in evaluated.stdout
    for printed in ("scores of mine", "remarks of mine"):
        assert printed in evaluated.stderr
    wrong = command("score", "mine", *place, "--predictions", run, "--set", "aksed=3", cwd=mine)
    assert "the scores of mine have no option 'aksed'; did you mean 'asked'" in wrong.stderr
    report = command("report", "runs", "--task", "own_task:TASK", "--out", "r.html", cwd=mine)
    assert report.returncode == 0


def test_without_the_task_nothing_is_guessed(mine: Path) -> None:
    with pytest.raises(InputError, match="mine"):
        pronominal.evaluate("mine", ["first-mention"], config="plain", out="runs")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("own_task:NO_TASK", "is no task"),
        ("own_task:TAKS", "did you mean 'TASK'"),
        ("nowhere:TASK", "there is no module nowhere"),
    ],
)
def test_what_is_no_task_is_told(mine: Path, place: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_task(place)


def test_an_object_that_is_no_task_is_told(mine: Path) -> None:
    for call in (pronominal.evaluate, pronominal.score):
        with pytest.raises(InputError, match="the task is of the type int"):
            call("mine", ["random"], config="plain", task=3)


def test_a_headline_is_one_of_the_measures() -> None:
    measure = pronominal.Measure("accuracy", "Accuracy", ("accuracy",))
    with pytest.raises(InputError, match="choose one of accuracy"):
        pronominal.Task("mine", lambda answered: {}, (measure,), headline="f1")


def test_it_stands_in_one_report_with_ours(mine: Path, sample: Path) -> None:
    pronominal.evaluate("mine", ["random"], config="plain", task="own_task:TASK", out="runs")
    pronominal.evaluate(sample, ["random"], config="double", out="runs")
    place = mine / "page.html"
    page = pronominal.report("runs", place, task="own_task:TASK").read_text()
    heads = re.findall(r'<th scope="col">((?:mine|sample) .*?)</th>', page)
    assert heads == ["mine plain", "sample double", "sample double, answered"]
    place.unlink()
    done = command("report", "runs", "--task", "own_task:TASK", "--out", place.name, cwd=mine)
    assert (done.returncode, place.exists()) == (0, True)
    metadata = write_hub_metadata(mine / "runs", mine / "metadata", [load_task("own_task:TASK")])
    (index,) = yaml.safe_load(metadata[0].read_text())["model-index"]
    told = {(one["dataset"]["type"], one["task"]["name"]) for one in index["results"]}
    assert told == {("mine", "mine"), ("sample", "Pronoun resolution")}
    with pytest.raises(InputError, match="runs of mine were scored by the task mine"):
        pronominal.report("runs", place)


def test_a_score_that_is_none_leaves_nothing_to_report(mine: Path) -> None:
    bad = replace(load_task("own_task:TASK"), score=lambda answered: {"accuracy": float("nan")})
    with pytest.raises(InputError, match="the score of the task mine has the field accuracy"):
        pronominal.evaluate("mine", ["random"], config="again", task=bad, out="runs")
    assert not [*mine.glob("runs/*/score.json")]


def test_units_of_two_lengths_are_told(mine: Path) -> None:
    lengths = iter((3, 2, 3, 2))
    bad = replace(
        load_task("own_task:TASK"),
        companions=(),
        paired_units=lambda answered: {"accuracy": [1.0] * next(lengths)},
    )
    with pytest.raises(InputError, match="different numbers of units for accuracy"):
        pronominal.evaluate(
            "mine", ["random", "first-mention"], config="plain", task=bad, out="runs"
        )


def test_measures_that_only_one_system_has_are_told(mine: Path) -> None:
    given = iter(("accuracy", "other", "accuracy", "other"))
    bad = replace(
        load_task("own_task:TASK"),
        companions=(),
        paired_units=lambda answered: {next(given): [1.0] * 3},
    )
    with pytest.raises(InputError, match="gives random no units for other"):
        pronominal.evaluate(
            "mine", ["random", "first-mention"], config="plain", task=bad, out="runs"
        )


def test_a_headline_may_be_no_share(mine: Path) -> None:
    def score(answered: Answered) -> dict[str, object]:
        return {"told": sum(one.choice == 1 for one in answered.decisions)}

    measure = pronominal.Measure("told", "Told", ("told",), unit="count")
    count = pronominal.Task("count", score, (measure,), "told")
    pronominal.evaluate("mine", ["last-mention"], config="plain", task=count, out="runs")
    page = pronominal.report("runs", mine / "page.html", task=count).read_text()
    assert "At a glance, in percent" not in page
    assert "mine plain: Told as a count, n = " in page


def test_a_part_may_have_a_slash_in_its_name(mine: Path) -> None:
    scores = {"n": 6, "accuracy": 0.5, "by_verb": {"asked/told": {"n": 6, "accuracy": 0.5}}}
    task = replace(load_task("own_task:TASK"), score=lambda answered: scores)
    results = pronominal.evaluate("mine", ["random"], config="again", task=task, out="runs")
    tidy = results.to_pandas()
    assert [*tidy.subset] == ["overall", "verb=asked/told"]
    assert pronominal.report("runs", mine / "page.html", task=task).exists()


def test_imports_need_a_task_before_they_write(mine: Path) -> None:
    pytest.importorskip("spacy")  # which splits the texts into words
    place = ("--dataset", "mine", "--config", "plain")
    assert command("export", "conll2012", *place, "--out", "gold.conll", cwd=mine).returncode == 0
    imported = ("import", "conll2012", "gold.conll", *place, "--system", "gold", "--out", "runs")
    refused = command(*imported, cwd=mine)
    assert (refused.returncode, (mine / "runs").exists()) == (2, False)
    assert "give a task of your own" in refused.stderr
    assert command(*imported, "--task", "own_task:TASK", cwd=mine).returncode == 0
    scores = json.loads((mine / "runs" / "mine.plain.test.gold" / "score.json").read_text())
    assert scores["task"] == "mine"


def test_people_are_scored_by_an_own_task(mine: Path) -> None:
    key = exported(mine / "mine", "plain", Request("antecedent", 1), mine / "asked")
    rule = right(instances(mine / "mine", "plain"))
    sheet = save(mine / "asked" / "ann.csv", answered(mine / "asked", key, rule))
    import_answers(mine / "asked", [sheet], 1)
    baseline = ("annotate", "baseline", "asked", "--dataset", "mine", "--out", "runs", "--json")
    refused = command(*baseline, cwd=mine)
    assert (refused.returncode, (mine / "runs").exists()) == (2, False)
    done = command(*baseline, "--task", "own_task:TASK", cwd=mine)
    assert json.loads(done.stdout)["human"]["accuracy"] == 1

"""A plan: written before the numbers, refused when it was changed or is for other rows."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pronominal.adapters.checkpoints.files import Checkpoint
from pronominal.cli.main import app
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.evaluation import comparable_units
from pronominal.eval.planning.plan import Plan, PlannedTask, make_plan, read_plan
from pronominal.eval.report import report
from pronominal.eval.results import evaluate
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores import task_of
from pronominal.eval.statistics.paired_tests import AGAINST, PLANNED
from pronominal.eval.statistics.ranks import RANKS
from tests.eval.evaluated import evaluate_several

ASKED = [SystemSettings(label, label) for label in ("random", "first-mention", "parallelism")]
FURTHER = SystemSettings("nearest-mention", "nearest-mention")


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return read_split(str(sample), "double")


def planned(split: Split, **given: Any) -> Plan:
    units = comparable_units(task_of("sample"), split)
    return make_plan(split, ASKED, units, ["accuracy"], **given)


def evaluated(split: Split, plan: Plan, out: Path, *others: SystemSettings) -> dict[str, Any]:
    asked = plan.beside(others)
    return evaluate_several(split, asked, out, plan=plan)


def test_a_plan_is_read_as_it_was_written(split: Split, tmp_path: Path) -> None:
    plan = planned(split, reference="random", margin=0.05)
    plan.write(tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json") == plan
    assert plan.asked == ASKED
    assert plan.pairs == [("first-mention", "random"), ("parallelism", "random")]
    assert planned(split).digest not in ("", plan.digest)
    with pytest.raises(InputError, match="there is a plan already"):
        plan.write(tmp_path / "plan.json")


@pytest.mark.parametrize(
    ("field", "value", "cause"),
    [
        ("margin", 0.1, "was changed after it was written"),
        ("measures", {"accuracy": 71}, "was changed after it was written"),
        ("measures", ["accuracy"], "the field measures is not an object"),
        ("systems", None, "the field systems"),
    ],
)
def test_a_changed_plan_is_refused(
    split: Split, tmp_path: Path, field: str, value: Any, cause: str
) -> None:
    file = tmp_path / "plan.json"
    planned(split).write(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | {field: value}))
    with pytest.raises(InputError, match=cause) as caught:
        read_plan(file)
    assert caught.value.file == file


def test_what_was_planned_stands_apart(split: Split, tmp_path: Path) -> None:
    plan = planned(split, reference="random", margin=0.05)
    scores = evaluated(split, plan, tmp_path, FURTHER)
    for label in ("first-mention", "parallelism"):
        first = scores[label][PLANNED]
        assert first["digest"] == plan.digest
        assert {m: [*tests] for m, tests in first[AGAINST].items()} == {"accuracy": ["random"]}
        assert first[AGAINST]["accuracy"]["random"]["equivalence"]["margin"] == 0.05
        assert "random" not in scores[label][AGAINST]["accuracy"]
        assert "random" in scores[label][AGAINST]["pronoun_consistency"]
    assert PLANNED not in scores["nearest-mention"]
    # no measure by which some pairs were planned has ranks over all of them
    assert "accuracy" not in scores["random"].get(RANKS, {})
    titles = [table.title for table in task_of("sample").comparison_tables(scores)]
    assert titles[0] == "Planned: Paired tests: accuracy"
    assert all(title.startswith("Exploratory: ") for title in titles[1:])


def test_p_values_are_corrected_for_what_was_planned_alone(split: Split, tmp_path: Path) -> None:
    one = planned(split, reference="random")
    every = planned(split)
    few, many = (
        evaluated(split, plan, tmp_path)["parallelism"][PLANNED][AGAINST]["accuracy"]["random"]
        for plan in (one, every)
    )
    assert few["p"] == many["p"]
    assert few["minimum_detectable_effect"] < many["minimum_detectable_effect"]
    ranked = evaluated(split, every, tmp_path)["random"]
    assert ranked[PLANNED][RANKS]["accuracy"]["systems"] == 3
    assert AGAINST in ranked
    assert "accuracy" not in ranked[AGAINST]


def test_other_rows_and_systems_than_planned_are_refused(split: Split, tmp_path: Path) -> None:
    plan = planned(split)
    with pytest.raises(InputError, match=r"split test, and this is test\.first-100"):
        evaluated(split.first(100), plan, tmp_path)
    with pytest.raises(InputError, match="the system random is not the one that is planned"):
        plan.beside([SystemSettings("random", "random", settings={"seed": 3})])
    with pytest.raises(InputError, match="decision rule offsets, and this is upstream"):
        plan.refuse_other(split, "upstream")
    with pytest.raises(InputError, match="24 units of accuracy, and there are none"):
        plan.refuse_other_units({})
    assert [one.label for one in plan.beside([ASKED[0], FURTHER])][-1] == "nearest-mention"


def test_another_task_and_other_weights_than_planned_are_refused(
    split: Split, sample: Path, tmp_path: Path
) -> None:
    task = task_of("sample")
    asked = PlannedTask.of(task, {})
    plan = planned(split, task=asked)
    plan.refuse_other_task(asked)
    with pytest.raises(InputError, match="this is one with other measures, code, or rows"):
        plan.refuse_other_task(PlannedTask.of(replace(task, headline="f1"), {}))
    with pytest.raises(InputError, match="or rows beside the split"):
        plan.refuse_other_task(PlannedTask.of(task, {"switched": split}))
    with pytest.raises(InputError, match="for the task winopron, and this is gap;"):
        plan.refuse_other_task(PlannedTask.of(task_of("gap"), {}))
    weighed = replace(plan, checkpoints={"random": "a" * 64}).sealed
    assert weighed.digest != plan.digest
    with pytest.raises(InputError, match="the weights of random are none, and planned are aaaa"):
        evaluated(split, weighed, tmp_path)


def test_another_decision_rule_than_planned_is_never_silent(split: Split, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    planned(split, reading="upstream").write(file)
    with pytest.raises(InputError, match="decision rule upstream, and this is offsets"):
        evaluate(split, [], out=tmp_path, plan=file, reading="offsets")


@pytest.mark.parametrize("margin", [None, 0.05])
def test_another_margin_than_planned_is_never_silent(
    split: Split, tmp_path: Path, margin: float | None
) -> None:
    file, there = tmp_path / "plan.json", "no margin" if margin is None else "the margin 5"
    planned(split, margin=margin).write(file)
    with pytest.raises(InputError, match=f"the plan is for {there}, and this is 3"):
        evaluate(split, [], out=tmp_path, plan=file, margin=0.03)


OWN = """
from pronominal import Decision

class System:
    name = "own"
    def __call__(self, instance):
        return Decision({choice})
"""


def test_other_code_of_ones_own_than_planned_is_refused(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = tmp_path / "planned_own_system.py"
    code.write_text(OWN.format(choice=0))
    asked = [ASKED[0], SystemSettings("own", "planned_own_system:System")]
    plan = make_plan(split, asked, {"accuracy": 24}, ["accuracy"])
    assert plan.sources.keys() == {"own"}
    code.write_text(OWN.format(choice=1))
    with pytest.raises(InputError, match=r"the code of own is [0-9a-f]{12}, and planned is"):
        evaluated(split, plan, tmp_path)


def test_weights_that_the_hubs_cache_has_are_planned(
    split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Loaded:
        checkpoint = Checkpoint("someone/weights", tmp_path, "a" * 64)

    def load(self: SystemSettings) -> Loaded:
        assert self.checkpoint == str(tmp_path)
        return Loaded()

    monkeypatch.setattr(SystemSettings, "load", load)
    known = {"someone/weights": tmp_path}
    monkeypatch.setattr("pronominal.eval.planning.plan.cached_folder", known.get)
    monkeypatch.setattr("pronominal.eval.planning.plan.cached_weights", known.get)
    asked = [
        SystemSettings("here", "lingmess", "someone/weights"),
        SystemSettings("not-here", "lingmess", "someone/others"),
    ]
    plan = make_plan(split, asked, {"accuracy": 24}, ["accuracy"])
    assert plan.checkpoints == {"here": "a" * 64}


def test_a_report_shows_what_was_planned_first(split: Split, tmp_path: Path) -> None:
    file, runs, page = tmp_path / "plan.json", tmp_path / "runs", tmp_path / "page.html"
    plan = planned(split, reference="random")
    plan.write(file)
    evaluated(split, plan, runs, FURTHER)
    tables = tmp_path / "tables.md"
    report(runs, page, plan=file, markdown=tables)
    written = tables.read_text()
    assert f"Of the plan {plan.digest[:16]}" in written
    assert written.index("Planned: Paired tests: accuracy") < written.index("Exploratory:")
    report(runs, page, markdown=tables)  # the plan lies with the runs
    assert tables.read_text() == written
    some = [runs / f"sample.double.test.{label}" for label in ("random", "nearest-mention")]
    report(some, page, markdown=tables)
    told = f"The plan {plan.digest[:16]} is not shown: no run here is called first-mention"
    assert told in tables.read_text()
    assert "Planned" not in tables.read_text()
    evaluated(split, planned(split), runs)
    report(runs, page, markdown=tables)
    assert "The runs have several plans (" in tables.read_text()
    other = make_plan(split, [*ASKED, SystemSettings("absent", "random")], {"accuracy": 24},
                      ["accuracy"])  # fmt: skip
    other.write(tmp_path / "other.json")
    with pytest.raises(InputError, match="the system absent, and no run is called so"):
        report(runs, page, plan=tmp_path / "other.json")
    planned(split.first(100)).write(tmp_path / "first.json")
    with pytest.raises(InputError, match="for other rows than these runs"):
        report(runs, page, plan=tmp_path / "first.json")


@pytest.mark.parametrize(
    ("given", "cause"),
    [
        ({"measures": ["accurracy"]}, "did you mean 'accuracy'"),
        ({"reference": "randon"}, "did you mean 'random'"),
        ({"asked": ASKED[:1]}, "two systems at least"),
        ({"asked": [ASKED[0], ASKED[0]]}, "two systems are called random"),
        ({"asked": [ASKED[0], SystemSettings("a", "ranndom")]}, "did you mean 'random'"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    split: Split, given: dict[str, Any], cause: str
) -> None:
    asked = {"asked": ASKED, "units": {"accuracy": 72}, "measures": ["accuracy"]}
    with pytest.raises(InputError, match=cause):
        make_plan(split, **(asked | given))


def test_every_measure_that_can_be_compared_is_known_before_there_are_answers(
    split: Split, own_ruff: str
) -> None:
    found = comparable_units(task_of("sample"), split)
    assert found["accuracy"] == found["pronoun_consistency"] == 24
    ruff = read_split(own_ruff, "distractors_1", "seed_13")
    assert comparable_units(task_of("ruff"), ruff).keys() == {"accuracy"}


def test_the_commands_plan_and_evaluate_what_was_planned(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    rows = ["--dataset", str(sample), "--config", "double"]
    systems = ["--system", "random", "--system", "first-mention"]
    told = CliRunner().invoke(app, ["plan", *rows, *systems, "--margin", "5"])
    assert told.exit_code == 0, told.output
    plan = read_plan(Path("plan.json"))
    assert plan.digest in told.output
    assert plan.margin == 0.05
    assert plan.task == PlannedTask.of(task_of("sample"), {})
    asked = ["evaluate", "--plan", "plan.json", "--dataset", str(sample)]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert (
        "\nPlanned: no difference was found between random and first-mention (+2.1 [" in done.output
    )
    assert "not shown within ±5 [" in done.output
    for margin, refused in (("3", True), ("5", False)):
        told = CliRunner().invoke(app, [*asked, "--margin", margin])
        assert isinstance(told.exception, InputError) == refused
    full = CliRunner().invoke(app, [*asked, "--full"]).output
    opening, _, body = done.output.partition("\n\nExploratory: all figures here")
    assert full.startswith(f"{opening}\n\nPlanned: Paired tests: acc")
    assert full.index("\nPlanned: Paired tests: acc") < full.index("\nExploratory: ")
    assert body[: body.index("No interval")] in full
    assert "--full" not in full
    for other in (["--config", "single"], ["--split", "nix"]):
        assert isinstance(CliRunner().invoke(app, [*asked, *other]).exception, InputError)
    results = evaluate(str(sample), [], plan="plan.json")
    compared = results.compare("random", "first-mention")["accuracy"]
    assert compared == results.scores["random"][PLANNED][AGAINST]["accuracy"]["first-mention"]
    wrong = CliRunner().invoke(app, ["plan", *rows, *systems, "--margin", "0"])
    assert "no margin" in str(wrong.exception)

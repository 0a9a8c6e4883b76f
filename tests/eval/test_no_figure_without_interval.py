"""No share, ratio or difference is printed without its interval, or the reason why it has none."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from typer.testing import CliRunner

from pronominal.cli.main import app
from pronominal.dataset_scripts.reading.loading import load_split, read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Decision
from pronominal.eval.papers.figures import paper_tables
from pronominal.eval.papers.reproduce import reproduce
from pronominal.eval.planning.plan import read_plan
from pronominal.eval.report.charts.of_task import task_drawings
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.runs.scored import Run
from pronominal.eval.scores import task_of
from pronominal.eval.scores.gap import score as gap
from pronominal.eval.scores.knowref import score as knowref
from pronominal.eval.scores.ruff.samples import SAMPLES
from pronominal.eval.scores.winonb import score as winonb
from pronominal.eval.scores.winopron import score as winopron
from pronominal.eval.scores.winopron.occupations import Percentages
from pronominal.eval.statistics.paired_tests import against
from pronominal.eval.statistics.scores import Scores, plain
from pronominal.eval.tables.summary import Summary
from pronominal.eval.tables.table import Table
from pronominal.eval.tables.tidy import tidy_rows
from pronominal.eval.task import Task
from pronominal.eval.training.card import _results
from pronominal.eval.training.measures.figures import CHOICES, OUTCOMES, switching_figures
from tests.adapters.lm.prompting.test_prompting import Parrot
from tests.eval.evaluated import evaluate, evaluate_several
from tests.eval.scores.test_gap import ROWS as GAP_ROWS
from tests.eval.scores.test_knowref import rows as knowref_rows
from tests.eval.scores.test_winonb import GENERIC, PERSONAL, answers
from tests.eval.unexplained import (
    html_tables,
    latex_tables,
    markdown_tables,
    of_lines,
    of_scores,
    of_table,
)

System = Callable[[dict[str, Any]], Decision]

SYSTEMS: dict[str, System] = {
    "gold": lambda row: Decision(row["label"]) if row["label"] < 2 else Decision(None, "none"),
    "first": lambda row: Decision(0),
    "silent": lambda row: Decision(None, "none"),
}

NO_INTERVALS = {"sd", "context_free", "missing", "readings_differ"}
"""Tidy measures that are standard deviations or counts."""


EXPLAINED = re.compile(
    r"\d+\.\d+ (on \S+ )?\(\d+\.\d+\S? \[[^]]*\]\)"  # a loss, and the figure that has it
    r"|[+-]?\d+\.\d+\S? \[[^]]*\]"
    r"|within ±\S+ \[[^]]*\]"
    r"|\bp [<=] \d\.\d+|guessing, which gets \d+(\.\d+)?|guessing gets \d+(\.\d+)?"
)
"""Numbers of sentences that have an interval, that are p-values, or that are chance's."""


def bare(tables: Iterable[Table]) -> list[str]:
    return [cell for table in tables for cell in of_table(table)]


def refuse_bare_figures(task: Task, scores: Mapping[str, Mapping[str, Any]], rows: int) -> None:
    """Walk the JSON, the tables of the terminal, of LaTeX and of the charts, and tidy scores."""
    made = {name: Scores(plain(dict(one))) for name, one in scores.items()}
    for one in made.values():
        assert [*of_scores(one.content)] == []
        for row in tidy_rows(task.measures, one):
            places = [m.path for m in task.measures if m.key == row["measure"]]
            told = any(one.figure(path).missing for path in places if one.figure(path))
            assert row["low"] is not None or row["measure"] in NO_INTERVALS or told, row
    refuse_bare_summary(task.summarise(made, "rows", "The rest."))
    tables = task.comparison_tables(made)
    drawn = [drawing.table for drawing in task_drawings(task, made, rows)]
    assert bare((*tables, *drawn)) == []
    assert bare(t for one in tables for t in markdown_tables(one.to_markdown())) == []
    assert bare(t for one in tables for t in latex_tables(one.to_latex())) == []


def refuse_bare_summary(made: Summary) -> None:
    """Walk the first table in a terminal, in Markdown, LaTeX and HTML, and the sentences."""
    title = "Summary"
    cells = [re.findall("<t[hd][^>]*>(.*?)</t[hd]>", row) for row in
             re.findall("<tr>(.*?)</tr>", made.to_html())]  # fmt: skip
    html = Table(title, tuple(cells[0]), tuple(map(tuple, cells[1:])), made.full.notes)
    assert bare([made.in_terminal(), html]) == []
    assert bare(markdown_tables(made.to_markdown())) == []
    assert bare(latex_tables(made.to_latex())) == []
    for sentence in (*made.planned, *made.sentences):
        assert not re.search(r"\d\.\d", EXPLAINED.sub("", sentence)), sentence


def compared(
    scores: Mapping[str, Mapping[str, Any]], units: Mapping[str, Mapping[str, Any]]
) -> dict[str, Scores]:
    """Add paired tests, with a margin."""
    measures = next(iter(units.values()))
    of_measures = {m: {name: one[m] for name, one in units.items()} for m in measures}
    tests = against(of_measures, margin=0.1)
    return {name: Scores(plain(one)) | {"against": tests[name]} for name, one in scores.items()}


@pytest.mark.parametrize("missing", [False, True])
def test_gap(missing: bool) -> None:
    given = {
        name: [system(row) for row in GAP_ROWS.to_pylist()] for name, system in SYSTEMS.items()
    }
    units = {name: gap.paired_units(GAP_ROWS, decisions) for name, decisions in given.items()}
    left_out = {name: [None, *one[1:]] if missing else one for name, one in given.items()}
    scores = {
        name: gap.score(GAP_ROWS, one, allow_missing=missing) for name, one in left_out.items()
    }
    refuse_bare_figures(task_of("gap"), compared(scores, units), GAP_ROWS.num_rows)


def knowref_answers(system: System) -> dict[str, tuple[pa.Table, list[Decision]]]:
    versions = {"original": knowref_rows(), "switched": knowref_rows(switched=True)}
    return {
        name: (pa.Table.from_pylist(rows), [system(row) for row in rows])
        for name, rows in versions.items()
    }


@pytest.mark.parametrize("switched", [False, True])
def test_knowref(switched: bool) -> None:
    scores, units = {}, {}
    for name, system in SYSTEMS.items():
        given = knowref_answers(system)
        beside = given["switched"] if switched else None
        scores[name] = knowref.score(*given["original"], switched=beside)
        units[name] = knowref.paired_units(*given["original"], switched=beside)
    refuse_bare_figures(task_of("knowref"), compared(scores, units), 10)


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("clusters", [False, True])
def test_winonb(generic: bool, clusters: bool) -> None:
    systems = SYSTEMS | {"gold": lambda row: Decision(int(row["number"] == "singular"))}
    scores, units = {}, {}
    for name, system in systems.items():
        beside = (GENERIC, answers(GENERIC, system)) if generic else None
        clustered = pa.array([True] * PERSONAL.num_rows).to_numpy(zero_copy_only=False)
        given = answers(PERSONAL, system)
        scores[name] = winonb.score(
            PERSONAL, given, clustered=clustered if clusters else None, generic=beside
        )
        units[name] = winonb.paired_units(PERSONAL, given, generic=beside)
    made = compared(scores, units)
    across = plain(task_of("winonb").across_systems(made))
    for name in made:
        made[name] |= {"across_systems": across}
    refuse_bare_figures(task_of("winonb"), made, PERSONAL.num_rows)


def evaluated(split: Split, out: Path, *systems: str, **given: Any) -> dict[str, Scores]:
    return evaluate_several(split, [SystemSettings(name, name) for name in systems], out, **given)


@pytest.mark.parametrize("config", ["double", "single"])
def test_winopron_and_the_tests_between_systems(sample: Path, tmp_path: Path, config: str) -> None:
    split = read_split(str(sample), config)
    systems = ("first-mention", "random", "nearest-mention")
    refuse_bare_figures(
        task_of("sample"), evaluated(split, tmp_path, *systems, margin=0.05), split.num_rows
    )


def test_winoprons_options(sample: Path) -> None:
    table = read_split(str(sample), "double").table
    names = dict.fromkeys(table["occupation"].to_pylist())
    women = {name: Percentages(number, 50 - number) for number, name in enumerate(names)}
    answered = [Decision(number * 7 % 3 % 2) for number in range(table.num_rows)]
    one = winopron.score(table, answered, upstream_groups=True, occupations=women)
    refuse_bare_figures(task_of("sample"), {"a": one}, table.num_rows)


@pytest.mark.parametrize("config", ["distractors_1", "no_context"])
def test_ruff(own_ruff: str, tmp_path: Path, config: str) -> None:
    split = "test" if config == "no_context" else SAMPLES
    rows = load_split(own_ruff, config, split)
    scores = evaluated(rows, tmp_path, "always-he", "first-pronoun")
    refuse_bare_figures(task_of("ruff"), scores, rows.num_rows)


def test_one_sample_of_ruff(own_ruff: str, tmp_path: Path) -> None:
    rows = read_split(own_ruff, "distractors_1", "seed_13")
    scores = evaluated(rows, tmp_path, "always-he", "first-pronoun")
    refuse_bare_figures(task_of("ruff"), scores, rows.num_rows)


def test_prompted_systems(sample: Path, tmp_path: Path) -> None:
    split = read_split(str(sample), "double")
    asked = SystemSettings("parrot", "parrot")
    scores = {"parrot": evaluate(split, asked, tmp_path, system=Parrot())}
    assert scores["parrot"]["prompts"]["every_answer"]
    refuse_bare_figures(task_of("sample"), scores, split.num_rows)


def command(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def planned(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plan, and the runs of its systems and of one beside them."""
    folder = tmp_path_factory.mktemp("planned")
    plan, rows = folder / "plan.json", ("--dataset", sample, "--config", "double")
    systems = ("--system", "random", "--system", "first-mention", "--margin", 5)
    command("plan", *rows, *systems, "--measure", "accuracy", "--measure", "bias", "--out", plan)
    assert bare([read_plan(plan).to_table()]) == []
    further = ("--system", "nearest-mention", "--json", "--out", folder / "runs")
    found = json.loads(command("evaluate", "--plan", plan, *rows[:2], *further))
    assert [line for one in found.values() for line in of_scores(one)] == []
    return folder


def test_reports_of_a_plan(planned: Path) -> None:
    runs, names = planned / "runs", ("report.html", "report.md", "report.tex", "cards")
    page, markdown, latex, cards = (planned / name for name in names)
    command(
        *("report", runs, "--out", page, "--markdown", markdown, "--latex", latex),
        *("--hub-metadata", cards),
    )
    written = [*markdown_tables(markdown.read_text())]
    assert "Planned: Paired tests: bias" in {table.title for table in written}
    assert bare(written) == []
    assert bare(latex_tables(latex.read_text())) == []
    shown = [*html_tables(page.read_text())]
    assert len(shown) >= len(written)
    assert bare(shown) == []
    for file in cards.iterdir():
        for result in yaml.safe_load(file.read_text())["model-index"][0]["results"]:
            for metric in result["metrics"]:
                assert {"interval", "interval_missing"} & metric["args"].keys(), metric


def test_papers_figures_beside_ours(own_ruff: str, sample: Path, tmp_path: Path) -> None:
    ruff = evaluated(load_split(own_ruff, "distractors_1", SAMPLES), tmp_path, "always-he")
    double = evaluated(read_split(str(sample), "double"), tmp_path, "random", "first-mention")
    given = knowref_answers(SYSTEMS["gold"])
    switched = knowref.score(*given["original"], switched=given["switched"])
    generic = (GENERIC, answers(GENERIC, SYSTEMS["first"]))
    nb = winonb.score(PERSONAL, answers(PERSONAL, SYSTEMS["first"]), generic=generic)
    of_papers: dict[str, dict[str, Any]] = {
        "knowref": {"gold": switched},
        "ruff": {"he": ruff["always-he"]},
        "winogender": {"random": double["random"]},
        "winonb": {"first": nb},
        "winopron": {"lingmess": double["random"], "caw": double["random"]},
    }
    for paper, scores in of_papers.items():
        for table in paper_tables(paper):
            runs = [
                Run(label, (table.dataset, table.config, table.split), Scores(plain(one)), tmp_path)
                for label, one in scores.items()
            ]
            made = reproduce([table], runs)
            assert bare(t for one in made for t in one.tables()) == [], table.name
            assert [line for one in made for line in of_lines(one.to_json()["lines"])] == []


def test_scores_of_documents(tmp_path: Path) -> None:
    file = tmp_path / "key.conll"
    text = "#begin document ({0});\n{0} 0 0 he (1)\n{0} 0 1 said (1)\n#end document\n"
    file.write_text("".join(text.format(name) for name in "abc"))
    found = json.loads(command("score-conll", file, file, "--json"))
    for name, scores in found["interval"].items():
        assert scores.keys() == found[name].keys()
    assert found["interval"].keys() == found.keys() - {
        *("n", "repeats", "zeros", "interval", "interval_missing")
    }
    assert found["interval"]["muc"]["f1"] != [1, 1]
    for line in command("score-conll", file, file).splitlines()[1:]:
        assert "[" in line or not re.search(r"\d\.\d", line), line


@pytest.mark.parametrize("figures", [CHOICES, OUTCOMES])
def test_cards_of_trained_systems(figures: Any) -> None:
    given = knowref_answers(SYSTEMS["gold"])
    of = {config: figures.of(*answered) for config, answered in given.items()}
    of["switching"] = switching_figures(given["original"], given["switched"])
    documents = {"documents": {"conll": {"recall": 1.0, "precision": 1.0, "f1": 1.0}}}
    outcome = {"validation": of["original"] | documents}
    lines = _results({"outcome": outcome, "scores": {"as_given": of}}, figures)
    card = "\n".join(["**Card**", *lines])
    assert bare(markdown_tables(card)) == []
    for line in lines:
        told = "[" in line or "No interval for these" in line
        assert line.startswith("|") or told or not re.search(r"\d\.\d", line)


def test_what_has_neither_is_found() -> None:
    assert [*of_scores({"a": {"n": 3, "accuracy": 0.5}})] != []
    assert [*of_scores({"a": {"accuracy": 0.5, "interval": {"accuracy": [0.1, 0.9]}}})] != []
    assert [*of_scores({"n": 3, "accuracy": None, "interval": {"accuracy": None}})] != []
    for cell in ("50.0↓", "50.0 ±1.2", "+3", "0.95 (0.03)", "1.2 → 3.4"):
        assert bare([Table("t", ("System", "Accuracy"), (("one", cell),))]) != [], cell
    assert bare([Table("t", ("System", "Accuracy"), (("one", "50.0‡ [9.5, 90.5]"),))]) == []

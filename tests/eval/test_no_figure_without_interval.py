"""No share, ratio or difference is printed without its interval, or the reason why it has none."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Decision
from pronominal.eval.report.charts.of_task import task_drawings
from pronominal.eval.runs.runner import SystemSettings
from pronominal.eval.scores import task_of
from pronominal.eval.scores.gap import score as gap
from pronominal.eval.scores.knowref import score as knowref
from pronominal.eval.scores.winonb import score as winonb
from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.table import Table
from pronominal.eval.task import Task
from tests.eval.evaluated import evaluate_several
from tests.eval.scores.test_gap import ROWS as GAP_ROWS
from tests.eval.scores.test_knowref import rows as knowref_rows
from tests.eval.scores.test_winonb import PERSONAL, answers

AGAINST_WHAT = {
    *("chance", "expected", "corrected", "independent", "least", "most"),
    *("p", "p_holm", "p_more", "p_less", "direction_p", "t", "df", "statistic"),
    *("sd", "level", "margin", "minimum_detectable_effect", "jaccard"),
}
"""Numbers that estimate nothing: what chance gives, tests, standard deviations, indices of sets
that are tested against chance."""

NO_SHARES = {"intervals", "interval", "spread", "margins", "ranks"}
"""Blocks that have no shares, or are the intervals themselves."""

NUMBER = re.compile(r"^[+-]?\d+\.\d\d?\S?( \(|$)")
"""A cell that shows a share or a difference, and no interval."""

EXEMPT = re.compile(
    r"(^|, )(p|p \(.*\)|sd|Lowest|Median|Highest|lowest|median|highest|Visible from|By chance)$"
    r"|Corrected|Jaccard|if independent|at least|at most"
)
"""Columns that show no estimate; what they are is in AGAINST_WHAT."""


def unexplained(block: Mapping[str, Any], known: frozenset[str], place: str = "") -> Iterator[str]:
    """Yield the floats that have neither an interval nor a reason for none."""
    reasons = known | block.get("interval_missing", {}).keys()
    intervals = block.get("interval", {})
    for key, value in block.items():
        if isinstance(value, Mapping) and key not in {*NO_SHARES, "interval_missing"}:
            # a reason may be given once for all that is inside
            inside = frozenset(value) if key in reasons else frozenset[str]()
            yield from unexplained(value, inside, f"{place}.{key}")
            continue
        estimate = isinstance(value, float) and key not in AGAINST_WHAT
        if estimate and intervals.get(key) is None and key not in reasons:
            yield f"{place}.{key}"


def bare(table: Table) -> Iterator[str]:
    """Yield the cells of a table that show a number and no interval, and that no note explains."""
    if "by chance" in table.title:
        return
    reasons = " ".join(note.lower() for note in table.notes if "No interval for" in note)
    for row in table.rows:
        for column, cell in zip(table.columns, row, strict=True):
            explained = column.lower() in reasons or row[0].lower() in reasons
            if NUMBER.search(cell) and not EXEMPT.search(column) and not explained:
                yield f"{table.title}: {column}: {cell}"


def refuse_bare_figures(task: Task, scores: Mapping[str, Scores], rows: int) -> None:
    for one in scores.values():
        assert [*unexplained(one.content, frozenset())] == []
    tables = task.comparison_tables(scores)
    drawn = [drawing.table for drawing in task_drawings(task, scores, rows)]
    assert [cell for table in (*tables, *drawn) for cell in bare(table)] == []


SYSTEMS: dict[str, Callable[[dict[str, Any]], Decision]] = {
    "gold": lambda row: Decision(row["label"]) if row["label"] < 2 else Decision(None, "none"),
    "first": lambda row: Decision(0),
    "silent": lambda row: Decision(None, "none"),
}


def test_gap() -> None:
    scores = {
        name: Scores(gap.score(GAP_ROWS, [system(row) for row in GAP_ROWS.to_pylist()]))
        for name, system in SYSTEMS.items()
    }
    refuse_bare_figures(task_of("gap"), scores, GAP_ROWS.num_rows)


def test_knowref() -> None:
    rows = knowref_rows()
    table = pa.Table.from_pylist(rows)
    flipped = [{**row, "label": 1 - row["label"]} for row in rows]
    scores = {}
    for name, system in SYSTEMS.items():
        beside = (pa.Table.from_pylist(flipped), [system(row) for row in flipped])
        given = [system(row) for row in rows]
        scores[name] = Scores(knowref.score(table, given, switched=beside))
    refuse_bare_figures(task_of("knowref"), scores, len(rows))


def test_winonb() -> None:
    systems: dict[str, Callable[[dict[str, Any]], Decision]] = {
        "gold": lambda row: Decision(int(row["number"] == "singular")),
        "first": SYSTEMS["first"],
        "silent": SYSTEMS["silent"],
    }
    scores = {
        name: Scores(winonb.score(PERSONAL, answers(PERSONAL, system)))
        for name, system in systems.items()
    }
    refuse_bare_figures(task_of("winonb"), scores, PERSONAL.num_rows)


def evaluated(split: Split, out: Path, *systems: str) -> dict[str, Scores]:
    asked = [SystemSettings(name, name) for name in systems]
    return evaluate_several(split, asked, out)


@pytest.mark.parametrize("config", ["double", "single"])
def test_winopron_and_the_tests_between_systems(sample: Path, tmp_path: Path, config: str) -> None:
    split = read_split(str(sample), config)
    scores = evaluated(split, tmp_path, "first-mention", "random")
    refuse_bare_figures(task_of("sample"), scores, split.num_rows)


@pytest.mark.parametrize(
    ("config", "split"), [("distractors_1", "seed_13"), ("no_context", "test")]
)
def test_ruff(own_ruff: Path, tmp_path: Path, config: str, split: str) -> None:
    rows = read_split(str(own_ruff), config, split)
    scores = evaluated(rows, tmp_path, "always-he", "first-pronoun")
    refuse_bare_figures(task_of("ruff"), scores, rows.num_rows)


def test_what_has_neither_is_found() -> None:
    assert [*unexplained({"a": {"accuracy": 0.5}}, frozenset())] == [".a.accuracy"]
    assert [*bare(Table("t", ("System", "Accuracy"), (("one", "50.0↓"),)))] != []
    assert [*bare(Table("t", ("System", "Accuracy"), (("one", "50.0‡ [9.5, 90.5]"),)))] == []

"""A task's comparison tables of scores that a test has made."""

from collections.abc import Mapping
from typing import Any

from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.table import Table
from pronominal.eval.task import Task


def tables_of(task: Task, scores: Mapping[str, Mapping[str, Any]]) -> list[Table]:
    return task.comparison_tables({system: Scores(one) for system, one in scores.items()})

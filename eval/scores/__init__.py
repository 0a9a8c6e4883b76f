"""The tasks: a folder for each, whose ``task.py`` has it as `TASK`, with scores and tables."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from pronominal.errors import unknown_name

if TYPE_CHECKING:
    from pronominal.eval.task import Task

SHARED = {"constructed": "knowref", "sample": "winopron", "winogender": "winopron"}
"""Name of a dataset -> the one whose task it has, too."""

TASKS = sorted({*SHARED, *(module.name for module in iter_modules(__path__) if module.ispkg)})
"""Names of the datasets that have a task: those of the folders here, and those that share one."""


def task_of(dataset: str, own: "Task | None" = None) -> "Task":
    """Return the task of a dataset, or a user's own; `InputError` where there is neither."""
    if own is not None:
        return own
    if dataset not in TASKS:
        raise unknown_name("score", dataset, TASKS)
    folder = SHARED.get(dataset, dataset)
    task: Task = import_module(f"pronominal.eval.scores.{folder}.task").TASK
    return task

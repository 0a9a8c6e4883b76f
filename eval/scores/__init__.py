"""The tasks with their scores: `TASK` in a dataset's file, or in ``task.py`` of its folder."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from pronominal.dataset_scripts import DATASETS
from pronominal.names import unknown_name

if TYPE_CHECKING:
    from pronominal.eval.task import Task

SHARED = {"constructed": "knowref", "sample": "winopron", "winogender": "winopron"}
"""Name of a dataset -> the one whose task it has, too."""

MODULES = {
    module.name: f"{module.name}.task" if module.ispkg else module.name
    for module in iter_modules(__path__)
    if module.ispkg or module.name in DATASETS
}
"""Name of a dataset -> the module here that has its `TASK`."""

TASKS = sorted({*SHARED, *MODULES})
"""Names of the datasets that have a task: those of the modules here, and those that share one."""


def task_of(dataset: str, own: "Task | None" = None) -> "Task":
    """Return the task of a dataset, or a user's own; `InputError` where there is neither."""
    if own is not None:
        return own
    if dataset not in TASKS:
        raise unknown_name("score", dataset, TASKS)
    module = MODULES[SHARED.get(dataset, dataset)]
    task: Task = import_module(f"pronominal.eval.scores.{module}").TASK
    return task

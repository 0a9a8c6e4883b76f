"""The tasks with their scores: `TASK` in a dataset's file, or in ``task.py`` of its folder."""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from pronominal.dataset_scripts import DATASETS
from pronominal.errors import InputError
from pronominal.names import nearest_name, unknown_name

if TYPE_CHECKING:
    from pronominal.eval.task import Task

SHARED = {
    "constructed": "knowref",
    "ruff-distractors-first": "ruff",
    "ruff-introduction-anywhere": "ruff",
    "ruff-names": "ruff",
    "ruff-other-case": "ruff",
    "ruff-participants": "ruff",
    "sample": "winopron",
    "winogender": "winopron",
}
"""Name of a dataset -> the one whose task it has, too."""

MODULES = {
    module.name: f"{module.name}.task" if module.ispkg else module.name
    for module in iter_modules(__path__)
    if module.ispkg or module.name in DATASETS
}
"""Name of a dataset -> the module here that has its `TASK`."""

TASKS = sorted({*SHARED, *MODULES})
"""Names of the datasets that have a task: those of the modules here, and those that share one."""


TASK = "task"
"""Where a run's `score.json` has the name of the task by which it was scored."""


def task_of(dataset: str, own: "Task | None" = None) -> "Task":
    """Return the task of a dataset, or a user's own; `InputError` where there is neither."""
    if dataset not in TASKS:
        if own is None:
            call = 'pronominal.evaluate(rows, systems, task="knowref")'
            known = nearest_name(dataset, MODULES)
            cure = f"{known} (as {call} or --task knowref), or give a task of your own"
            raise InputError(f"no task is known for rows of the dataset '{dataset}'", cure=cure)
        return own
    module = MODULES[SHARED.get(dataset, dataset)]
    task: Task = import_module(f"pronominal.eval.scores.{module}").TASK
    if own is not None and own is not task and own.name == task.name:
        cure = "give yours another name"
        raise InputError(f"the task of {dataset} is called {own.name}, too", cure=cure)
    return task if own is None else own


def as_task(task: "Task | str | None") -> "Task | None":
    """Return a task that was given, as it is, by its dataset or its place; None where none was.

    Raises:
        InputError: it is neither, or there is no task at the place.
    """
    from pronominal.eval.task import Task, load_task

    if isinstance(task, str) and task not in TASKS and ":" not in task:
        raise unknown_name("task", task, TASKS)
    if isinstance(task, str):
        return task_of(task) if task in TASKS else load_task(task)
    if not isinstance(task, Task | None):
        cure = "give an object made by pronominal.Task(...), a dataset's name or module:attribute"
        raise InputError(f"the task is of the type {type(task).__name__}", cure=cure)
    return task


def task_of_run(dataset: str, name: str | None, own: "Sequence[Task]" = ()) -> "Task":
    """Return the task by which a run was scored.

    Args:
        dataset: of its rows.
        name: of the task; None for a run that does not say it.
        own: tasks of a user's own.

    Raises:
        InputError: the task is neither ours nor among these.
    """
    if dataset in TASKS:
        task = task_of(dataset)
        if name in (None, task.name):
            return task
    for task in own:
        if name == task.name or (name is None and len(own) == 1):
            return task
    cause = f"the runs of {dataset} were scored by the task {name or dataset}, which is not ours"
    raise InputError(cause, cure="give it, as MODULE:ATTRIBUTE")

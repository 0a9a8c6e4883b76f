"""The tasks: one module or folder for each, with its score, its measures and its tables."""

from importlib import import_module
from typing import TYPE_CHECKING

from pronominal.errors import unknown_name

if TYPE_CHECKING:
    from pronominal.eval.task import Task

TASKS: dict[str, str] = {
    "constructed": "knowref.task:KNOWREF",
    "gap": "gap:GAP",
    "knowref": "knowref.task:KNOWREF",
    "ruff": "ruff.task:RUFF",
    "sample": "winopron.task:WINOPRON",
    "winogender": "winopron.task:WINOPRON",
    "winonb": "winonb.task:WINONB",
    "winopron": "winopron.task:WINOPRON",
}
"""Name of a dataset -> where its task is in this package."""


def task_of(dataset: str, own: "Task | None" = None) -> "Task":
    """Return the task of a dataset, or a user's own; `InputError` where there is neither."""
    if own is not None:
        return own
    if dataset not in TASKS:
        raise unknown_name("score", dataset, TASKS)
    module, _, attribute = TASKS[dataset].partition(":")
    task: Task = getattr(import_module(f"pronominal.eval.scores.{module}"), attribute)
    return task

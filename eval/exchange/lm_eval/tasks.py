"""The parts of a task in the YAML of lm-evaluation-harness."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import yaml

VERSION = 1.0
"""Version of the tasks: raised when their numbers change."""

MAX_NEW_TOKENS = 5
"""The most new tokens of an answer: the paper's for FLAN-T5 (RUFF, F.1)."""


class HarnessTasks(Protocol):
    """A module of this folder that has the tasks of the dataset of its name."""

    CODE: tuple[tuple[str, str], ...]
    """Modules that are copied beside the tasks, as (package, module): they import nothing of ours,
    so that they work anywhere."""

    def groups(self, place: str, max_new_tokens: int) -> dict[str, list[dict[str, Any]]]:
        """Return name of a group -> its tasks; rows are at `place`, answers are that long."""
        ...


class Function(str):
    """The name of a function in a file beside the task, ``file.function``."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes functions with the harness's tag."""


_Dumper.add_representer(
    Function, lambda dumper, name: dumper.represent_scalar("!function", str(name))
)


def task(name: str, place: str, config: str, split: str) -> dict[str, Any]:
    """Return what every task says of its rows."""
    return {
        "task": name,
        "dataset_path": place,
        "dataset_name": config,
        "test_split": split,
        "metadata": {"version": VERSION},
    }


def group(name: str, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a group, whose accuracy is the mean of its tasks'."""
    return {
        "group": name,
        "task": [one["task"] for one in tasks],
        "aggregate_metric_list": [{"metric": "acc", "aggregation": "mean"}],
        "metadata": {"version": VERSION},
    }


def mean(metric: str, higher_is_better: bool = True) -> dict[str, Any]:
    """Return a metric that is the mean over the rows."""
    return {"metric": metric, "aggregation": "mean", "higher_is_better": higher_is_better}


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a task or a group."""
    path.write_text(
        yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True),
        "utf-8",
        newline="\n",
    )

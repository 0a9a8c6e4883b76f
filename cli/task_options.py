"""The options of ``pronominal score`` that tasks declare; tasks are read when they are needed."""

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

GIVEN = "pronominal.task_options"
"""Where the context keeps what was given: name of an option or of a companion -> its value."""


class TaskCommand(TyperCommand):
    """A command that has the options of all tasks besides its own."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the command and of the tasks."""
        return [*super().get_params(ctx), *_parameters()]


def given_options(context: typer.Context) -> dict[str, Any]:
    """Return the options of tasks that were given to a `TaskCommand`."""
    options: dict[str, Any] = context.meta.get(GIVEN, {})
    return options


@cache
def _parameters() -> list[Any]:
    """Return one parameter for each option and companion that some task has."""
    from pronominal.eval.scores import TASKS, task_of
    from pronominal.eval.task import Option

    tasks = {task.name: task for task in map(task_of, TASKS)}
    options: dict[str, Option] = {}
    owners: dict[str, list[str]] = {}
    for task in tasks.values():
        companions = (Option(one.name, Path, one.meaning) for one in task.companions)
        for option in (*companions, *task.options):
            options.setdefault(option.name, option)
            owners.setdefault(option.name, []).append(task.name)
    parameters = [
        _parameter(option, owners[name] if len(owners[name]) == 1 else [])
        for name, option in options.items()
    ]

    def command() -> None: ...

    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return [one for one in get_command(app).params if one.name in options]


def _parameter(option: Any, owners: list[str]) -> inspect.Parameter:
    about = f"{owners[0]}: " if owners else ""
    flag = f"--{option.name.replace('_', '-')}"
    given = typer.Option(
        flag,
        help=f"{about}{option.meaning}",
        min=option.least,
        expose_value=False,
        callback=_keeping(option.name),
    )
    kind = bool if option.kind is bool else option.kind | None
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=False if option.kind is bool else None,
        annotation=Annotated[kind, given],
    )


def _keeping(name: str) -> Callable[..., Any]:
    def keep(context: typer.Context, value: Any) -> Any:
        if value not in (None, False):
            context.meta.setdefault(GIVEN, {})[name] = value
        return value

    return keep

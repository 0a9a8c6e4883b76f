"""Options of a command that are declared by what has them: datasets, tasks, formats, settings."""

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from pronominal.cli.command import Command as OneCommand
from pronominal.settings import Option, options_of

Command = Callable[..., None]

SHORT = {"dataset": "-d"}
"""Short forms of declared options, which are the same in every command."""

FEW = 2
"""As many owners of an option are named in its help."""


def parameter(option: Option, owners: Iterable[str] = ()) -> inspect.Parameter:
    """Return the parameter of a command for an option; a few owners are named in its help."""
    names = [*owners]
    about = f"{', '.join(names)}: " if 0 < len(names) <= FEW else ""
    given = typer.Option(
        *(option.flag, *filter(None, [SHORT.get(option.name)])),
        help=f"{about}{option.meaning}",
        min=option.least,
        max=option.most,
        metavar="" if option.kind is bool else None,
        path_type=Path,  # type: ignore[arg-type] # typer takes it, too
        show_default=option.shown or True,
    )
    # a default that stands for what is read from a file is no string to give
    default = None if option.read else option.default
    default = bool(default) if option.kind is bool else default
    kind = option.kind if option.kind is bool or default is not None else option.kind | None
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=Annotated[kind, given],
    )


def shared_parameters(declared: Iterable[tuple[str, Option]]) -> Iterator[inspect.Parameter]:
    """Yield one parameter for each option that some of several owners, such as datasets, have.

    Raises:
        ValueError: two options have one name.
    """
    options: dict[str, Option] = {}
    owners: dict[str, list[str]] = {}
    for owner, option in declared:
        if options.setdefault(option.name, option) != option:
            others = ", ".join(owners[option.name])
            raise ValueError(f"{owner} and {others} declare different options {option.flag}")
        owners.setdefault(option.name, []).append(owner)
    for name, option in options.items():
        yield parameter(option, owners[name])


def settings_options(*kinds: type) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command that takes the settings of these classes."""
    for kind in kinds:
        yield from map(parameter, options_of(kind))


def taking(options: Iterable[inspect.Parameter]) -> Callable[[Command], Command]:
    """Let a command take these parameters in place of its ``**options``."""

    def extended(command: Command) -> Command:
        signature = inspect.signature(command)
        *own, _ = signature.parameters.values()
        parameters = [*own, *options]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        vars(command)["__signature__"] = signature.replace(parameters=parameters)
        return command

    return extended


class TaskCommand(OneCommand):
    """A command with the options of all tasks, which are read when they are needed.

    What is given of them is the context's ``obj``: name of an option or of a companion -> value.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the command and of the tasks."""
        return [*super().get_params(ctx), *_task_parameters()]

    def invoke(self, ctx: Any) -> Any:
        """Call the command with its own options."""
        given = {one.name: ctx.params.pop(one.name) for one in _task_parameters()}
        ctx.obj = {name: value for name, value in given.items() if value not in (None, False)}
        return super().invoke(ctx)


@cache
def _task_parameters() -> list[Any]:
    """Return one parameter for each option and companion that some task has."""
    from pronominal.eval.scores import TASKS, task_of

    tasks = {task.name: task for task in map(task_of, TASKS)}.values()
    companions = (
        (task.name, Option(one.name, Path, one.meaning))
        for task in tasks
        for one in task.companions
    )
    options = ((task.name, one) for task in tasks for one in task.options)

    @taking(shared_parameters([*companions, *options]))
    def command(**options: Any) -> None: ...

    app = typer.Typer(add_completion=False)
    app.command()(command)
    return get_command(app).params

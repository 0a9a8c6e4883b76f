"""Options of a command that are declared by what has them: datasets, tasks and settings."""

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.main import get_command

from pronominal.settings import Help

T = TypeVar("T")
Command = Callable[..., None]


def option(name: str, kind: Any, text: str, default: Any = None, **more: Any) -> inspect.Parameter:
    """Return the parameter of ``--NAME``; `more` is what else a `typer.Option` takes."""
    given = typer.Option(f"--{name.replace('_', '-')}", help=text, **more)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=bool(default) if kind is bool else default,
        annotation=Annotated[kind, given],
    )


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


class TaskCommand(TyperCommand):
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
    from pronominal.eval.task import Option

    options: dict[str, Option] = {}
    owners: dict[str, list[str]] = {}
    for task in {task.name: task for task in map(task_of, TASKS)}.values():
        companions = (Option(one.name, Path, one.meaning) for one in task.companions)
        for one in (*companions, *task.options):
            options.setdefault(one.name, one)
            owners.setdefault(one.name, []).append(task.name)

    def parameter(one: Option) -> inspect.Parameter:
        about = f"{owners[one.name][0]}: " if len(owners[one.name]) == 1 else ""
        kind = bool if one.kind is bool else one.kind | None
        return option(one.name, kind, f"{about}{one.meaning}", min=one.least, path_type=Path)

    @taking(map(parameter, options.values()))
    def command(**options: Any) -> None: ...

    app = typer.Typer(add_completion=False)
    app.command()(command)
    return get_command(app).params


def settings_options(*kinds: type) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command that takes the settings of these classes (`Help`).

    A setting whose default is None may have a class attribute ``usual_NAME``, which is then shown
    as the default.
    """
    for kind in kinds:
        for field, hint, told in _fields(kind):
            if dataclasses.is_dataclass(hint):
                yield from settings_options(hint)  # type: ignore[arg-type]
            elif told is not None:
                required = field.default is dataclasses.MISSING
                yield option(
                    _parameter_name(field, told),
                    _plain(hint),
                    told.text,
                    inspect.Parameter.empty if required else field.default,
                    min=told.least,
                    max=told.most,
                    show_default=str(getattr(kind, f"usual_{field.name}", "")) or True,
                )


def filled(kind: type[T], given: Mapping[str, Any]) -> T:
    """Return settings of a class, given the arguments of a command; defaults where it has none.

    Raises:
        InputError: the settings are wrong together.
    """
    values = {}
    for field, hint, told in _fields(kind):
        if dataclasses.is_dataclass(hint):
            values[field.name] = filled(hint, given)  # type: ignore[arg-type]
        elif told is not None and _parameter_name(field, told) in given:
            values[field.name] = given[_parameter_name(field, told)]
    return kind(**values)


def _fields(kind: Any) -> Iterator[tuple[dataclasses.Field[Any], Any, Help | None]]:
    """Yield each field with its type and, if it is an option, what it says of itself."""
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        yield field, hints[field.name], field.metadata.get("help")


def _parameter_name(field: dataclasses.Field[Any], told: Help) -> str:
    return (told.flag or field.name).replace("-", "_")


def _plain(hint: Any) -> Any:
    """Return a type with strings instead of choices, which settings check themselves."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return Union[tuple(str if get_origin(part) is Literal else part for part in parts)]  # noqa: UP007 - a computed one

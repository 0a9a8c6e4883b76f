"""Options of a command that are declared by what has them, and not by the command."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

Command = Callable[..., None]


def declared(name: str, flag: str, help_text: str, *, is_file: bool) -> inspect.Parameter:
    """Return the parameter of a file, None where it is not given, or of a switch."""
    kind: Any = Annotated[Path | None if is_file else bool, typer.Option(flag, help=help_text)]
    default = None if is_file else False
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


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

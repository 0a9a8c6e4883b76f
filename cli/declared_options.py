"""Options of a command that are declared elsewhere, by what has them."""

import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

Declared = tuple[str, str, type[Path] | type[bool], str]
"""A keyword, its flag, whether it is a file or a switch, and its help."""


def taking(options: Iterable[Declared]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command take these options in place of its ``**options``.

    A file that is not given is None, a switch False.
    """
    further = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False if kind is bool else None,
            annotation=Annotated[
                kind if kind is bool else kind | None, typer.Option(flag, help=help_)
            ],
        )
        for name, flag, kind, help_ in options
    ]

    def extended(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        command.__signature__ = signature.replace(parameters=[*own, *further])  # type: ignore[attr-defined]
        command.__annotations__ |= {one.name: one.annotation for one in further}
        del command.__annotations__["options"]
        return command

    return extended

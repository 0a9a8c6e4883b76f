"""``pronominal convert``."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from pronominal.errors import InputError, unknown_name

Convert = Callable[[str, Path, str | None], None]


def convert(
    kind: Annotated[str, typer.Argument(help="Whose checkpoint it is, such as caw.")],
    source: Annotated[str, typer.Argument(metavar="IN", help="Folder of upstream's checkpoint.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Folder to make.")],
    section: Annotated[
        str | None,
        typer.Option(help="Section of its config; the first whose weights are there without it."),
    ] = None,
) -> None:
    """Write an upstream checkpoint as safetensors and JSON, which hold no code."""
    if kind not in CONVERTERS:
        raise unknown_name("kind of checkpoint", kind, CONVERTERS)
    CONVERTERS[kind](source, target, section)
    print(target)


def _caw(source: str, target: Path, section: str | None) -> None:
    try:
        from pronominal.adapters.caw import loading
    except ModuleNotFoundError as error:
        raise InputError(
            f"caw needs the package {error.name}", cure='pip install "pronominal[caw]"'
        ) from error
    loading.convert(source, target, section)


CONVERTERS: dict[str, Convert] = {"caw": _caw}

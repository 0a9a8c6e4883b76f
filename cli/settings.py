"""Options of a command from classes of settings, whose fields say what they mean (`Help`)."""

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import typer

from pronominal.settings import Help

T = TypeVar("T")


def options(*kinds: type) -> list[inspect.Parameter]:
    """Return the parameters of a command that takes the settings of these classes.

    A setting whose default is None may have a class attribute ``usual_NAME``, which is then shown
    as the default.
    """
    return [parameter for kind in kinds for parameter in _parameters(kind)]


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


def _parameters(kind: type) -> Iterator[inspect.Parameter]:
    for field, hint, told in _fields(kind):
        if dataclasses.is_dataclass(hint):
            yield from _parameters(hint)  # type: ignore[arg-type]
        elif told is not None:
            name = _parameter_name(field, told)
            option = typer.Option(
                f"--{name.replace('_', '-')}",
                help=told.text,
                min=told.least,
                max=told.most,
                show_default=str(getattr(kind, f"usual_{field.name}", "")) or True,
            )
            yield inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty
                if field.default is dataclasses.MISSING
                else field.default,
                annotation=Annotated[_plain(hint), option],
            )


def _fields(kind: Any) -> Iterator[tuple[dataclasses.Field[Any], Any, Help | None]]:
    """Yield each field with its type and, if it is an option, what it says of itself."""
    hints = get_type_hints(kind)
    for field in dataclasses.fields(kind):
        yield field, hints[field.name], field.metadata.get("help")


def _parameter_name(field: dataclasses.Field[Any], told: Help) -> str:
    return (told.flag or field.name).replace("-", "_")


def _plain(hint: Any) -> Any:
    """Return a type with strings instead of choices, which settings check themselves."""
    if get_origin(hint) is Literal:
        return str
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(_plain(part) for part in get_args(hint))]  # noqa: UP007 - a computed one
    return hint

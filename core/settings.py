"""Options that say themselves what they mean, once, for the command line and for Python."""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass
from numbers import Integral, Real
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pronominal.errors import InputError

T = TypeVar("T")

VALUES = {
    bool: "true or false",
    float: "a number",
    int: "a whole number",
    str: "a string",
    Path: "a path",
}
"""Type of an option -> what is to be given."""


@dataclass(frozen=True)
class Option:
    """What a user may set.

    Attributes:
        name: in Python; the command line has hyphens for underscores.
        kind: its type; `bool` makes a flag, and `Path` an existing place.
        meaning: what the command line says of it.
        least: the smallest number that it may be.
        read: makes the value of what was given.
        most: the largest number that it may be.
        default: its value where nothing is given; `dataclasses.MISSING` where something has to be.
        shown: what the command line says of a default that is None.
    """

    name: str
    kind: Any
    meaning: str
    least: float | None = None
    read: Callable[[Any], Any] | None = None
    most: float | None = None
    default: Any = None
    shown: str = ""

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return f"--{self.name.replace('_', '-')}"

    def value(self, given: Any) -> Any:
        """Return the value that a user has given; `InputError` for a wrong one."""
        value = _plain(given, self.kind)
        if not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool):
            raise self.refuse(given, f"give {VALUES.get(self.kind, self.kind.__name__)}")
        if self.least is not None and value < self.least:
            raise self.refuse(given, f"give at least {self.least}")
        if self.most is not None and value > self.most:
            raise self.refuse(given, f"give at most {self.most}")
        if isinstance(value, Path) and not value.exists():
            raise InputError("there is no such place", cure="check the path", file=value)
        return value if self.read is None else self.read(value)

    def refuse(self, given: Any, cure: str) -> InputError:
        """Return the error that names the option and what was given."""
        return InputError(f"the option {self.name} is {given!r:.40}", cure=cure)


def read_options(
    owner: str, declared: Iterable[Option], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a user has given, by name, as the values of the options that an owner declares.

    Raises:
        InputError: the owner, such as a dataset, has no such option, or a value is wrong.
    """
    options = {option.name: option for option in declared}
    for name in given:
        if name not in options:
            raise InputError(f"{owner} has no option '{name}'", cure="leave it out")
    return {name: options[name].value(value) for name, value in given.items()}


def _plain(given: Any, kind: Any) -> Any:
    """Return numbers of other libraries as Python's, and a path as one, where that is asked for."""
    if kind is Path and isinstance(given, str):
        return Path(given)
    if kind is int and isinstance(given, Integral) and not isinstance(given, bool):
        return int(given)
    if kind is float and isinstance(given, Real) and not isinstance(given, bool):
        return float(given)
    return given


def setting(default: T, meaning: str, **described: Any) -> T:
    """Return a field of a dataclass that is an option, too.

    Args:
        default: its value where nothing is given.
        meaning: a sentence for the help of a command.
        described: ``least`` and ``most`` as in `Option`; ``name``, where it is not the field's.

    >>> @dataclass
    ... class Rates:
    ...     decay: float = setting(0.01, "Of AdamW.", least=0.0)
    >>> Rates()
    Rates(decay=0.01)
    """
    field: T = dataclasses.field(default=default, metadata={"meaning": meaning, **described})
    return field


def required(meaning: str) -> Any:
    """Return a field that has to be given; see `setting`."""
    return setting(MISSING, meaning)


def options_of(settings: type) -> Iterator[Option]:
    """Yield the options that a class of settings has, those of nested settings among them.

    A setting whose default is None may have a class attribute ``usual_NAME``, which is then shown
    as the default.
    """
    for field, hint in _fields(settings):
        if dataclasses.is_dataclass(hint):
            yield from options_of(hint)  # type: ignore[arg-type]
        elif "meaning" in field.metadata:
            usual = getattr(settings, f"usual_{field.name}", "")
            described = {"name": field.name, **field.metadata}
            yield Option(
                kind=_without_choices(hint), default=field.default, shown=str(usual), **described
            )


def filled(settings: type[T], given: Mapping[str, Any]) -> T:
    """Return settings of a class, given options by name; defaults where nothing is given.

    Raises:
        InputError: the settings are wrong together.
    """
    values = {}
    for field, hint in _fields(settings):
        name = field.metadata.get("name", field.name)
        if dataclasses.is_dataclass(hint):
            values[field.name] = filled(hint, given)  # type: ignore[arg-type]
        elif "meaning" in field.metadata and name in given:
            values[field.name] = given[name]
    return settings(**values)


def _fields(settings: Any) -> Iterator[tuple[dataclasses.Field[Any], Any]]:
    hints = get_type_hints(settings)
    for field in dataclasses.fields(settings):
        yield field, hints[field.name]


def _without_choices(hint: Any) -> Any:
    """Return a type with strings instead of choices, which settings check themselves."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return Union[tuple(str if get_origin(part) is Literal else part for part in parts)]  # noqa: UP007 - a computed one

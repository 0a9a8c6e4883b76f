"""Settings that say themselves what they mean, once, for the command line and for Python."""

from dataclasses import MISSING, dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Help:
    """What a field of settings says of itself; a field without it is no option of a command.

    Attributes:
        text: a sentence for the help of a command.
        least: the lowest number allowed.
        most: the highest.
        flag: the option's name without dashes, where it is not that of the field.
    """

    text: str
    least: float | None = None
    most: float | None = None
    flag: str | None = None


def setting(default: T, text: str, **limits: Any) -> T:
    """Return a field of a dataclass that says what it means; `limits` is what else a `Help` has.

    >>> @dataclass
    ... class Rates:
    ...     decay: float = setting(0.01, "Of AdamW.", least=0.0)
    >>> Rates()
    Rates(decay=0.01)
    """
    described: T = field(default=default, metadata={"help": Help(text, **limits)})
    return described


def required(text: str) -> Any:
    """Return a field that has to be given; see `setting`."""
    return setting(MISSING, text)

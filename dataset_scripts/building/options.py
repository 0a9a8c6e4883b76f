"""What a user may ask of a build: each dataset script declares its own options."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pronominal.errors import InputError
from pronominal.pronouns import CASES, PRONOUN_SETS, PronounSet, load_pronoun_sets

T = TypeVar("T")


@dataclass(frozen=True)
class BuildOption(Generic[T]):
    """One thing that a user may ask of a build.

    Attributes:
        name: a keyword in Python; ``--name`` on the command line.
        default: the value of published folders.
        help: what it does, for the command line.
        read: makes the value from a file that the user gives; None for a switch.
        note: what the card says of a build with this value; nothing of the default one.
    """

    name: str
    default: T
    help: str
    read: Callable[[Path], T] | None = None
    note: Callable[[T], str] = lambda value: ""

    def value(self, given: Any) -> T:
        """Return a value as it is, or read from the file that was given.

        Raises:
            InputError: it is neither of the type of the default nor a file, or the file is wrong.
        """
        if self.read is not None and isinstance(given, str | Path):
            return self.read(Path(given))
        if type(given) is not type(self.default):
            cure = "give True or False" if self.read is None else "give a file, or what is in it"
            raise InputError(f"the option {self.name} is {given!r:.40}", cure=cure)
        value: T = given
        return value


class BuildOptions:
    """The values of some options, by name; every other option has its default."""

    def __init__(self, **values: Any) -> None:
        self.values = values

    def __getitem__(self, option: BuildOption[T]) -> T:
        value: T = self.values.get(option.name, option.default)
        return value

    def __repr__(self) -> str:
        return f"BuildOptions({sorted(self.values.items())})"

    @classmethod
    def read(
        cls, dataset: str, declared: Iterable[BuildOption[Any]], given: Mapping[str, Any]
    ) -> "BuildOptions":
        """Read the values of a dataset's options, each given as it is or as a file's path.

        Raises:
            InputError: the dataset has no such option, or a file is wrong.
        """
        known = {option.name: option for option in declared}
        for name in given:
            if name not in known:
                raise InputError(f"{dataset} has no option '{name}'", cure="leave it out")
        return cls(**{name: known[name].value(value) for name, value in given.items()})


def _further_sets(pronoun_sets: tuple[PronounSet, ...]) -> str:
    return "\n\n".join(
        f"Built with a further pronoun set: {further.name} ({'/'.join(map(further.form, CASES))})."
        for further in pronoun_sets[len(PRONOUN_SETS) :]
    )


PRONOUNS = BuildOption(
    "pronouns",
    PRONOUN_SETS,
    "TOML file with further pronoun sets, for datasets made of templates.",
    load_pronoun_sets,
    _further_sets,
)
"""The pronoun sets that fill templates."""

REPAIR_CASE = BuildOption(
    "repair_case",
    False,
    "Give switched names the case of their new places.",
    note=lambda on: "Built with the case of switched names repaired (`--repair-case`)." * on,
)
"""Whether switched names take the case of their new places, see `pronominal.switching.switch`."""

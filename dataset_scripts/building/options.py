"""What a user may ask of a build: each dataset script declares its own options."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pronominal.pronouns import CASES, PRONOUN_SETS, PronounSet, load_pronoun_sets
from pronominal.settings import Option, read_options

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class BuildOption(Option, Generic[T]):
    """One thing that a user may ask of a build: its value, or the file that holds it.

    Attributes:
        default: the value of published folders.
        note: what the card says of a build with this value; nothing of the default one.
        suffix: what a build with this value adds to the dataset's name, because its rows are not
            those of the dataset; nothing of the default one.
    """

    default: T
    note: Callable[[T], str] = lambda value: ""
    suffix: Callable[[T], str] = lambda value: ""

    def value(self, given: Any) -> Any:
        """Return the value that a user has given; `InputError` for a wrong one."""
        if self.read is None:
            return super().value(given)
        if isinstance(given, str | Path):
            return self.read(self.kind(given))
        if not isinstance(given, type(self.default)):
            cure = "give a file, or what is in it" if self.kind is Path else "give its name"
            raise self.refuse(given, cure)
        return given


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
            InputError: the dataset has no such option, or a value or file is wrong.
        """
        return cls(**read_options(dataset, declared, given))


def _further_sets(pronoun_sets: tuple[PronounSet, ...]) -> str:
    return "\n\n".join(
        f"Built with a further pronoun set: {further.name} ({'/'.join(map(further.form, CASES))})."
        for further in pronoun_sets[len(PRONOUN_SETS) :]
    )


PRONOUNS = BuildOption(
    name="pronouns",
    kind=Path,
    meaning="TOML file with further pronoun sets, for datasets made of templates.",
    default=PRONOUN_SETS,
    read=load_pronoun_sets,
    note=_further_sets,
)
"""The pronoun sets that fill templates."""

REPAIR_CASE = BuildOption(
    name="repair_case",
    kind=bool,
    meaning="Give switched names the case of their new places.",
    default=False,
    note=lambda on: "Built with the case of switched names repaired (`--repair-case`)." * on,
)
"""Whether switched names take the case of their new places, see `pronominal.switching.switch`."""

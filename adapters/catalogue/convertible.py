"""The table of checkpoints that ``pronominal convert`` rewrites as safetensors and JSON.

A kind is added by a function that takes the upstream folder, the folder to make and the options,
and may return a report of the variables; and by a line here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronominal.adapters.catalogue.systems import at
from pronominal.errors import extra_needed
from pronominal.names import unknown_name
from pronominal.settings import Option, read_options


@dataclass(frozen=True, slots=True)
class Convertible:
    """One kind of checkpoint.

    Attributes:
        place: of the function that converts it, as ``module:attribute`` below our package.
        extra: the extra that installs what it needs.
        options: keywords of the function.
    """

    place: str
    extra: str
    options: tuple[Option, ...] = ()


SECTION = Option(
    "section", str, "section of its config; the first whose weights are there without it."
)
WORDS = Option(
    "words",
    Path,
    "text whose words keep their embeddings; all words without it.",
    read=lambda file: at("c2f.e2e.checkpoint:words_of")(file),
)
WEIGHTS = Option("weights", str, "torch or tensorflow, for a folder that holds both.")

CONVERTIBLE: dict[str, Convertible] = {
    "c2f": Convertible("c2f.bert.checkpoint:convert", "c2f", (WEIGHTS,)),
    "caw": Convertible("caw.loading:convert", "caw", (SECTION,)),
    "e2e": Convertible("c2f.e2e.checkpoint:convert", "c2f", (WORDS,)),
}


def convert(kind: str, source: str, target: Path, **options: Any) -> dict[str, Any] | None:
    """Convert a checkpoint, a key of `CONVERTIBLE`; return the report of its variables, if any.

    Raises:
        InputError: there is no such kind, an extra is missing, the kind has no such option, or
            the checkpoint is wrong.
    """
    if kind not in CONVERTIBLE:
        raise unknown_name("kind of checkpoint", kind, CONVERTIBLE)
    entry = CONVERTIBLE[kind]
    with extra_needed(entry.extra, "this"):
        converted = at(entry.place)
    report: dict[str, Any] | None = converted(
        source, target, **read_options(kind, entry.options, options)
    )
    return report

"""What stands around thoughts, for every family of models: the table ``delimiters.toml``."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from pronominal.errors import InputError
from pronominal.names import unknown_name

NO_THOUGHTS = "none"
"""The setting of a model that is known to write none."""

_TAG = re.compile(r"<(/?)([\w:]+)>")


@dataclass(frozen=True, slots=True)
class Delimiters:
    """What a family of models writes before and behind a thought.

    Attributes:
        opening: matches what begins a thought.
        closing: matches what ends it.
    """

    opening: re.Pattern[str]
    closing: re.Pattern[str]

    @classmethod
    def of(cls, opening: Iterable[str], closing: Iterable[str]) -> "Delimiters":
        """Return delimiters of which several may be written for each side."""
        return cls(_any_of(opening), _any_of(closing))


def _any_of(literals: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(_pattern, literals)), re.IGNORECASE)


def _pattern(literal: str) -> str:
    """Return a literal as a pattern; tags may have blanks inside, and apostrophes be curly."""
    tag = _TAG.fullmatch(literal)
    if tag is None:
        return re.escape(literal).replace("'", "['’]")
    slash, name = tag.groups()
    closing = r"/\s*" if slash else ""
    return rf"<\s*{closing}{re.escape(name)}\s*>"


@cache
def known_delimiters() -> Mapping[str, Delimiters]:
    """Return the delimiters of ``delimiters.toml`` by the name of their table."""
    tables = tomllib.loads(_table("delimiters"))
    return {
        name: Delimiters.of(table["opening"], table["closing"]) for name, table in tables.items()
    }


@cache
def around_turns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what may stand before a model's words, once or often, and what ends them."""
    table = tomllib.loads(_table("turns"))
    before = "|".join(map(re.escape, table["before"]))
    return re.compile(rf"(?:\s|{before})*"), re.compile("|".join(map(re.escape, table["behind"])))


def _table(name: str) -> str:
    return files("pronominal.adapters.lm.thoughts").joinpath(f"{name}.toml").read_text("utf-8")


def described_delimiters(tokenizer: Any) -> tuple[Delimiters, ...]:
    """Return what a tokenizer says of itself (``response_template`` of transformers).

    A description without literal delimiters of a field ``reasoning_content`` or ``thinking`` says
    nothing here.
    """
    described = getattr(tokenizer, "response_template", None)
    fields = described.get("fields") if isinstance(described, dict) else None
    found = []
    for name in ("reasoning_content", "reasoning", "thinking"):
        field = fields.get(name) if isinstance(fields, dict) else None
        if isinstance(field, dict) and field.get("open") and field.get("close"):
            sides = ([s] if isinstance(s, str) else s for s in (field["open"], field["close"]))
            opening, closing = ([literal.strip() for literal in side] for side in sides)
            found.append(Delimiters.of(opening, closing))
    return tuple(found)


def parse_thoughts(setting: object) -> tuple[Delimiters, ...]:
    """Return the delimiters that the setting ``thoughts`` asks for.

    Args:
        setting: None for those of all families, the name of one of the tables, `NO_THOUGHTS`, or
            the opening and the closing delimiter of a model that has no table.

    Raises:
        InputError: it is none of these.
    """
    known = known_delimiters()
    if setting is None:
        return tuple(known.values())
    if setting == NO_THOUGHTS:
        return ()
    if isinstance(setting, str):
        if setting not in known:
            raise unknown_name("family of thoughts", setting, [*known, NO_THOUGHTS])
        return (known[setting],)
    if (
        isinstance(setting, Sequence)
        and len(setting) == 2
        and all(isinstance(literal, str) and literal.strip() for literal in setting)
    ):
        opening, closing = setting
        return (Delimiters.of([opening.strip()], [closing.strip()]),)
    raise InputError(
        "thoughts are neither a name nor two delimiters",
        cure='write thoughts = ["<think>", "</think>"], say',
    )

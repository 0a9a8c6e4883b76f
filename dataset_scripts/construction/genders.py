"""The gender of first names: gender-guesser's list, or a file of the user's own (3.1.4)."""

import csv
import io
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa

from pronominal.dataset_scripts.construction.clean import transliterated
from pronominal.dataset_scripts.construction.stage import Kept, Stage, with_column
from pronominal.dataset_scripts.construction.words import NEUTRAL_TITLES, TITLES, Gender
from pronominal.errors import InputError, redacted

GENDERS: tuple[Gender, ...] = ("male", "female")
BOTH_GENDERS = "sentences with a name that both genders have"
COMMON = "4"
"""Least frequency in the United States of a name that is written into sentences: from 1/32 %."""


@dataclass(frozen=True, slots=True)
class NameGenders:
    """First names with one gender each.

    Attributes:
        genders: name -> male or female; a name of both genders is known but has None.
        replacements: gender -> names that may be written into a sentence, sorted.
        both: names that both genders have, also where one of them was chosen.
    """

    genders: Mapping[str, Gender | None]
    replacements: Mapping[Gender, tuple[str, ...]]
    both: frozenset[str] = frozenset()

    def of(self, name: str) -> Gender | None:
        """Return the gender of a person's name, by its title or its first name."""
        words = name.split()
        first = titles(words)
        for word in words[:first]:
            if word in TITLES:
                return TITLES[word]
        return self.genders.get(words[first]) if first < len(words) else None

    def choose(self, gender: Gender, instead_of: str, text: str, taken: Collection[str]) -> str:
        """Return a name of a gender, always the same one for the same text.

        It is none of the `taken` words. One that begins with the same letter as the first name that
        it replaces is preferred, as in the paper's *James*, *Jane*.
        """
        free = [name for name in self.replacements[gender] if name not in taken]
        alike = [name for name in free if name[0] == instead_of[0]] or free
        if not alike:
            cause = f"there are too few {gender} names to replace others"
            raise InputError(cause, cure="add names to --names")
        number = int.from_bytes(blake2b(f"{instead_of}\n{text}".encode(), digest_size=8).digest())
        return alike[number % len(alike)]


def titles(words: list[str]) -> int:
    """Return how many titles a name begins with; its last word is never one."""
    count = 0
    while count < len(words) - 1 and (words[count] in TITLES or words[count] in NEUTRAL_TITLES):
        count += 1
    return count


def genders(names: NameGenders) -> Stage:
    """Return the stage that adds the gender of each candidate, null where it is not known."""

    def stage(rows: pa.RecordBatch) -> Kept:
        found = [
            [names.of(candidate["text"]) for candidate in candidates]
            for candidates in rows["candidates"].to_pylist()
        ]
        noted = Counter(
            BOTH_GENDERS
            for candidates in rows["candidates"].to_pylist()
            if any(names.both.intersection(each["text"].split()[:1]) for each in candidates)
        )
        return Kept(with_column(rows, "genders", pa.list_(pa.string()), found), noted=noted)

    return stage


def load_names(path: Path | None, *, guess: bool = False) -> NameGenders:
    """Read a CSV file with the columns ``name`` and ``gender``, or gender-guesser's list.

    Names with accents are also known without them, as cleaning a text leaves them.

    Args:
        path: the file; None for the list.
        guess: whether a name that the list has with both genders has the one that gender-guesser
            answers, or none.
    """
    return _own_names(path) if path else listed_names(guess=guess)


@cache
def listed_names(*, guess: bool = False) -> NameGenders:
    """Return the names of gender-guesser's list, those with one gender only unless it may guess.

    The paper used SexMachine, its predecessor, with the same list of 40,000 names.
    """
    try:
        from gender_guesser.detector import Detector
    except ImportError as error:
        cure = "pip install 'pronominal[construct]', or give --names FILE"
        raise InputError("the list of names is not installed", cure=cure) from error
    place = Detector.COUNTRIES.index("usa")
    known: dict[str, Gender | None] = {}
    common: list[str] = []
    detector = Detector()
    for name, found in detector.names.items():
        sure = next((gender for gender in GENDERS if set(found) == {gender}), None)
        answer = detector.get_gender(name) if guess and not sure else None
        known[name] = sure or next((gender for gender in GENDERS if gender == answer), None)
        if sure and name.isascii() and name.isalpha() and found[sure][place] >= COMMON:
            common.append(name)
    both = frozenset(name for name, found in detector.names.items() if len(found) > 1)
    return replace(_name_genders(known, common), both=both)


def _name_genders(known: Mapping[str, Gender | None], common: Collection[str]) -> NameGenders:
    """Return names with their genders, of which the `common` ones may replace others."""
    forms: dict[str, Gender | None] = {}
    for name, gender in known.items():
        if not name.isascii():
            form = transliterated(name)
            forms[form] = gender if forms.get(form, gender) == gender else None
    replacements = {
        gender: tuple(sorted(name for name in common if known[name] == gender))
        for gender in GENDERS
    }
    return NameGenders({**forms, **known}, replacements)


def _own_names(path: Path) -> NameGenders:
    known: dict[str, Gender | None] = {}
    try:
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True)
        if not {"name", "gender"} <= set(rows.fieldnames or ()):
            cure = "begin the file with the header name,gender"
            raise InputError("the columns name and gender are missing", cure=cure, file=path)
        for row in rows:
            name, place = (row["name"] or "").strip(), f"line {rows.line_num}"
            gender = next((each for each in GENDERS if each == (row["gender"] or "").strip()), None)
            if not name or gender is None:
                cause = f"no gender: {redacted(str(row['gender']))}"
                cause = cause if name else "the name is empty"
                raise InputError(cause, cure="write male or female", file=path, row=place)
            known[name] = gender if known.get(name, gender) == gender else None
    except (OSError, ValueError, csv.Error) as error:
        cure = "give a CSV file in UTF-8 with the columns name and gender"
        raise InputError("no names can be read", cure=cure, file=path) from error
    return _name_genders(known, known.keys())

"""English third-person pronoun sets, and how a user adds one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pronominal.errors import InputError
from pronominal.names import nearest_name
from pronominal.text_files import read_toml

Case = Literal["nominative", "accusative", "possessive"]
CASES: tuple[Case, ...] = get_args(Case)

Agreement = Literal["singular", "plural"]


@dataclass(frozen=True, slots=True)
class PronounSet:
    """One paradigm; the forms are lower-case strings as they stand inside a sentence.

    Attributes:
        name: how datasets and scores call the set, by custom its nominative form.
        nominative: subject form (*she* left).
        accusative: object form (saw *her*).
        possessive: dependent possessive (*her* coat).
        independent: independent possessive (the coat is *hers*); None when not given.
        reflexive: reflexive form (saw *herself*); None when not given.
        agreement: number of the verb after the nominative form (*they were*, *xe was*).
    """

    name: str
    nominative: str
    accusative: str
    possessive: str
    independent: str | None = None
    reflexive: str | None = None
    agreement: Agreement = "singular"

    def form(self, case: Case) -> str:
        """Return the form that fills a slot of this grammatical case."""
        form: str = getattr(self, case)
        return form

    @property
    def forms(self) -> frozenset[str]:
        """Every form of the set."""
        every = (*map(self.form, CASES), self.independent, self.reflexive)
        return frozenset(form for form in every if form is not None)


HE = PronounSet("he", "he", "him", "his", "his", "himself")
SHE = PronounSet("she", "she", "her", "her", "hers", "herself")
THEY = PronounSet("they", "they", "them", "their", "theirs", "themself", "plural")
XE = PronounSet("xe", "xe", "xem", "xyr", "xyrs", "xemself")

PRONOUN_SETS: tuple[PronounSet, ...] = (HE, SHE, THEY, XE)
"""The four sets of WinoPron and RUFF (WinoPron, section 3.1), in upstream's order."""


LONGEST = 60
"""Letters in a form of a user's pronoun set, at most."""


def load_pronoun_sets(path: str | Path) -> tuple[PronounSet, ...]:
    """Read further pronoun sets from a TOML file and return them behind the four known ones.

    One table for each set: its key is the set's name; ``nominative``, ``accusative`` and
    ``possessive`` are required; ``independent``, ``reflexive`` and ``agreement`` are optional::

        [ze]
        nominative = "ze"
        accusative = "zir"
        possessive = "zir"
        independent = "zirs"
        reflexive = "zirself"

    Raises:
        InputError: the file is missing, is not TOML, or a set is incomplete or already known.
    """
    tables = read_toml(Path(path), "pronoun sets")
    if not tables:
        raise InputError("there is no pronoun set in it", cure="write one table a set", file=path)
    sets = list(PRONOUN_SETS)
    for name, table in tables.items():
        if name in {known.name for known in sets}:
            cause = f"the set '{name}' exists already"
            raise InputError(cause, cure="rename it", file=path, row=f"[{name}]")
        sets.append(_pronoun_set(name, table, path))
    return tuple(sets)


def asked_pronoun_sets(asked: Sequence[str]) -> tuple[PronounSet, ...]:
    """Return sets by their names, such as ``xe``, or of TOML files (see `load_pronoun_sets`).

    Raises:
        InputError: a name is none of the four known ones, or a file is wrong.
    """
    known = {one.name: one for one in PRONOUN_SETS}
    found: dict[str, PronounSet] = {}
    for one in asked:
        if Path(one).suffix:
            further = load_pronoun_sets(one)[len(PRONOUN_SETS) :]
        elif one in known:
            further = (known[one],)
        else:
            cure = f"{nearest_name(one, known)}, or give a TOML file of sets"
            raise InputError(f"there is no pronoun set '{one}'", cure=cure)
        found.update({one.name: one for one in further})
    return tuple(found.values())


def _pronoun_set(name: str, table: object, path: str | Path) -> PronounSet:
    def refuse(cause: str, cure: str) -> InputError:
        return InputError(cause, cure=cure, file=path, row=f"[{name}]")

    if not _is_word(name):
        raise refuse("the name of a set is a word", "name it after its nominative form")
    if not isinstance(table, dict):
        raise refuse("a pronoun set is a table of forms", f"write [{name}] and its forms below")
    for key, value in table.items():
        if key not in {*CASES, "independent", "reflexive", "agreement"}:
            raise refuse(f"'{key}' is no form of a pronoun", "remove it")
        if not (isinstance(value, str) and _is_word(value) and value == value.lower()):
            raise refuse(f"'{key}' is not a lower-case word", "write one word")
    missing = [case for case in CASES if case not in table]
    if missing:
        raise refuse(f"{' and '.join(missing)} missing", "add the form")
    if table.get("agreement", "singular") not in get_args(Agreement):
        raise refuse("the agreement is unknown", "write singular or plural")
    return PronounSet(name=name, **table)


def _is_word(text: str) -> bool:
    """Say whether a text can be a pronoun; one form is written into hundreds of rows."""
    return text.isalpha() and len(text) <= LONGEST

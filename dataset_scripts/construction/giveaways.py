"""Words beside a name that tell the gender of its bearer: *Ann, a waitress*, *ma'am*.

Names are exchanged, such words are not: one that tells the other gender gives the exchange away.
A noun is told of a name where it is an apposition (*the policeman, Ann*; *Ann, father of two*), a
predicate (*Ann was a waitress*; *the waitress was Ann*), or stands right before it; a form of
address is told of anybody.
"""

import re

from pronominal.dataset_scripts.construction.words import (
    ADDRESSES,
    FEMININE_NOUNS,
    MASCULINE_NOUNS,
    STOPWORDS,
    Gender,
)
from pronominal.spans import Span

_DETERMINER = r"(?:an?|the|his|her|their|my|our|your|its|another|one|some|[\w-]+'s) "
_MODIFIER = rf"(?!(?:{'|'.join(sorted(STOPWORDS))})\b)[a-z][\w-]* "
_AUXILIARY = r"(?:was|has|had|will|would|could|may|might|must|not|never|still|also|now|once) "
_BE = r"(?:is|was|were|be|been|being|becomes?|became|remains?|remained|turned|called|named) "
_IS = rf"(?:{_AUXILIARY})*{_BE}(?:{_AUXILIARY})*"
_BEGINNING = rf"(?:,? (?:who |which )?{_IS}(?:as )?|, (?:as |once |formerly )?| - | the |[^,]* as )"


def _patterns(nouns: frozenset[str], addresses: frozenset[str]) -> tuple[re.Pattern[str], ...]:
    noun = rf"(?:{'|'.join(sorted(nouns))})\b"
    address = rf"\b(?:{'|'.join(sorted(addresses))})\b"
    return (
        re.compile(rf"{_BEGINNING}(?:{_DETERMINER})?(?:{_MODIFIER}){{0,4}}{noun}"),
        re.compile(rf"\b{noun}(?:,? | - | (?:who )?{_IS})$", re.IGNORECASE),
        re.compile(address, re.IGNORECASE),
        re.compile(rf"\b{noun}", re.IGNORECASE),
    )


_TELLING = {
    "male": _patterns(MASCULINE_NOUNS, ADDRESSES["male"]),
    "female": _patterns(FEMININE_NOUNS, ADDRESSES["female"]),
}


def gives_away(text: str, names: tuple[Span, ...], gender: Gender) -> bool:
    """Whether a word in a text says that one of its people is not of this gender.

    Args:
        text: a sentence.
        names: where its people's names stand.
        gender: what all of them should be.
    """
    behind, before, address, noun = _TELLING["male" if gender == "female" else "female"]
    if address.search(text):
        return True
    if not noun.search(text):
        return False
    return any(behind.match(text, name.end) or before.search(text[: name.start]) for name in names)

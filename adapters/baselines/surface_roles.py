"""Grammatical roles and distances told from the surface of a text, for the heuristics of GAP.

Nothing is parsed: a mention's role is read from the words next to it, which is right for plain
clauses and wrong for many others.
"""

import re
from typing import Literal, NamedTuple

from pronominal.instances import ResolutionInstance
from pronominal.pronouns import PRONOUN_SETS
from pronominal.spans import Mention

Role = Literal["subject", "object", "other"]
"""Of a verb: its subject, its direct object, or anything else, such as a possessor."""


class MentionSyntax(NamedTuple):
    """A mention's grammatical role, and how far it is from the pronoun.

    Distances are compared with those of other mentions of one text.
    """

    role: Role
    distance: tuple[int, ...]


class SurfaceSyntax:
    """Reads roles from the words next to a mention, and counts sentences and words between two."""

    def read(self, instance: ResolutionInstance) -> tuple[Role, list[MentionSyntax]]:
        """Return the pronoun's role, and the syntax of each candidate."""
        text, pronoun = instance.text, instance.pronoun
        mentions = [
            MentionSyntax(_name_role(text, candidate), _distance(text, candidate, pronoun))
            for candidate in instance.candidates
        ]
        return _pronoun_role(text, pronoun), mentions


_NOMINATIVE = {pronouns.nominative for pronouns in PRONOUN_SETS}
_POSSESSIVE = {form for p in PRONOUN_SETS for form in (p.possessive, p.independent)}
_WORD = re.compile(r"\w+(?:['’]\w+)*")
_SENTENCE_END = re.compile(r"[.!?][\"'”’)]*\s")
_POSSESSION = re.compile(r"['’]s?\b|['’](?=\s)")


def _word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PREPOSITIONS = _word_set(
    "about above across after against along alongside among around as at before behind below "
    "beneath beside besides between beyond by despite during for from in inside into like near of "
    "off on onto opposite out over past per regarding since than through throughout till to "
    "toward towards under until unlike upon versus via vs with within without"
)
_CLAUSE_OPENERS = _word_set(
    "although and because but however if nor once or so that then though unless what when where "
    "whereas whether which while who whom whose yet"
)
_AFTER_OBJECT = _PREPOSITIONS | _CLAUSE_OPENERS | {"a", "an", "the", "he", "she", "his", "not"}


def _pronoun_role(text: str, pronoun: Mention) -> Role:
    form = pronoun.text.lower()
    if form in _NOMINATIVE:
        return "subject"
    following = re.match(r"\s+(\w+)", text[pronoun.end :])
    # "her" before a noun is a possessor: no function word and no stop follows
    before_noun = following is not None and following[1].lower() not in _AFTER_OBJECT
    possessor = form in _POSSESSIVE and (form != "her" or before_noun)
    return "other" if possessor or _preceding(text, pronoun.start) in _PREPOSITIONS else "object"


def _name_role(text: str, name: Mention) -> Role:
    if _POSSESSION.match(text, name.end):
        return "other"
    before = text[: name.start].rstrip()
    preceding = _preceding(text, name.start)
    if preceding in _PREPOSITIONS:
        return "other"
    if preceding == "" or not before[-1].isalnum() or preceding in _CLAUSE_OPENERS:
        return "subject"
    return "object"


def _preceding(text: str, start: int) -> str:
    """Return the word before a mention in lower case, past capitalised words such as titles."""
    clause = re.split(r"[.!?;:,()\"“”]", text[:start])[-1]
    for word in reversed(_WORD.findall(clause)):
        if not word[0].isupper() and word not in ("a", "an", "the", "his", "her", "their"):
            return str(word)
    return ""


def _distance(text: str, one: Mention, other: Mention) -> tuple[int, ...]:
    first, second = sorted((one.span, other.span))
    between = text[first.end : second.start]
    return len(_SENTENCE_END.findall(between)), len(_WORD.findall(between))

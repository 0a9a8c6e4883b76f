"""Words told of a person that tell the gender: *Ann, a waitress*; *Ann's a mother*; *ma'am*.

Names are exchanged, such words are not: one that tells the other gender gives the exchange away. A
word is told of a name where it is

- a predicate: *Ann isn't a waitress*; *Ann and Mary were sisters*; *Ann is a nurse and a mother*;
  *Ann left and became a nun*; *the waitress was Ann*;
- an apposition: *Ann, now a widow,*; *the waitress, Ann*; *as a mother, Ann*; *a girl named Ann*;
- a role: *Ann worked as a waitress*;

and a form of address is told of anybody. What is told of a pronoun counts, too: *because she's a
waitress*. Parts of speech are guessed from closed lists, without a model.
"""

import re
from functools import cache

from pronominal.dataset_scripts.construction.words import (
    ADDRESSES,
    FEMININE_NOUNS,
    GENDERED_ADJECTIVES,
    GENDERED_VERBS,
    MASCULINE_NOUNS,
    STOPWORDS,
    Gender,
    plural,
)
from pronominal.spans import Span

NAME, PRONOUN, NOUN, ADJECTIVE, VERB = "\x01", "\x02", "\x03", "\x04", "\x05"
"""Stand for each name, each pronoun that is a subject, and each word that tells the gender."""

_BEFORE_NOUNS = {"first", "last", "own", "former", "only", "few", "very", "most", "more", "once"}
_WORD = rf"(?:(?!(?:{'|'.join(sorted(STOPWORDS - _BEFORE_NOUNS))})\b)[a-z][\w-]*)"
_ADVERB = r"""(?:not|never|no longer|still|also|always|already|now|once|then|soon|later|only|just
    |even|really|again|both|all|neither|either|rather|perhaps|maybe|indeed|today|almost|however
    |of course|after all|at first|at last|by then|by now|in fact|these days|by nature
    |for [a-z]+ years|himself|herself|\w+ly)"""
_ADVERBS = rf"(?:,? {_ADVERB}\b,?)*+"
_AUXILIARY = """(?:is|are|was|were|has|had|have|will|would|could|can|may|might|must|shall|should
    |did|does|do|ca|wo|used to|going to|about to
    |(?:want|hope|try|tri|need|learn|seem|appear|like|love)[a-z]* to)"""
_BE = """(?:is|are|was|were|be|been|being|become|becomes|becoming|became|remain|remains|remained
    |ai|stayed|turn(?:s|ed)? (?:out to be|into)|seems?|seemed|proved)"""
_CALLED = "(?:called|named|born|considered|elected|appointed|declared|known as|like)"
_COPULA = rf"""(?:'(?:s|re|ll|d|ve))?(?:{_ADVERBS} {_AUXILIARY}(?:n't)?)*
    (?:{_ADVERBS} {_BE}(?:n't)?)+(?:{_ADVERBS} {_CALLED})?(?:, [^,;]{{1,25}},)?{_ADVERBS}"""
_DETERMINER = rf"""(?:an?|the|his|her|their|my|our|your|its|another|one|some|no|any|every|each|two
    |three|four|both|all|many|such|this|that|these|those|quite|much|(?:[\w-]+|[{NAME}{NOUN}])'s)"""
_NUMBER_OF = """(?:(?:one|two|three|some|both|most|all|none|half|more|much
    |(?:the|a) (?:kind|sort|type|first|last|[a-z]+est)) of)"""
_WORDS = rf"(?: {_WORD},?){{0,4}}+"
_PHRASE = rf"(?: (?:nothing|anything) but)?(?: {_NUMBER_OF})?(?: {_DETERMINER}){{0,2}}{_WORDS}"
"""What may come before a noun: *one of the two tall, old* (waiters)."""
_PREPOSITION = "(?:of|from|in|at|on|to|for|with|by|near|behind|beside|under|since|like)"
_PLACE = rf"(?: {_PREPOSITION}(?: [\w'-]+){{1,4}})"
_CONJUNCTION = "(?:and|or|nor|but|as well as)"
_CLAUSE = "(?:that|when|while|because|who|if|since|although|though|so)"
_CONJUNCT = rf"""(?:(?: (?!(?:{_CONJUNCTION}|{_CLAUSE})\b)[a-z][\w'-]*){{1,7}}+
    (?:,? {_CONJUNCTION}|,)(?: also)?)"""
_PERSON = rf"(?:{NOUN}|{ADJECTIVE}(?: {_WORD})?)"
_NO_VERB = rf"""(?=\s*(?:[.,;:!?]|- |$|{_PREPOSITION}\b
    |(?:who|whose|that|and(?! {NAME}(?!'))|or|but|when|because|than|more)\b))"""
"""Stands behind a noun that a verb would make the subject of a clause of its own."""
_SUBJECT = rf"[{NAME}{PRONOUN}]"
_OTHERS = rf"(?:(?:, [\w{NAME}]+)*,? (?:and|or|nor)(?: [\w{NAME}]+){{1,3}}?)?"
"""The others of a subject: *Ann* (, Bob and their boss)."""
_ROLE = rf"(?:(?:an?|the|his|her) )?(?:{_WORD} ){{0,3}}{_PERSON}{_NO_VERB}"
_APPOSITION = rf"(?:{_CONJUNCT}{{1,2}})?{_PHRASE} {_PERSON}{_NO_VERB}"
_FRONTED = rf"(?:(?:as|being|like|though|although|while|when|{_ADVERB}) )+(?:{_DETERMINER} )?"

_PREDICATES = (
    rf"""{_SUBJECT}{_OTHERS}(?:, [^;]{{1,60}}?,)?(?:,? (?:who|which))?{_COPULA}
    (?:{_PHRASE} {_PERSON}|{_CONJUNCT}{{1,3}}{_PHRASE} {_PERSON}{_NO_VERB})""",
    rf"{_SUBJECT}'(?:s|re){_ADVERBS} (?:an?|the|no|two|one)\b{_WORDS} {_PERSON}",
    rf"{_SUBJECT}'re{_PHRASE} {_PERSON}",
    rf"{NAME}[^;{NAME}]*? (?:and|but|then|or){_COPULA}{_PHRASE} {_PERSON}",
    rf"{NAME}, who [^;,]{{1,40}}{_COPULA}{_PHRASE} {_PERSON}",
    rf"{_SUBJECT}(?: [\w{NAME}]+){{1,3}} (?:to be|to become|of being){_PHRASE} {_PERSON}",
    rf"{_SUBJECT}(?![^;,]* as [a-z]+ as )(?:, who(?:se)?)?[^;,]{{0,60}}? as {_ROLE}",
    rf"{_SUBJECT}(?:,? who)?{_ADVERBS} (?:makes?|made) an?(?: {_WORD}){{1,3}} {_PERSON}{_NO_VERB}",
    rf"{_SUBJECT}(?:,? who)?(?:{_ADVERBS} {_AUXILIARY}(?:n't)?)*{_ADVERBS} {VERB}",
)
_APPOSITIONS = (
    rf"{NAME}{_OTHERS},{_ADVERBS}(?: as)?{_APPOSITION}",
    rf"{NAME} -{_APPOSITION}",
    rf"(?<!told )(?<!gave )(?<!showed )(?<!sent ){NAME} the{_WORDS} {_PERSON}",
)
_BEFORE_NAMES = (
    rf"{_PERSON} {NAME}",
    rf"{_PERSON}, {NAME}(?=[,.;!?]| and {NAME}[,.;]|$)",
    rf"{_PERSON} - {NAME}(?= -|[.;!?])",
    rf"\b(?:my|his|her|our|their|your) {_PERSON} and [a-z]\w+,? {NAME}",
    rf"^(?:{_FRONTED}|{_DETERMINER} )(?:{_WORD},? ){{0,4}}{_PERSON}{_PLACE}{{0,2}}, {NAME}",
    rf"{_PERSON} by the name of {NAME}",
    rf"\b(?:an?|one|some|certain) (?:{_WORD},? ){{0,4}}{_PERSON} (?:called|named) {NAME}",
    rf"{_PERSON}{_PLACE}?(?: (?:who|that) [^,;{NAME}]{{1,40}}?)?{_COPULA} {NAME}(?!')",
)


def gives_away(text: str, names: tuple[Span, ...], gender: Gender) -> bool:
    """Whether a word in a text says that one of its people is not of this gender.

    Args:
        text: a sentence.
        names: where its people's names stand.
        gender: what all of them should be.
    """
    other: Gender = "male" if gender == "female" else "female"
    signs = _signs(other)
    if signs["address"].search(text):
        return True
    if not signs["telling"].search(text):
        return False
    for start, end in sorted(names, reverse=True):
        text = f"{text[:start]}{NAME}{text[end:]}"
    for sign in (PRONOUN, VERB, NOUN, ADJECTIVE):
        text = signs[sign].sub(sign, text)
    return any(expression.search(text) for expression in _told_of_names())


@cache
def _signs(gender: Gender) -> dict[str, re.Pattern[str]]:
    """Return what finds a form of address, a telling word, and the words of each sign."""
    nouns = MASCULINE_NOUNS if gender == "male" else FEMININE_NOUNS
    adjectives, verbs = GENDERED_ADJECTIVES[gender], GENDERED_VERBS[gender]
    nouns |= {*map(plural, nouns)}

    def any_of(words: frozenset[str], behind: str = "") -> re.Pattern[str]:
        alternatives = "|".join(sorted(words, reverse=True))
        return re.compile(rf"\b(?:{alternatives})\b{behind}", re.IGNORECASE)

    return {
        "address": any_of(ADDRESSES[gender]),
        "telling": any_of(nouns | adjectives | verbs),
        PRONOUN: any_of(frozenset({"he", "she", "they"})),
        VERB: any_of(verbs),
        # a waiter's friend and a man-hater are neither
        NOUN: any_of(nouns, "(?!-|'s)"),
        ADJECTIVE: any_of(adjectives, "(?!-)"),
    }


@cache
def _told_of_names() -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile(re.sub(r"\n\s*", "", expression), re.IGNORECASE)
        for expression in (*_PREDICATES, *_APPOSITIONS, *_BEFORE_NAMES)
    )

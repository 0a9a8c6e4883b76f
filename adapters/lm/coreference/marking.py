"""Marks in a copy of a text, ``[[1|the cook]]``: how they are asked for, and how they are read."""

import re
from typing import NamedTuple

from pronominal.spans import Span

REQUEST = """\
Mark who and what a text talks about several times. Copy the text exactly, letter by letter, and \
put every expression that refers to a person or thing between double square brackets, with the \
number of that person or thing and a bar before it: [[1|expression]]. Expressions for the same \
person or thing have the same number. Pronouns and possessive pronouns are expressions, too. An \
expression may stand inside of another one. Correct nothing, leave nothing out, add nothing, and \
write nothing but the copy.

Text: The postman's sister told the florist that her roses would arrive before she closed.
Copy: [[1|[[2|The postman]]'s sister]] told [[3|the florist]] that [[4|[[3|her]] roses]] would \
arrive before [[3|she]] closed.

Text: {text}
Copy:"""
"""What a model is asked for each text; the example is a sentence of our own."""

RESERVED = re.compile(r"\[\[|\]\]")
"""What a text must not hold, since it could not be told from a mark."""

_TAG = re.compile(r"\[\[[ \t]*(?P<number>\w+)[ \t]*\||(?P<close>\]\])")
_STRAY = re.compile(r"\[\[|\]\]")


class MarksError(ValueError):
    """The marks in a copy are not balanced, or no marks."""


class Mark(NamedTuple):
    """A marked expression: which number it has, and where it stands in the plain copy."""

    number: str
    span: Span


class MarkedCopy(NamedTuple):
    """A copy of a text.

    Attributes:
        plain: the copy without marks.
        marks: in the order in which they close.
    """

    plain: str
    marks: list[Mark]


def request(text: str) -> str:
    """Return what a model is asked for a text."""
    return REQUEST.replace("{text}", text)


def read_marks(copy: str) -> MarkedCopy:
    """Separate a copy from its marks; white space at a mark's borders is not marked.

    A mark without an expression marks nothing. A number may be any word, as long as it is the same.

    Raises:
        MarksError: a mark is closed that is not open, or open at the end, or has no number.

    >>> read_marks("[[1|[[2|Ann]]'s dog]] barked.").plain
    "Ann's dog barked."
    """
    pieces: list[str] = []
    open_marks: list[tuple[str, int]] = []
    marks: list[Mark] = []
    length = read = 0
    for tag in _TAG.finditer(copy):
        pieces.append(copy[read : tag.start()])
        length += len(pieces[-1])
        read = tag.end()
        if tag["number"]:
            open_marks.append((tag["number"], length))
        elif open_marks:
            number, start = open_marks.pop()
            marks.append(Mark(number, Span(start, length)))
        else:
            raise MarksError("a mark is closed that is not open")
    pieces.append(copy[read:])
    if open_marks:
        raise MarksError("a mark is not closed")
    if any(map(_STRAY.search, pieces)):
        raise MarksError("a mark has no number")
    plain = "".join(pieces)
    trimmed = (Mark(number, _trimmed(plain, span)) for number, span in marks)
    return MarkedCopy(plain, [mark for mark in trimmed if mark.span.start < mark.span.end])


def _trimmed(plain: str, span: Span) -> Span:
    words = plain[span.start : span.end]
    start = span.start + len(words) - len(words.lstrip())
    return Span(start, max(start, span.start + len(words.rstrip())))

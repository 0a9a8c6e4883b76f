r"""Where another tokeniser's words are in a text of ours.

Words are looked for one by one, as they are first. Each may be written in the ways that
tokenisers change: brackets as ``-LRB-``, quotation marks as ``` `` ``` and ``''``, dashes,
ellipses, ``\/`` for ``/``, ``/.`` for ``.``, and white space anywhere.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice

from pronominal.spans import Span

UNKNOWN = "[UNK]"
"""A word piece that stands for any word that BERT's tokeniser sees."""

# what a tokeniser may drop or add between two characters
_GAP = r"[\s\u00ad\u200b-\u200d\u2060\ufeff]*"

_UNIT = re.compile(r"-[LR][RSC]B-|\[UNK\]|``|''|--|\.\.\.|\\[/*]|\S", re.IGNORECASE)

_ESCAPE = re.compile(r"-[LR][RSC]B-", re.IGNORECASE)
_BRACKETS = dict(zip(("-LRB-", "-RRB-", "-LSB-", "-RSB-", "-LCB-", "-RCB-"), "()[]{}", strict=True))
_DOUBLE_QUOTES = ("``", "''", *'"“”„‟«»')
_SINGLE_QUOTES = tuple("'‘’‚‛`´")
_DASHES = ("--", *"-‐‑‒–—―")
_ELLIPSES = ("...", "…")
_SLASHED = ("/.", "/?", "/-")

_WRITTEN: dict[str, str] = {
    **{unit: f"(?:{unit}|{re.escape(bracket)})" for unit, bracket in _BRACKETS.items()},
    **dict.fromkeys(_DOUBLE_QUOTES, "(?:``|''|[\"“”„‟«»])"),
    **dict.fromkeys(_SINGLE_QUOTES, "['‘’‚‛`´]"),
    **dict.fromkeys(_DASHES, "(?:--|[-‐‑‒–—―])"),
    **dict.fromkeys(_ELLIPSES, r"(?:\.\s*\.\s*\.|…)"),
    # the Penn Treebank's tokeniser has no other currencies
    **{"#": "[#£]", "$": "[$€]", r"\/": r"\\?/", r"\*": r"\\?\*"},
    UNKNOWN: r"(?:\[UNK\]|(?>[^\W_]+|[^\w\s]|_))",
}
"""What a text may have where a word has one of these."""

LONGEST_UNIT = max(map(len, (*_BRACKETS, UNKNOWN)))
"""How many characters of a word stand for one of the text at most."""


class MisalignedError(ValueError):
    """The words are not those of the text.

    Attributes:
        word: index of the first word that does not follow those before it; the number of
            words where the text goes on behind the last one.
    """

    def __init__(self, word: int) -> None:
        super().__init__(f"word {word} is not in its place")
        self.word = word


def places(words: Sequence[str], text: str) -> list[Span]:
    """Return the characters of each word of a text: all its words, in order, of any tokeniser.

    `MisalignedError` if they are not the words of this text.
    """
    left = LONGEST_UNIT * len(text)
    for index, word in enumerate(words):
        # no character is written with more than -LRB- has, and patterns of long texts are slow
        left -= 0 if word.isspace() else len(word)
        if left < 0:
            raise MisalignedError(index)
    aligned = _one_by_one(words, text)
    if len(aligned) == len(words) and not text[aligned[-1].end if aligned else 0 :].strip():
        return aligned
    # a word was taken for too little or too much of the text, or is none of it
    patterns = [_pattern(word) for word in words]
    if len(aligned) < len(words) and _misplaced(patterns[: len(aligned) + 1], text):
        raise MisalignedError(len(aligned))
    match = re.compile("".join([*patterns, _GAP]), re.IGNORECASE).fullmatch(text)
    if match is None:
        counts = range(1, len(patterns) + 1)
        wrong = bisect_left(counts, True, key=lambda count: _misplaced(patterns[:count], text))
        raise MisalignedError(wrong)
    return [Span(*match.span(group)) for group in range(1, len(words) + 1)]


def character_places(other: str, text: str) -> dict[int, Span]:
    """Return, for each character of another writing of a text, its place; none for white space.

    `MisalignedError` if it is another text.
    """
    letters = (index for index, character in enumerate(other) if not character.isspace())
    # of a much longer one no more than shows that it is another
    drawn = [*islice(letters, LONGEST_UNIT * len(text) + 1)]
    return dict(zip(drawn, places([other[index] for index in drawn], text), strict=True))


def skeleton(text: str) -> str:
    """Return a text's letters and digits, by which it is found again after any tokenisation."""
    return "".join(filter(str.isalnum, _ESCAPE.sub("", text))).casefold()


def _one_by_one(words: Sequence[str], text: str) -> list[Span]:
    """Place each word behind the one before it, up to the first that is not there."""
    aligned: list[Span] = []
    end = 0
    for word in words:
        start = end
        while start < len(text) and text[start].isspace():
            start += 1
        if word.isspace():
            # a word of white space is at the end of a gap, as spaCy has it
            start, end = max(end, start - len(word)), start
        elif text.startswith(word, start):
            end = start + len(word)
        else:
            match = _compiled(word).match(text, start)
            if match is None:
                break
            start, end = match.span(1)
        aligned.append(Span(start, end))
    return aligned


def _misplaced(patterns: Sequence[str], text: str) -> bool:
    return re.compile("".join(patterns), re.IGNORECASE).match(text) is None


@lru_cache(maxsize=1 << 14)
def _compiled(word: str) -> re.Pattern[str]:
    return re.compile(_pattern(word), re.IGNORECASE)


def _pattern(word: str) -> str:
    if word in _SLASHED:
        return f"{_GAP}(/?{re.escape(word[1])})"
    units = (_WRITTEN.get(unit.upper()) or re.escape(unit) for unit in _UNIT.findall(word))
    return f"{_GAP}({_GAP.join(units)})"

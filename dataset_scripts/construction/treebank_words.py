"""Words of the Penn Treebank kind, as NLTK divides them, each stretch between blanks only once.

NLTK's rules look across a blank in one place only: a last period may have closing brackets and
quotes behind it. So all stretches but the last ones mean the same in every sentence, and since
few words make up most of a text, most of them have been divided before.
"""

from functools import cache, lru_cache
from itertools import chain
from typing import Any

from pronominal.errors import InputError

REMEMBERED = 1 << 17
"""Stretches that are remembered, some 20 MB."""
CLOSING = " ]})>\"'»”’"

SIGNS = ",;:?!"
LAST_SIGNS = (".", *SIGNS)
DIVIDED = frozenset(("cannot", "gimme", "gonna", "gotta", "lemme", "wanna"))
"""Words of letters that NLTK divides."""

Words = tuple[str, ...]


def treebank_words(text: str) -> list[str]:
    """Return what NLTK's ``NLTKWordTokenizer().tokenize(text)`` returns, but for quotation marks.

    A quotation mark that begins the text may be written in another way.
    """
    end = len(text.rstrip(CLOSING))
    border = text.rfind(" ", 0, end) + 1
    before = chain.from_iterable(map(_inside, text[:border].split()))
    return [*before, *_last(text[border:])]


@lru_cache(REMEMBERED)
def _inside(stretch: str) -> Words:
    word, sign = (stretch[:-1], stretch[-1:]) if stretch[-1] in SIGNS else (stretch, "")
    if word.isalpha() and word.lower() not in DIVIDED:
        return (word, sign) if sign else (word,)
    return tuple(_tokenizer().tokenize(f"x {stretch} x")[1:-1])


@lru_cache(REMEMBERED)
def _last(stretch: str) -> Words:
    word, sign = stretch[:-1], stretch[-1:]
    if sign in LAST_SIGNS and word.isalpha() and word.lower() not in DIVIDED:
        return word, sign
    return tuple(_tokenizer().tokenize(f"x {stretch}")[1:])


@cache
def _tokenizer() -> Any:
    try:
        from nltk.tokenize.destructive import NLTKWordTokenizer
    except ImportError as error:
        cause = "the released code's rule needs NLTK's words"
        raise InputError(cause, cure="pip install 'pronominal[construct]'") from error
    return NLTKWordTokenizer()

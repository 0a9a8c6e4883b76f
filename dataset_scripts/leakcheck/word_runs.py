"""Text as hashed words: what all copies of a sentence share, however they are laid out.

A word is a run of ASCII letters, lower-cased; everything else separates words, so case, line
breaks, digits, punctuation, typographic quotes, Markdown and the encoding of the text do not
matter. Passed over are words of one letter ('s, <b>, A.), third-person pronouns, so that a
sentence of a template is the same for every pronoun set, and the names of markup and of slots.
"""

import re
import string
import sys
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronominal.pronouns import PRONOUN_SETS

Hashes = NDArray[np.uint64]
"""One 64-bit hash for each word, or for each run of words."""

# sets listed by Lauscher, Crowley and Hovy (2022), and their spelling variants
NEOPRONOUNS = """
    ae aer aers aerself co cos coself ey em eir eirs emself eirself fae faer faers faerself
    ne nem nir nirs nemself per pers perself thon thons thonself ve ver vis verself
    xyself ze zie hir hirs hirself zir zirs zirself
"""
# slots of templates ($NOM_PRONOUN, [MASK]), inline HTML and its entities, LaTeX fonts (\t of
# \textbf was taken for a tab)
MARKUP = """
    pronoun nom acc poss mask
    br em span strong sub sup amp apos gt hellip ldquo lsquo lt mdash nbsp ndash quot rdquo rsquo
    emph extbf extit extsc underline
"""
PASSED_OVER = frozenset(
    {form for pronouns in PRONOUN_SETS for form in pronouns.forms}
    | {"themselves", *NEOPRONOUNS.split(), *MARKUP.split()}
)

# odd 64-bit constants: multiplying by one loses nothing
FACTORS = tuple(
    np.uint64(factor) for factor in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93)
)
# of each byte, whether JSON escapes white space by it, and whether it is a hexadecimal digit
IS_WHITE, IS_HEXADECIMAL = (
    np.isin(np.arange(256), list(characters)) for characters in (b"nrt", b"0123456789abcdefABCDEF")
)
FIRST_LETTERS = np.array([(1 << 8 * length) - 1 for length in range(9)], dtype=np.uint64)
WINDOW = 8
# soft hyphen, zero-width space, non-joiner and joiner, word joiner, byte order mark
ZERO_WIDTH = "\u00ad\u200b\u200c\u200d\u2060\ufeff"
# &#84; and &#x54;, also where the ampersand was escaped once more
ENTITY = re.compile(rb"&(?:amp;)*#(?:0*([0-9]{1,7})|[xX]0*([0-9a-fA-F]{1,6}));")
# JSON's \u0054
JSON_CODE = re.compile(rb"\\u()([0-9a-fA-F]{4})")
JSON_LETTERS = frozenset(
    b"%04x" % ord(character) for character in string.ascii_letters + ZERO_WIDTH
)


class Words(NamedTuple):
    """The words of a text that count.

    Attributes:
        hashes: one for each word.
        starts: byte offset of each word.
    """

    hashes: Hashes
    starts: NDArray[np.intp]


class Sieve:
    """A set of hashes that lets all its members through, and few others.

    The leading `bits` of a hash are looked at; the table takes 2**bits bytes.
    """

    def __init__(self, members: Hashes, bits: int) -> None:
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, dtype=np.bool_)
        self._table[members >> self._shift] = True

    @classmethod
    def unpacked(cls, content: bytes) -> "Sieve":
        """Return the sieve of which this is what `packed` gave."""
        table = np.unpackbits(np.frombuffer(content, dtype=np.uint8))
        bits = len(table).bit_length() - 1
        return cls(np.flatnonzero(table).astype(np.uint64) << np.uint64(64 - bits), bits)

    def packed(self) -> bytes:
        """Return the sieve as bytes, one bit for each member that there could be."""
        return np.packbits(self._table).tobytes()

    def candidates(self, hashes: Hashes) -> NDArray[np.intp]:
        """Return the places of the hashes that may be members."""
        # as signed numbers, which need no copy to be indices
        return self._table[(hashes >> self._shift).view(np.intp)].nonzero()[0]


def are_among(hashes: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """Return which of some hashes are known; the known ones are sorted, and there is one."""
    nearest = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    found: NDArray[np.bool_] = known[nearest] == hashes
    return found


def hashed_words(text: bytes) -> Words:
    """Return the words of a text in any encoding that contains ASCII, valid or not."""
    words = _every_word(text)
    suspects = PASSED_OVER_SIEVE.candidates(words.hashes)
    passed_over = suspects[are_among(words.hashes[suspects], PASSED_OVER_HASHES)]
    kept = np.ones(len(words.hashes), dtype=np.bool_)
    kept[passed_over] = False
    return Words(words.hashes[kept], words.starts[kept])


def plain(text: bytes) -> bytes:
    """Return a text in UTF-8 with escaped letters as letters, and without what cannot be seen.

    Taken out are the characters that divide a word and have no width.
    """
    if b"&#" in text or b"&amp;#" in text:
        text = ENTITY.sub(_unescaped, text)
    if _has_json_letters(text):
        text = JSON_CODE.sub(_unescaped, text)
    if not text.isascii():
        for character in ZERO_WIDTH:
            text = text.replace(character.encode(), b"")
    return text


def _has_json_letters(text: bytes) -> bool:
    """Whether letters, or what cannot be seen, are written as JSON's codes, which is rare."""
    if b"\\" not in text or len(text) < len(r"\u0054"):
        return False
    characters = np.frombuffer(text, dtype=np.uint8)
    marks = np.flatnonzero(characters[: -len("u0054")] == ord("\\"))
    marks = marks[characters[marks + 1] == ord("u")]
    codes = np.ndarray((len(text) - 3,), dtype="<u4", buffer=characters, strides=(1,))[marks + 2]
    return not JSON_LETTERS.isdisjoint(code.tobytes().lower() for code in np.unique(codes))


def _unescaped(escape: re.Match[bytes]) -> bytes:
    decimal, hexadecimal = escape.groups()
    code = int(decimal) if decimal else int(hexadecimal, 16)
    character = chr(code) if code <= sys.maxunicode else " "
    if character in ZERO_WIDTH:
        return b""
    return character.encode() if character.isascii() and character.isalpha() else b" "


def prefix_hashes(columns: Iterable[Hashes]) -> Iterator[Hashes]:
    """Yield the hashes of runs of one word, two words, and so on.

    The columns are the hashes of the runs' first words, of their second words, and so on; one may
    be shorter than the one before it, and then the last runs end there.
    """
    runs: Hashes | None = None
    for column in columns:
        runs = column if runs is None else runs[: len(column)] * FACTORS[0] + column
        yield runs


def scattered(hashes: Hashes) -> Hashes:
    """Return hashes whose leading bits depend on every bit, so that a few of them tell little."""
    return (hashes ^ (hashes >> np.uint64(32))) * FACTORS[1]


def _every_word(text: bytes) -> Words:
    """Hash every word of two letters and more, by its first 8, its last 8 and its length."""
    letters = np.zeros(len(text) + 2 * WINDOW, dtype=np.uint8)
    letters[WINDOW:-WINDOW] = np.frombuffer(text, dtype=np.uint8)
    if b"\\" in text:
        _blank_escapes(letters)
    letters |= 0x20
    is_letter = (letters - np.uint8(ord("a"))) < 26
    edges = np.flatnonzero(is_letter[1:] != is_letter[:-1]) + 1
    starts, lengths = edges[0::2], edges[1::2] - edges[0::2]
    longer = lengths > 1
    starts, lengths = starts[longer], lengths[longer]
    windows = np.ndarray((len(letters) - WINDOW + 1,), dtype="<u8", buffer=letters, strides=(1,))
    hashes = windows[starts] & FIRST_LETTERS[np.minimum(lengths, WINDOW)]
    long = np.flatnonzero(lengths > WINDOW)
    ends = windows[starts[long] + lengths[long] - WINDOW]
    hashes[long] ^= (ends + lengths[long].astype(np.uint64)) * FACTORS[1]
    hashes *= FACTORS[0]
    hashes ^= hashes >> np.uint64(29)
    hashes *= FACTORS[2]
    return Words(hashes, starts - WINDOW)


def _blank_escapes(text: NDArray[np.uint8]) -> None:
    r"""Put spaces for the letters of JSON's \n, \r, \t and \u2019, which are not words'."""
    marks = np.flatnonzero(text == ord("\\"))
    text[marks[IS_WHITE[text[marks + 1]]] + 1] = ord(" ")
    marks = marks[text[marks + 1] == ord("u")]
    digits = marks[:, np.newaxis] + np.arange(2, 6)
    is_code = IS_HEXADECIMAL[text[digits]].all(axis=1)
    text[digits[is_code]] = ord(" ")


PASSED_OVER_HASHES = np.sort(_every_word(" ".join(sorted(PASSED_OVER)).encode()).hashes)
PASSED_OVER_SIEVE = Sieve(PASSED_OVER_HASHES, bits=14)

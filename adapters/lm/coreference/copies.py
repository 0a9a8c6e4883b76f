"""Where the characters of a copy are in its text, as far as that is certain."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from pronominal.pronouns import PRONOUN_SETS
from pronominal.spans import Span

State = Literal["verbatim", "normalised", "repaired"]
"""How much of a copy is its text: all, all but ways of writing, or nearly all words."""

ENOUGH = 0.9
"""The least share of a text's words that are certain in a copy that is repaired."""

_WORD = re.compile(r"\w+|[^\w\s]")
_CLUSTERS = re.compile(r"\s+|\S[\u0300-\u036f]*")
_WAYS = {
    **dict.fromkeys("‘’‚‛`´", "'"),
    **dict.fromkeys("“”„‟«»", '"'),
    **dict.fromkeys("‐‑‒–—―", "-"),
    "…": "...",
}
_PRONOUNS = frozenset(form for one in PRONOUN_SETS for form in one.forms)


class OtherTextError(ValueError):
    """A copy is of another text than it should be."""


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy, and which of its spans are certain in the text.

    Attributes:
        state: how much of the text it is.
        starts: offset in the copy -> offset in the text, where a span may begin.
        ends: the same for the ends of spans.
        runs: offset in the copy -> number of the run of certain words around it; a span must not
            reach across two.
        lost: the words of the text that are not certain.
    """

    state: State
    starts: dict[int, int]
    ends: dict[int, int]
    runs: dict[int, int]
    lost: tuple[Span, ...] = ()

    def located(self, span: Span) -> Span | None:
        """Return where a span of the copy is in the text; None where that is not certain."""
        start, end = self.starts.get(span.start), self.ends.get(span.end)
        whole = self.runs.get(span.start) == self.runs.get(span.end - 1) is not None
        return Span(start, end) if whole and start is not None and end is not None else None

    def has_lost(self, span: Span) -> bool:
        """Say whether a word in this span of the text is not certain."""
        return any(word.start < span.end and span.start < word.end for word in self.lost)


def copy_of(plain: str, text: str) -> Copy:
    """Say where the parts of a copy are in its text.

    The copy is compared as it is, then with quotation marks, dashes, white space and composed
    characters written one way, and then word by word. A word is certain when it has the same place
    in the alignment from the front as in the one from the back, so that no repetition is taken for
    another. Of a text whose pronouns were changed, or any word for another, nothing is
    certain: it may be the one that is asked about.

    Raises:
        OtherTextError: fewer than `ENOUGH` of the text's words are certain, or not all pronouns, or
            there is another word in the place of one.
    """
    if plain == text:
        places = {place: place for place in range(len(text) + 1)}
        return Copy("verbatim", places, places, dict.fromkeys(places, 0))
    copied, original = _written_one_way(plain), _written_one_way(text)
    if copied.form == original.form:
        starts: dict[int, int] = {}
        ends: dict[int, int] = {}
        for (own, own_end), (start, end) in zip(copied.places, original.places, strict=True):
            starts.setdefault(own, start)
            ends[own_end] = end
        return Copy("normalised", starts, ends, dict.fromkeys(range(len(plain)), 0))
    return _repaired(copied, original, len(plain))


@dataclass(frozen=True, slots=True)
class _Written:
    """A text in one way of writing, and where each of its characters comes from."""

    form: str
    places: list[Span]

    def words(self) -> list[tuple[str, Span]]:
        """Return the words, each with its place in the text as it was."""
        found = []
        for word in _WORD.finditer(self.form):
            start, end = self.places[word.start()].start, self.places[word.end() - 1].end
            found.append((word.group(), Span(start, end)))
        return found


def _written_one_way(text: str) -> _Written:
    whole = text.rstrip()
    form: list[str] = []
    places: list[Span] = []
    for part in _CLUSTERS.finditer(whole, len(text) - len(text.lstrip())):
        composed = unicodedata.normalize("NFC", part.group())
        written = " " if composed.isspace() else "".join(_WAYS.get(one, one) for one in composed)
        form.append(written)
        places += [Span(*part.span())] * len(written)
    return _Written("".join(form), places)


def _repaired(copied: _Written, original: _Written, length: int) -> Copy:
    own, words = copied.words(), original.words()
    said, meant = [word for word, _ in own], [word for word, _ in words]
    certain = _certain(said, meant)
    known = {*certain.values()}
    lost = [one for index, one in enumerate(words) if index not in known]
    if len(known) < ENOUGH * len(words):
        raise OtherTextError(f"{len(known)} of the {len(words)} words are in their places")
    if any(word.casefold() in _PRONOUNS for word, _ in lost):
        raise OtherTextError("a pronoun of the text is not in its place")
    if _has_other_words(said, meant):
        raise OtherTextError("another word is in the place of one")
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    runs: dict[int, int] = {}
    run = 0
    for number, (place, index) in enumerate(pairs := sorted(certain.items())):
        if number and (pairs[number - 1][0] + 1, pairs[number - 1][1] + 1) != (place, index):
            run += 1
        span, target = own[place][1], words[index][1]
        starts[span.start], ends[span.end] = target.start, target.end
        runs |= dict.fromkeys(range(span.start, min(span.end, length)), run)
    return Copy("repaired", starts, ends, runs, tuple(place for _, place in lost))


def _certain(own: Sequence[str], words: Sequence[str]) -> dict[int, int]:
    """Return the words of a copy that have one place, by front and back: index -> index."""
    front = _aligned(own, words)
    back = _aligned(own[::-1], words[::-1])
    last_own, last = len(own) - 1, len(words) - 1
    mirrored = {last_own - place: last - index for place, index in back.items()}
    return {place: index for place, index in front.items() if mirrored.get(place) == index}


def _has_other_words(own: Sequence[str], words: Sequence[str]) -> bool:
    """Say whether words of a text were replaced, and not only left out, or written in capitals."""
    said, meant = ([word.casefold() for word in one] for one in (own, words))
    return any(
        change == "replace" and any(word[0].isalnum() for word in words[start:end])
        for change, _, _, start, end in SequenceMatcher(None, said, meant, False).get_opcodes()
    )


def _aligned(own: Sequence[str], words: Sequence[str]) -> dict[int, int]:
    blocks = SequenceMatcher(None, own, words, autojunk=False).get_matching_blocks()
    return {a + step: b + step for a, b, size in blocks for step in range(size)}

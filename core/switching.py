"""Antecedent switching (KnowRef, section 4.1): the two candidates change places.

A system that reads the sentence must change its answer with it; one that is bound to a name or to
a position does not. The exchange is verbatim: every whole-word occurrence of either name becomes
the other name, in one pass, and nothing else changes.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention, Span

ARTICLES = ("The ", "A ", "An ")
SAME_NAME = "both candidates have the same name"
OTHER_CASE = (
    "candidate {} stands there in the other case, too, which takes repair_case (--repair-case)"
)


class Unswitchable(ValueError):  # noqa: N818 - a property of the instance, not a mistake
    """An instance whose candidates cannot change places.

    Attributes:
        reason: why, as a fixed phrase without the instance's text.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Occurrence(NamedTuple):
    """One occurrence of a candidate's name.

    Attributes:
        start: first code point of the name.
        end: one after its last code point.
        candidate: index of the candidate.
    """

    start: int
    end: int
    candidate: int


def occurrences(text: str, names: Sequence[str]) -> list[Occurrence]:
    """Return every whole-word occurrence of the names, from left to right, none overlapping.

    A name is whole when no letter, digit or underscore touches it. Where two names begin at the
    same place the longer one counts, so that a name inside the other's is not an occurrence.
    """
    # an alternation with guards says the same, but compiling one for each pair of names takes ten
    # times as long
    upcoming = [
        [_next(text, name, 0), -len(name), index] for index, name in enumerate(names) if name
    ]
    whole = []
    while upcoming:
        start, length, index = min(upcoming)
        if start == len(text):
            break
        end = start - length
        whole.append(Occurrence(start, end, index))
        for entry in upcoming:
            if entry[0] < end:
                entry[0] = _next(text, names[entry[2]], end)
    return whole


def _next(text: str, name: str, start: int) -> int:
    """Return where the name next occurs as whole words, the text's length when it does not."""
    while (start := text.find(name, start)) >= 0:
        end = start + len(name)
        if not (_in_word(text[start - 1 : start]) or _in_word(text[end : end + 1])):
            return start
        start += 1
    return len(text)


def _in_word(character: str) -> bool:
    if not character:
        return False
    # an accent that is a character of its own belongs to the letter before it
    return character.isalnum() or character == "_" or unicodedata.combining(character) > 0


def locate_candidates(text: str, names: Sequence[str], pronoun: Span) -> tuple[Mention, ...]:
    """Return each candidate's first occurrence that is apart from the pronoun.

    A candidate without one has the offsets -1. Two candidates of the same name share a place.
    """
    places: dict[str, Span] = {}
    for start, end, index in occurrences(text, names):
        if end <= pronoun.start or start >= pronoun.end:
            places.setdefault(names[index], Span(start, end))
    return tuple(Mention(name, *places.get(name, (-1, -1))) for name in names)


def switch(instance: ResolutionInstance, *, repair_case: bool = False) -> ResolutionInstance:
    """Let the two candidates of an instance change places.

    Candidates keep their index and text; each is now where the other one was marked. The
    label goes from 0 to 1 or from 1 to 0; any other one (GAP's *neither*) stays, as do the id and
    the dataset's own columns. Switching twice gives back the same instance.

    Args:
        instance: two candidates with offsets; a pronoun without offsets stays without.
        repair_case: begin a name at the start of a sentence with a capital, and one elsewhere
            that begins with *The*, *A* or *An* without. Candidates then take the case they have
            in the text. Switching twice gives back the text if its names had the repaired case
            already and every one in lower case begins with an article.

    Raises:
        Unswitchable: a candidate is absent, both have one name, the pronoun is part of a name,
            without `repair_case` a name that begins with an article or in lower case occurs in
            the other case, too, or the exchange could not be undone.
    """
    first, second = _two_candidates(instance)
    names: tuple[str, ...] = (first.text, second.text)
    if repair_case:
        # each occurrence is recognised in the case that it would have in the other place, too
        names += (_other_case(first.text), _other_case(second.text))
        if first.text == names[3] or second.text == names[2]:
            raise Unswitchable(SAME_NAME)
    else:
        _refuse_other_case(instance.text, names)
    old = [Occurrence(s, e, index % 2) for s, e, index in occurrences(instance.text, names)]
    marked = _marked(instance, old)
    text, new = _exchange(instance.text, old, names[:2], repair_case)
    if not repair_case:
        _refuse_other_case(text, names)
    # the exchanged names must be found again, and nothing else: then a second switch undoes this
    again = [Occurrence(s, e, index % 2) for s, e, index in occurrences(text, names)]
    if again != new:
        raise Unswitchable("the exchanged names would run together with the words beside them")
    new_first, new_second = (new[place] for place in reversed(marked))
    return replace(
        instance,
        text=text,
        pronoun=_moved(instance.pronoun, old, new),
        candidates=(_mention(text, new_first), _mention(text, new_second)),
        label=1 - instance.label if instance.label in (0, 1) else instance.label,
    )


def switch_row(row: Mapping[str, Any], *, repair_case: bool = False) -> dict[str, Any]:
    """Switch one row of a published table; see `switch`."""
    # in the order of the row's own columns
    return {**row, **switch(ResolutionInstance.from_row(row), repair_case=repair_case).to_row()}


def switched_rows(
    rows: Iterable[Mapping[str, Any]], *, repair_case: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a published table switched, without those that cannot be."""
    for row in rows:
        with suppress(Unswitchable):
            yield switch_row(row, repair_case=repair_case)


def _two_candidates(instance: ResolutionInstance) -> tuple[Mention, Mention]:
    if len(instance.candidates) != 2:
        raise Unswitchable(f"there are {len(instance.candidates)} candidates instead of two")
    first, second = instance.candidates
    for index, candidate in enumerate(instance.candidates):
        if not candidate.located or not candidate.text:
            raise Unswitchable(f"candidate {index} is not in the text")
        if not candidate.stands_in(instance.text):
            raise Unswitchable(f"the offsets of candidate {index} do not hold its name")
    if first.text == second.text:
        raise Unswitchable(SAME_NAME)
    if instance.pronoun.located and not instance.pronoun.stands_in(instance.text):
        raise Unswitchable("the offsets of the pronoun do not hold it")
    return first, second


def _refuse_other_case(text: str, names: Sequence[str]) -> None:
    """Refuse a text in which some mentions of a name would stay, and the flipped label be wrong."""
    for index, name in enumerate(names):
        other = _other_case(name)
        if other not in names and _next(text, other, 0) < len(text):
            raise Unswitchable(OTHER_CASE.format(index))


def _marked(instance: ResolutionInstance, old: Sequence[Occurrence]) -> list[int]:
    """Return which occurrence is the marked one of each candidate."""
    pronoun = instance.pronoun
    for start, end, index in old:
        if pronoun.located and start < pronoun.end and pronoun.start < end:
            raise Unswitchable(f"the pronoun is part of the name of candidate {index}")
    marked = []
    for index, candidate in enumerate(instance.candidates):
        occurrence = Occurrence(candidate.start, candidate.end, index)
        if occurrence not in old:
            raise Unswitchable(f"candidate {index} is marked inside a longer word or name")
        marked.append(old.index(occurrence))
    return marked


def _exchange(
    text: str, old: Sequence[Occurrence], names: Sequence[str], repair_case: bool
) -> tuple[str, list[Occurrence]]:
    """Write the other name in each place; return the text and the places of the new names."""
    pieces: list[str] = []
    new = []
    shift = done = 0
    for start, end, index in old:
        name = names[1 - index]
        if repair_case:
            name = _in_case(name, text[:start])
        pieces += (text[done:start], name)
        new.append(Occurrence(start + shift, start + shift + len(name), 1 - index))
        shift, done = new[-1].end - end, end
    return "".join((*pieces, text[done:])), new


def _moved(pronoun: Mention, old: Sequence[Occurrence], new: Sequence[Occurrence]) -> Mention:
    shift = 0
    for before, after in zip(old, new, strict=True):
        if before.end <= pronoun.start:
            shift = after.end - before.end
    return Mention(pronoun.text, pronoun.start + shift, pronoun.end + shift)


def _mention(text: str, name: Occurrence) -> Mention:
    return Mention(text[name.start : name.end], name.start, name.end)


def _in_case(name: str, before: str) -> str:
    """Return a name as it is written behind a text: with a capital where a sentence begins."""
    before = before.rstrip(" \t\r\n\"'`([“‘")
    begins_sentence = not before or before[-1] in ".!?"
    mendable = name[0].islower() if begins_sentence else name.startswith(ARTICLES)
    return _other_case(name) if mendable else name


def _other_case(name: str) -> str:
    """Return how a name that begins in lower case or with an article looks in the other case."""
    if name[0].islower():
        return name[0].upper() + name[1:]
    return name[0].lower() + name[1:] if name.startswith(ARTICLES) else name

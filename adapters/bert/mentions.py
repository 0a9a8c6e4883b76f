"""Which mention of a candidate a classifier reads, and texts with placeholder names."""

from collections.abc import Sequence
from dataclasses import replace

from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention, Span
from pronominal.switching import Occurrence, occurrences

PLACEHOLDERS = ("Jordan", "Taylor", "Morgan", "Casey", "Riley", "Jamie")
"""Names for the first and the second mention, the first two that no one else in the text has.

Each is one subword in common vocabularies, and of any gender.
"""


def nearest_mention(instance: ResolutionInstance, candidate: int) -> Span:
    """Return the last mention of a candidate before the pronoun, else the first one after it.

    A mention is the marked one, or any other place where the candidate's whole name occurs.
    """
    pronoun, marked = instance.pronoun, instance.candidates[candidate].span
    names = [one.text for one in instance.candidates]
    spans = {
        Span(start, end)
        for start, end, index in occurrences(instance.text, names)
        if names[index] == names[candidate]
    }
    spans = {
        one for one in spans | {marked} if one.end <= pronoun.start or one.start >= pronoun.end
    }
    before = [one for one in spans if one.end <= pronoun.start]
    return max(before) if before else min(spans, default=marked)


def first_mentioned(instance: ResolutionInstance) -> int:
    """Return the index of the candidate that is marked first in the text."""
    return min((0, 1), key=lambda index: instance.candidates[index].start)


def with_placeholders(instance: ResolutionInstance) -> ResolutionInstance | None:
    """Call both candidates by fixed names (see `PLACEHOLDERS`), in the order of their mentions.

    The text of an instance and that of its switched version are then the same, so that a system
    that reads nothing else answers both alike. None where a candidate is marked inside a longer
    word, which cannot be renamed.
    """
    names = [one.text for one in instance.candidates]
    marked = [one.start for one in instance.candidates]
    pronoun = instance.pronoun
    places = [
        one
        for one in occurrences(instance.text, names)
        if one.end <= pronoun.start or pronoun.end <= one.start
    ]
    first = first_mentioned(instance)
    called = dict(zip((first, 1 - first), _free_names(instance.text, places), strict=True))
    pieces: list[str] = []
    moved: dict[int, int] = {}
    done = length = shift = 0
    for start, end, index in places:
        name = called[index]
        pieces += (instance.text[done:start], name)
        length += start - done
        moved[start] = length
        length, done = length + len(name), end
        if end <= pronoun.start:
            shift = length - done
    if not all(start in moved for start in marked):
        return None
    return replace(
        instance,
        text="".join((*pieces, instance.text[done:])),
        pronoun=Mention(pronoun.text, pronoun.start + shift, pronoun.end + shift),
        candidates=tuple(
            Mention(called[index], moved[start], moved[start] + len(called[index]))
            for index, start in enumerate(marked)
        ),
    )


def _free_names(text: str, replaced: Sequence[Occurrence]) -> list[str]:
    """Return the two placeholders for a text; a third person's would be taken for a candidate's."""
    taken = {
        PLACEHOLDERS[index]
        for start, end, index in occurrences(text, PLACEHOLDERS)
        if all(end <= one.start or one.end <= start for one in replaced)
    }
    return sorted(PLACEHOLDERS, key=taken.__contains__)[:2]

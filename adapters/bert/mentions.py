"""Which mention of a candidate a classifier reads, and texts with placeholder names."""

from dataclasses import replace

from pronominal.instances import ResolutionInstance
from pronominal.spans import Mention, Span
from pronominal.switching import occurrences

PLACEHOLDERS = ("Jordan", "Taylor")
"""Names for the first and the second mention: one subword in common vocabularies, any gender."""


def nearest_mention(instance: ResolutionInstance, candidate: int) -> Span:
    """Return the last mention of a candidate before the pronoun, else the first one after it.

    A mention is the marked one, or any other place where the candidate's name stands whole.
    """
    pronoun, marked = instance.pronoun, instance.candidates[candidate].span
    names = [one.text for one in instance.candidates]
    found = {
        Span(start, end)
        for start, end, index in occurrences(instance.text, names)
        if names[index] == names[candidate]
    }
    found = {
        one for one in found | {marked} if one.end <= pronoun.start or one.start >= pronoun.end
    }
    before = [one for one in found if one.end <= pronoun.start]
    return max(before) if before else min(found, default=marked)


def first_mentioned(instance: ResolutionInstance) -> int:
    """Return the index of the candidate that is marked first in the text."""
    return min((0, 1), key=lambda index: instance.candidates[index].start)


def with_placeholders(instance: ResolutionInstance) -> ResolutionInstance | None:
    """Call both candidates by fixed names, in the order of their mentions.

    The text of an instance and that of its switched version are then the same, so that whoever
    reads nothing else answers both alike. None where a candidate is marked inside a longer word,
    which cannot be renamed.
    """
    first = first_mentioned(instance)
    called = {first: PLACEHOLDERS[0], 1 - first: PLACEHOLDERS[1]}
    names = [one.text for one in instance.candidates]
    pieces: list[str] = []
    moved: dict[int, int] = {}
    done = length = 0
    places = occurrences(instance.text, names)
    marked = [one.start for one in instance.candidates]
    pronoun = instance.pronoun
    shift = 0
    for start, end, index in places:
        if start < pronoun.end and pronoun.start < end:
            continue
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

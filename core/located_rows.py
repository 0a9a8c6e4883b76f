"""Resolution rows that users bring: checked, and every mention located."""

from collections.abc import Callable, Mapping
from typing import Any

from pronominal.errors import InputError
from pronominal.spans import Mention, Span
from pronominal.switching import locate_candidates, occurrences

COLUMNS = ("text", "pronoun", "candidates", "label")

Refuse = Callable[[str, str], InputError]
"""Makes the error about a row, which it names, of a cause and a cure."""


def located_row(row: Mapping[str, Any], refuse: Refuse, *, may_be_absent: bool) -> dict[str, Any]:
    """Return a row whose mentions have text, start and end.

    Args:
        row: ``text``, ``pronoun``, two ``candidates``, ``label``, and whatever else. A mention is
            a string, or an object with ``text`` and, where they are known, ``start`` and ``end``;
            both are -1 for a mention that is known not to be in the text. Without offsets, a
            pronoun has to occur once, and a candidate is its first occurrence as a whole word
            apart from the pronoun.
        refuse: makes the error about the row.
        may_be_absent: whether a candidate without offsets may be missing from the text; it gets
            the offsets -1.

    Raises:
        InputError: a field is missing or wrong.
    """
    for column in COLUMNS:
        if row.get(column) is None:
            raise refuse(f"there is no {column}", "add it")
    text, label, candidates = row["text"], row["label"], row["candidates"]
    if not isinstance(text, str):
        raise refuse("the text is no string", "write a string")
    if type(label) is not int or label not in (0, 1, 2):
        cause = "the label is outside 0, 1 and 2"
        raise refuse(cause, "write the index of the right candidate, or 2 for neither")
    if not isinstance(candidates, list) or len(candidates) != 2:
        raise refuse("there are not two candidates", "give a list of two")
    pronoun = _located_pronoun(_mention(row["pronoun"], "the pronoun", text, refuse), text, refuse)
    given = [_mention(one, f"candidate {i}", text, refuse) for i, one in enumerate(candidates)]
    located = _located_candidates(given, pronoun.span, text)
    for index, (before, after) in enumerate(zip(given, located, strict=True)):
        if isinstance(before, str) and not after.located and not may_be_absent:
            cause = f"candidate {index} does not occur in the text"
            raise refuse(cause, "correct it, or give it the offsets -1 to have the row left out")
    mentions = {"pronoun": pronoun._asdict(), "candidates": [one._asdict() for one in located]}
    return {**row, **mentions}


def _mention(given: Any, name: str, text: str, refuse: Refuse) -> Mention | str:
    """Return a mention that holds, or its string if it has no offsets."""
    fields = {"text": given} if isinstance(given, str) else given
    if not isinstance(fields, dict) or not set(fields) <= {"text", "start", "end"}:
        raise refuse(f"{name} is no mention", "give it text, start and end only")
    words, start, end = (fields.get(key) for key in ("text", "start", "end"))
    if not isinstance(words, str) or not words:
        raise refuse(f"{name} has no text", "give its text")
    if start is None and end is None:
        return words
    if type(start) is not int or type(end) is not int:
        raise refuse(f"{name} has half an offset", "give start and end as integers")
    mention = Mention(words, start, end)
    if mention.span != (-1, -1) and not mention.stands_in(text):
        cause = f"the offsets {start}:{end} of {name} do not hold its text"
        raise refuse(cause, "count code points from 0, the end being one after the last")
    return mention


def _located_pronoun(given: Mention | str, text: str, refuse: Refuse) -> Mention:
    if isinstance(given, Mention):
        return given
    places = occurrences(text, [given])
    if not places:
        raise refuse("the pronoun does not occur in the text", "correct it, or leave the row out")
    if len(places) > 1:
        cure = "give the start and end of the right one"
        raise refuse(f"the pronoun occurs {len(places)} times", cure)
    return Mention(given, places[0].start, places[0].end)


def _located_candidates(given: list[Mention | str], pronoun: Span, text: str) -> list[Mention]:
    names = [one if isinstance(one, str) else one.text for one in given]
    first = locate_candidates(text, names, pronoun)
    return [there if isinstance(one, str) else one for one, there in zip(given, first, strict=True)]

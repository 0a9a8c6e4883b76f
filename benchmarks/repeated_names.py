"""Rows to learn from that nobody annotated: a repeated name becomes a pronoun.

Where one of GAP's two candidates is named again, that later mention is replaced by *he*, *him*,
*his*, *she* or *her*, and the row asks whom it means: its own last mention before, or the other
candidate's. The gender is that of the row's pronoun, the case is guessed by the words around it,
and the text is the sentences from the first of the two mentions to the pronoun's. No text comes
twice.
Reads GAP's training file and prints rows for ``pronominal train --data FILE``.

``python benchmarks/repeated_names.py gap-development.tsv > repeated-names.jsonl``
"""

import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FEMININE = {"she", "her", "hers", "herself"}
AFTER_SUBJECT = re.compile(r"(was|is|had|has|would|could|will|did|does|[a-z]+ed|[a-z]+s)$")
PREPOSITIONS = {"of", "to", "with", "for", "by", "from", "on", "in", "at"}
CLOSEST = 3
"""Characters between the starts of two mentions: with fewer, one lies in the other."""


def mention(text: str, start: int) -> dict[str, Any]:
    """Return a mention as rows of one's own have it."""
    return {"text": text, "start": start, "end": start + len(text)}


def names_alone(text: str, name: str) -> list[re.Match[str]]:
    """Return where a name or its last word stands."""
    last = name.split()[-1]
    return [*re.finditer(rf"(?<![\w-])(?:{re.escape(name)}|{re.escape(last)})(?![\w-])", text)]


def inside_longer_name(before: str, after: str) -> bool:
    """Say whether a capitalised word or a hyphen touches what was found."""
    word_before = re.search(r"[A-Z]\w*\.? $", before)
    starts_sentence = re.search(r"[.!?] [A-Z]\w*\.? $", before)
    return bool(word_before and not starts_sentence) or bool(re.match(r" [A-Z]|[-/]", after))


def pronoun_for(before: str, after: str, *, feminine: bool) -> tuple[str, int]:
    """Return the pronoun, and how many characters after the name it replaces as well."""
    if after[:2] in ("'s", "’s"):
        form, taken = ("her" if feminine else "his"), 2
    else:
        words, following = before.split(), re.match(r"\s+([a-z']+)", after)
        verb = following is not None and AFTER_SUBJECT.match(following[1])
        governed = bool(words) and words[-1].lower() in PREPOSITIONS
        subject = starts_sentence(before) or (verb and not governed)
        form, taken = (("he", "she") if subject else ("him", "her"))[feminine], 0
    return (form.capitalize() if starts_sentence(before) else form), taken


def starts_sentence(before: str) -> bool:
    """Say whether a sentence ends where this text ends."""
    return not before.strip() or before.rstrip()[-1] in '.!?"“'


def rows_of(given: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield rows, whose right candidate stands first, of one row of GAP."""
    text, names = given["Text"], (given["A"], given["B"])
    if names[0].split()[-1] == names[1].split()[-1]:
        return
    feminine = given["Pronoun"].lower() in FEMININE
    for name, other in (names, names[::-1]):
        found = names_alone(text, name)
        others = [one.start() for one in re.finditer(rf"(?<!\w){re.escape(other)}(?!\w)", text)]
        for one in found[1:]:
            start, before = one.start(), text[: one.start()]
            if inside_longer_name(before, text[one.end() :]):
                continue
            earlier = [spot for spot in found if spot.end() <= start]
            places = [place for place in others if place < start]
            if not earlier or not places or abs(earlier[-1].start() - places[-1]) < CLOSEST:
                continue
            form, taken = pronoun_for(before, text[one.end() :], feminine=feminine)
            end = one.end() + taken
            stop = text.rfind(". ", 0, min(earlier[-1].start(), places[-1]))
            begin = stop + 2 if stop >= 0 else 0
            close = text.find(". ", end)
            yield {
                "text": before[begin:] + form + text[end : close + 1 if close >= 0 else None],
                "pronoun": mention(form, start - begin),
                "candidates": [
                    mention(earlier[-1][0], earlier[-1].start() - begin),
                    mention(other, places[-1] - begin),
                ],
            }


def main() -> None:
    """Print the rows; the right candidate is the first and the second by turns."""
    seen: set[str] = set()
    with Path(sys.argv[1]).open(encoding="utf-8", newline="") as file:
        for given in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            for row in rows_of(given):
                if row["text"] in seen:
                    continue
                number = len(seen)
                seen.add(row["text"])
                if number % 2 == 0:
                    row["candidates"].reverse()
                print(json.dumps({"id": f"name-{number}", **row, "label": 1 - number % 2}))


if __name__ == "__main__":
    main()

"""Questions of our own, to see that a system answers at all: most about the `PLAIN_SENTENCES`."""

from pronominal.adapters.contract.self_check import PLAIN_SENTENCES
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.pronouns import PRONOUN_SETS, Case
from pronominal.spans import Mention

_RESOLVED = (
    (PLAIN_SENTENCES[1], "him", ("baker", "neighbour"), 0, "he", "accusative"),
    (PLAIN_SENTENCES[2], "he", ("uncle", "car"), 0, "he", "nominative"),
    (PLAIN_SENTENCES[3], "her", ("Maria", "dog"), 0, "she", "possessive"),
    (PLAIN_SENTENCES[4], "they", ("children", "hands"), 0, "they", "nominative"),
    (
        "Robin missed the train, so the neighbour drove xem to the station.",
        *("xem", ("Robin", "neighbour"), 0, "xe", "accusative"),
    ),
)
"""Sentence, pronoun, candidates, which one is right, and the pronoun's set and case.

All sets of the datasets are there: what a system does for one alone is seen, too. Clusters are not
asked for of *xe*, which some working systems do not find.
"""

_FILLED: tuple[tuple[int, str, Case], ...] = (
    (0, "she", "nominative"),
    (1, "him", "accusative"),
    (2, "his", "possessive"),
)
"""Sentence, the pronoun that becomes a slot, and its case."""


def plain_resolutions() -> list[ResolutionInstance]:
    """Return pronouns to resolve."""
    return [
        ResolutionInstance(
            id=f"plain-{number}",
            text=sentence,
            pronoun=_mention(sentence, pronoun),
            candidates=tuple(_mention(sentence, name) for name in names),
            label=label,
            columns={"pronoun_set": pronoun_set, "case": case},
        )
        for number, (sentence, pronoun, names, label, pronoun_set, case) in enumerate(_RESOLVED, 1)
    ]


def plain_slots() -> list[FillingInstance]:
    """Return slots to fill."""
    slots = []
    for number, pronoun, case in _FILLED:
        sentence = PLAIN_SENTENCES[number]
        start, end = _mention(sentence, pronoun).span
        slots.append(
            FillingInstance(
                id=f"plain-{number}",
                text=f"{sentence[:start]}___{sentence[end:]}",
                blank=Mention("___", start, start + 3),
                options=tuple(one.form(case) for one in PRONOUN_SETS),
                label=0,
            )
        )
    return slots


def plain_prompts() -> list[str]:
    """Return prompts to answer."""
    return [f"{sentence}\nWho is this about?" for sentence in PLAIN_SENTENCES]


def _mention(text: str, words: str) -> Mention:
    start = f" {text}".index(f" {words}")
    return Mention(words, start, start + len(words))

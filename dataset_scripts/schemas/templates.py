"""Sentence templates with slots, filled so that offsets hold by construction."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pronominal.dataset_scripts.tables.tab_separated import TableRow
from pronominal.errors import redacted
from pronominal.instances import ResolutionInstance
from pronominal.pronouns import CASES, PRONOUN_SETS, Case, PronounSet
from pronominal.spans import Mention

OCCUPATION = "$OCCUPATION"
PARTICIPANT = "$PARTICIPANT"
PRONOUN_SLOTS: dict[str, Case] = dict(
    zip(("$NOM_PRONOUN", "$ACC_PRONOUN", "$POSS_PRONOUN"), CASES, strict=True)
)
SLOT = re.compile(r"\$[A-Z_]+")
WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Template:
    """One sentence with a slot for each entity and one for the pronoun.

    Attributes:
        origin: the row of its table.
        occupation: the noun of candidate 0.
        participant: the noun of candidate 1.
        case: grammatical case of the pronoun slot.
        answer: 0 if the pronoun refers to the occupation, 1 if to the participant.
        text: the sentence with its slots.
        pair: identifies the two templates that differ after the pronoun slot only.
    """

    origin: TableRow
    occupation: str
    participant: str
    case: Case
    answer: int
    text: str
    pair: str

    @property
    def id(self) -> str:
        """Name of the template, stable between versions."""
        return f"{self.occupation}-{self.participant}-{self.case}-{self.answer}"


def parse_answer(answer: str, row: TableRow) -> int:
    """Return 0 or 1; `InputError` for anything else."""
    if answer not in ("0", "1"):
        raise row.refuse(f"the answer is {redacted(answer)}", "write 0 or 1")
    return int(answer)


def parse_case(slot: str, row: TableRow) -> Case:
    """Return the grammatical case of a pronoun slot; `InputError` for an unknown one."""
    if slot not in PRONOUN_SLOTS:
        cure = f"write one of {', '.join(PRONOUN_SLOTS)}"
        raise row.refuse(f"{redacted(slot)} is no grammatical case", cure)
    return PRONOUN_SLOTS[slot]


def fill(text: str, words: Mapping[str, str]) -> tuple[str, dict[str, Mention]]:
    """Fill every slot in one pass.

    Args:
        text: a template whose slots each occur once.
        words: slot -> the word that fills it.

    Returns:
        The sentence, and for each slot the mention that now stands in its place.
    """
    pieces: list[str] = []
    mentions: dict[str, Mention] = {}
    length = done = 0
    for slot in SLOT.finditer(text):
        before, word = text[done : slot.start()], words[slot.group()]
        start = length + len(before)
        mentions[slot.group()] = Mention(word, start, start + len(word))
        pieces += (before, word)
        length, done = start + len(word), slot.end()
    return "".join((*pieces, text[done:])), mentions


def instantiate(template: Template, pronouns: PronounSet) -> ResolutionInstance:
    """Return what a template and a pronoun set make.

    An entity without a slot in the template (WinoPron's single versions) gets offsets -1.
    """
    slot = next(slot for slot, case in PRONOUN_SLOTS.items() if case == template.case)
    entities = {OCCUPATION: template.occupation, PARTICIPANT: template.participant}
    sentence = template.text
    if pronouns.agreement == "plural":
        # Winogender's instantiate.py: the only verb of the templates that agrees is "was"
        sentence = sentence.replace("$NOM_PRONOUN was", "$NOM_PRONOUN were")
    text, mentions = fill(sentence, {**entities, slot: pronouns.form(template.case)})
    return ResolutionInstance(
        id=f"{template.id}-{pronouns.name}",
        text=text,
        pronoun=mentions[slot],
        candidates=tuple(
            mentions.get(entity, Mention(word, -1, -1)) for entity, word in entities.items()
        ),
        label=template.answer,
        columns={
            "occupation": template.occupation,
            "participant": template.participant,
            "case": template.case,
            "pronoun_set": pronouns.name,
            "template_id": template.id,
            "pair_id": template.pair,
        },
    )


def pairs(templates: Sequence[Template]) -> Iterator[tuple[Template, Template]]:
    """Yield the complete pairs, in the order of the file."""
    members: dict[str, list[Template]] = {}
    for template in templates:
        members.setdefault(template.pair, []).append(template)
    for pair in members.values():
        if len(pair) == 2:
            yield pair[0], pair[1]


KNOWN_FORMS = {"themselves"}.union(*(pronouns.forms for pronouns in PRONOUN_SETS))


def other_pronoun(text: str) -> str | None:
    """Return a third-person pronoun in the fixed text of a template, if there is one.

    "it" and "its" are not counted, as in upstream's verification.py.
    """
    words = WORD.findall(SLOT.sub(" ", text).lower())
    return next((word for word in words if word in KNOWN_FORMS), None)

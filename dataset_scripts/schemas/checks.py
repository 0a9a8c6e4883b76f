"""The structural constraints on templates, each named as a user reads it in `validate`."""

import re
from collections.abc import Iterable, Iterator, Sequence

from pronominal.dataset_scripts.schemas.templates import (
    OCCUPATION,
    PARTICIPANT,
    PRONOUN_SLOTS,
    SLOT,
    WORD,
    Template,
    other_pronoun,
    pairs,
)
from pronominal.dataset_scripts.tables.tab_separated import TableRow
from pronominal.dataset_scripts.tables.violations import Violation
from pronominal.errors import redacted

BOTH = (OCCUPATION, PARTICIPANT)
GLUED = re.compile(rf"(?>{SLOT.pattern})[\w']|\w{SLOT.pattern}")


def double_violations(template: Template) -> Iterator[Violation]:
    """Check one double-entity template."""
    for message in (*slot_faults(template, BOTH), *_wording(template)):
        yield template.origin.violation(f"double: {message}")


def single_violations(template: Template) -> Iterator[Violation]:
    """Check one single-entity version: it never names the entity that is not the answer."""
    for message in (*slot_faults(template, (BOTH[template.answer],)), *_wording(template)):
        yield template.origin.violation(f"single: {message}")


def pair_violations(templates: Sequence[Template]) -> Iterator[Violation]:
    """Check that only the ending of a template can tell which entity is right."""
    for first, second in pairs(templates):
        for message in _pair(first, second):
            yield second.origin.violation(message)


def refuse_slot_faults(template: Template, entities: tuple[str, ...]) -> None:
    """Raise `InputError` for a template that cannot be filled."""
    for message in slot_faults(template, entities):
        raise template.origin.refuse(message, "mend the template")


def prefix(template: Template) -> str:
    """Return the text before the pronoun slot; all of it when there is none."""
    starts = [template.text.index(slot) for slot in PRONOUN_SLOTS if slot in template.text]
    return template.text[: min(starts, default=None)]


def _pair(first: Template, second: Template) -> Iterator[str]:
    if first.answer == second.answer:
        yield f"the same answer as {first.origin.row} of its pair"
    if first.case != second.case:
        yield f"another grammatical case than {first.origin.row} of its pair"
    if prefix(first) != prefix(second):
        yield f"differs from {first.origin.row} of its pair before the pronoun"
    elif first.text == second.text:
        yield f"the same ending as {first.origin.row} of its pair"


def repeats(kind: str, texts: Iterable[tuple[TableRow, str]]) -> Iterator[Violation]:
    """Yield every row whose text is that of an earlier one; `kind` says what it is."""
    first: dict[str, TableRow] = {}
    for row, text in texts:
        earlier = first.setdefault(text, row)
        if earlier is not row:
            yield row.violation(f"the same {kind} as {earlier.row}")


def slot_faults(template: Template, entities: tuple[str, ...]) -> Iterator[str]:
    """Yield why a template cannot be filled with these entities and a pronoun."""
    if not (template.occupation and template.participant):
        yield "an entity without a name"
    slots = [match.group() for match in SLOT.finditer(template.text)]
    pronoun = next(slot for slot, case in PRONOUN_SLOTS.items() if case == template.case)
    for slot in (*entities, pronoun):
        if slots.count(slot) != 1:
            yield f"{slots.count(slot)} {slot} slots instead of one"
    for slot in sorted(set(slots) - {*entities, pronoun}):
        yield f"the slot {redacted(slot)} does not belong here"
    if GLUED.search(template.text) or "$" in SLOT.sub("", template.text):
        yield "letters at a slot, or a $ that belongs to none"
    if pronoun in slots and slots[-1] != pronoun:
        yield "an entity stands after the pronoun"


def _wording(template: Template) -> Iterator[str]:
    text = template.text
    for match in SLOT.finditer(text):
        before = text[: match.start()].split()[-1:]
        if match.group() in (OCCUPATION, PARTICIPANT) and [w.lower() for w in before] != ["the"]:
            yield f"no determiner 'the' before {match.group()}"
    words = WORD.findall(SLOT.sub(" ", text).lower())
    extra = other_pronoun(text)
    if extra is not None:
        yield f"a further pronoun, '{extra}'"
    if "$NOM_PRONOUN was" in text:
        yield "'was' after the pronoun does not agree with they"
    for entity in (template.occupation, template.participant):
        if entity.lower() in words:
            yield f"the entity {redacted(entity)} stands in the fixed text"
    if not text.endswith("."):
        yield "no period at the end"
    if text != " ".join(text.split()):
        yield "a leading, trailing or double blank"
    if not text.isascii():
        yield "a character outside ASCII"

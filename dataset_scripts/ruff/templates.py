"""RUFF's templates: task sentences with a blank, context sentences about either entity.

What prints a template, such as the log of a failed test, shows no sentence.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from pronominal.dataset_scripts.schemas.templates import parse_case
from pronominal.dataset_scripts.tables.tab_separated import TableRow
from pronominal.errors import InputError, redacted
from pronominal.pronouns import CASES, Case

ENTITY = "$OCCUPATION/PARTICIPANT"
BLANK = "___"
THEMES = 5
"""Themes of the context templates; each has a negative and a positive version."""

TASK = ("occupation", "participant", "sentence", "pronoun_type", "word")
CONTEXT = ("pronoun_type", "polarity", "explicit_template", "implicit_template")

Polarity = Literal["negative", "positive"]
MEND = "mend the row"
POLARITIES: tuple[Polarity, ...] = get_args(Polarity)


@dataclass(frozen=True, slots=True)
class TaskTemplate:
    """The sentence in which a pronoun is missing (RUFF, section 3.1).

    Attributes:
        origin: its row of ``task.tsv``.
        occupation: the person whose pronoun is missing.
        participant: the other person, whom distractors are about.
        case: grammatical case of the missing pronoun.
        text: the sentence with `BLANK` in place of the pronoun.
        target: how the person is called whose pronoun is missing: the occupation, except in a
            variant.
        other: how the person is called whom distractors are about.
    """

    origin: TableRow
    occupation: str
    participant: str
    case: Case
    text: str = field(repr=False)
    target: str
    other: str

    @property
    def name(self) -> str:
        """Name of the template, stable between versions."""
        return f"{self.occupation}-{self.case}"


@dataclass(frozen=True, slots=True)
class ContextTemplate:
    """A theme in one polarity, to introduce a person or to go on about one.

    Attributes:
        origin: its row of ``context.tsv``.
        case: grammatical case of the pronoun.
        polarity: whether things went badly or well.
        explicit: the sentence that names a person, with the slots `ENTITY` and pronoun.
        implicit: the sentence that does not, with a pronoun slot.
    """

    origin: TableRow
    case: Case
    polarity: Polarity
    explicit: str = field(repr=False)
    implicit: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Templates:
    """Both tables, in upstream's order, and the names of their files in errors."""

    tasks: tuple[TaskTemplate, ...] = field(repr=False)
    contexts: tuple[ContextTemplate, ...] = field(repr=False)
    task_file: str
    context_file: str

    def contexts_of(self, case: Case) -> list[ContextTemplate]:
        """Return the context templates of a case; their order numbers them in ``uid``."""
        return [template for template in self.contexts if template.case == case]


def parse_task(row: TableRow) -> TaskTemplate:
    """Read one row of ``task.tsv``; `InputError` if no instance can be made of it."""
    occupation, participant, sentence, slot, word = (row.cells[column] for column in TASK)
    case = parse_case(slot, row)
    if word != occupation:
        raise row.refuse("the word is not the occupation", MEND)
    text = _with_one_slot(sentence, slot, row).replace(slot, BLANK)
    if "$" in text or text.count(BLANK) != 1:
        raise row.refuse("the sentence has another slot or blank", MEND)
    return TaskTemplate(row, occupation, participant, case, text, occupation, participant)


def parse_context(row: TableRow) -> ContextTemplate:
    """Read one row of ``context.tsv``; `InputError` if no instance can be made of it."""
    slot, polarity, explicit, implicit = (row.cells[column] for column in CONTEXT)
    case = parse_case(slot, row)
    known = next((name for name in POLARITIES if name == polarity), None)
    if known is None:
        raise row.refuse(f"there is no polarity {redacted(polarity)}", MEND)
    if explicit.count(ENTITY) != 1:
        raise row.refuse(f"the explicit template needs the slot {ENTITY} once", MEND)
    for text in (explicit, implicit):
        rest = _with_one_slot(text, slot, row).replace(slot, "")
        if "$" in rest.replace(ENTITY, "", 1 if text is explicit else 0):
            raise row.refuse("a template has a slot that does not belong there", MEND)
    return ContextTemplate(row, case, known, explicit, implicit)


def order_errors(templates: Templates) -> Iterator[InputError]:
    """Yield where the tables lack what the assembly takes from their rows and order.

    Upstream's add_context.py finds the theme of a context template by its place among those of
    its case: 0 to 4 are negative, 5 to 9 positive, with the same themes again.
    """
    first: dict[str, TaskTemplate] = {}
    for task in templates.tasks:
        earlier = first.setdefault(task.name, task)
        if earlier is not task:
            cause = f"the same occupation and grammatical case as {earlier.origin.row}"
            yield task.origin.refuse(cause, "remove one of them")
    for case in CASES:
        contexts = templates.contexts_of(case)
        if [context.polarity for context in contexts] != sorted(POLARITIES * THEMES):
            cause = f"the {case} templates are not {THEMES} negative, then {THEMES} positive"
            file, row = templates.context_file, contexts[0].origin.row if contexts else None
            yield InputError(cause, cure="restore the rows and their order", file=file, row=row)


def _with_one_slot(text: str, slot: str, row: TableRow) -> str:
    if text.count(slot) != 1:
        raise row.refuse(f"{text.count(slot)} {slot} slots instead of one", MEND)
    return text

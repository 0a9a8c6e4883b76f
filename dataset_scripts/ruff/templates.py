"""RUFF's templates: task sentences with a blank, context sentences about either entity.

What prints a template, such as the log of a failed test, shows no sentence.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from pronominal.dataset_scripts.building.sources import TableRow
from pronominal.dataset_scripts.schemas.templates import parse_case
from pronominal.errors import InputError, shown
from pronominal.pronouns import CASES, Case

ENTITY = "$OCCUPATION/PARTICIPANT"
BLANK = "___"
THEMES = 5
"""Themes of the context templates; each has a negative and a positive version."""

TASK = ("occupation", "participant", "sentence", "pronoun_type", "word")
CONTEXT = ("pronoun_type", "polarity", "explicit_template", "implicit_template")

Polarity = Literal["negative", "positive"]
POLARITIES: tuple[Polarity, ...] = get_args(Polarity)


@dataclass(frozen=True, slots=True)
class TaskTemplate:
    """The sentence in which a pronoun is missing (RUFF, section 3.1).

    Attributes:
        line: where it stands in ``task.tsv``; the header is line 1.
        occupation: the person whose pronoun is missing.
        participant: the other person, whom distractors are about.
        case: grammatical case of the missing pronoun.
        text: the sentence with `BLANK` in place of the pronoun.
    """

    line: int
    occupation: str
    participant: str
    case: Case
    text: str = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the template, stable between versions."""
        return f"{self.occupation}-{self.case}"


@dataclass(frozen=True, slots=True)
class ContextTemplate:
    """A theme in one polarity, to introduce a person or to go on about one.

    Attributes:
        line: where it stands in ``context.tsv``; the header is line 1.
        case: grammatical case of the pronoun.
        polarity: whether things went badly or well.
        explicit: the sentence that names a person, with the slots `ENTITY` and pronoun.
        implicit: the sentence that does not, with a pronoun slot.
    """

    line: int
    case: Case
    polarity: Polarity
    explicit: str = field(repr=False)
    implicit: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Templates:
    """Both tables, in upstream's order, and how messages call them."""

    tasks: tuple[TaskTemplate, ...] = field(repr=False)
    contexts: tuple[ContextTemplate, ...] = field(repr=False)
    task_place: str
    context_place: str

    def contexts_of(self, case: Case) -> list[ContextTemplate]:
        """Return the context templates of a case; their order numbers them in ``uid``."""
        return [template for template in self.contexts if template.case == case]


def parse_task(row: TableRow, place: str) -> TaskTemplate:
    """Read one row of ``task.tsv``; `InputError` if no instance can be made of it."""
    occupation, participant, sentence, slot, word = (row.cells[column] for column in TASK)
    case = parse_case(slot, place, row.line)
    if word != occupation:
        raise _refusal("the word is not the occupation", place, row)
    text = _with_one_slot(sentence, slot, place, row).replace(slot, BLANK)
    if "$" in text or text.count(BLANK) != 1:
        raise _refusal("the sentence has another slot or blank", place, row)
    return TaskTemplate(row.line, occupation, participant, case, text)


def parse_context(row: TableRow, place: str) -> ContextTemplate:
    """Read one row of ``context.tsv``; `InputError` if no instance can be made of it."""
    slot, polarity, explicit, implicit = (row.cells[column] for column in CONTEXT)
    case = parse_case(slot, place, row.line)
    known = next((name for name in POLARITIES if name == polarity), None)
    if known is None:
        raise _refusal(f"there is no polarity {shown(polarity)}", place, row)
    if explicit.count(ENTITY) != 1:
        raise _refusal(f"the explicit template needs the slot {ENTITY} once", place, row)
    for text in (explicit, implicit):
        rest = _with_one_slot(text, slot, place, row).replace(slot, "")
        if "$" in rest.replace(ENTITY, "", 1 if text is explicit else 0):
            raise _refusal("a template has a slot that does not belong there", place, row)
    return ContextTemplate(row.line, case, known, explicit, implicit)


def order_errors(templates: Templates) -> Iterator[InputError]:
    """Yield where the tables lack what the assembly takes from their rows and order.

    Upstream's add_context.py finds the theme of a context template by its place among those of
    its case: 0 to 4 are negative, 5 to 9 positive, with the same themes again.
    """
    first_line: dict[str, int] = {}
    for task in templates.tasks:
        line = first_line.setdefault(task.name, task.line)
        if line != task.line:
            yield InputError(
                f"the same occupation and grammatical case as line {line}",
                cure="remove one of them",
                file=templates.task_place,
                row=f"line {task.line}",
            )
    for case in CASES:
        found = templates.contexts_of(case)
        if [context.polarity for context in found] != sorted(POLARITIES * THEMES):
            yield InputError(
                f"the {case} templates are not {THEMES} negative, then {THEMES} positive",
                cure="restore the rows and their order",
                file=templates.context_place,
                row=f"line {found[0].line}" if found else None,
            )


def _with_one_slot(text: str, slot: str, place: str, row: TableRow) -> str:
    if text.count(slot) != 1:
        raise _refusal(f"{text.count(slot)} {slot} slots instead of one", place, row)
    return text


def _refusal(cause: str, place: str, row: TableRow) -> InputError:
    return InputError(cause, cure="mend the row", file=place, row=f"line {row.line}")

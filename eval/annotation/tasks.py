"""What annotators are asked, as in KnowRef (section 3), WinoPron and RUFF (their instructions)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pronominal.dataset_scripts.reading.split import Instance
from pronominal.errors import InputError
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.pronouns import PRONOUN_SETS
from pronominal.spans import Mention
from pronominal.switching import occurrences

SLOT = "___"
DETERMINED = re.compile(r"\b(?:the|an?)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """One question about one row.

    Attributes:
        row: id of the row.
        about: index of the candidate, or of the option, that it is about; None where it is about
            the row as a whole.
        shown: heading of the sheet -> what the annotator sees there.
        order: index of the candidate that each of `LETTERS` stands for; empty where there are none.
    """

    row: str
    about: int | None
    shown: Mapping[str, str]
    order: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AnnotationTask:
    """One kind of question.

    Attributes:
        questions: yields the questions about a row; chance may order candidates.
        words: from the rows to what may be answered, in small letters.
    """

    questions: Callable[[Instance, Random], Iterator[Question]]
    words: Callable[[Sequence[Instance]], tuple[str, ...]]


LETTERS = ("a", "b")
"""What the candidates of `antecedent` are called on the sheet."""


def antecedent(instance: Instance, chance: Random) -> Iterator[Question]:
    """Ask which of the two candidates the pronoun refers to (KnowRef, section 3.1)."""
    if isinstance(instance, FillingInstance):
        cause = "the dataset asks for a pronoun, not for its antecedent"
        raise InputError(cause, cure="give the task blank, grammaticality or reference")
    order = tuple(chance.sample(range(len(instance.candidates)), len(instance.candidates)))
    names = [instance.candidates[index].text for index in order]
    shown = {"text": _marked(instance.text, instance.pronoun)}
    shown |= dict(zip(map(str.upper, LETTERS), names, strict=True))
    yield Question(instance.id, None, shown, order)


def grammaticality(instance: Instance, _: Random) -> Iterator[Question]:
    """Ask whether a text is grammatical (WinoPron, appendix C.1.1).

    A text with a slot is asked about with the right form in it, or once with each form where no
    form is right or wrong.
    """
    if isinstance(instance, ResolutionInstance):
        yield Question(instance.id, None, {"text": instance.text})
        return
    for index, text in enumerate(instance.filled()):
        if instance.label < 0:
            yield Question(instance.id, index, {"text": text})
        elif index == instance.label:
            yield Question(instance.id, None, {"text": text})


def reference(instance: Instance, _: Random) -> Iterator[Question]:
    """Ask for each person in a text whether the pronoun refers to them (WinoPron, C.1.2).

    A text with a slot is asked about with the right form in it; the people are its occupation and
    its participant. Who is not in the text is not asked about.
    """
    if isinstance(instance, ResolutionInstance):
        text, pronoun = instance.text, instance.pronoun
        people = [_named(instance.text, one) for one in instance.candidates]
    else:
        text, pronoun, people = _filled(instance)
    question = f"Does the pronoun {pronoun.text} refer to"
    for index, person in enumerate(people):
        if person is not None:
            shown = {"text": _marked(text, pronoun), "question": f"{question} {person}?"}
            yield Question(instance.id, index, shown)


def blank(instance: Instance, _: Random) -> Iterator[Question]:
    """Ask for the pronoun in a slot (WinoPron, appendix C.2; RUFF, section 3.3)."""
    slot = instance.blank if isinstance(instance, FillingInstance) else instance.pronoun
    if not slot.located:
        cause, row = "the pronoun is not in the text", f"id {instance.id}"
        raise InputError(cause, cure="leave the row out", row=row)
    text = f"{instance.text[: slot.start]}{SLOT}{instance.text[slot.end :]}"
    yield Question(instance.id, None, {"text": text})


def _filled(instance: FillingInstance) -> tuple[str, Mention, list[str | None]]:
    if instance.label < 0:
        cause = "no form of the pronoun is right, so it refers to none of the people"
        cure = "give the task blank or grammaticality"
        raise InputError(cause, cure=cure, row=f"id {instance.id}")
    form, start = instance.options[instance.label], instance.blank.start
    names = [instance.columns.get(role) for role in ("occupation", "participant")]
    there = [name if name and occurrences(instance.text, [name]) else None for name in names]
    people = [name and f"the {name}" for name in there]
    return instance.filled()[instance.label], Mention(form, start, start + len(form)), people


def _named(text: str, candidate: Mention) -> str | None:
    """Name a candidate as a question can: with an article where the text has one before it."""
    if not candidate.located:
        return None
    article = DETERMINED.search(text[: candidate.start])
    return f"the {candidate.text}" if article else candidate.text


def _marked(text: str, pronoun: Mention) -> str:
    """Put the pronoun into square brackets: a text may have several."""
    if not pronoun.located:
        return text
    start, end = pronoun.span
    return f"{text[:start]}[{text[start:end]}]{text[end:]}"


def _forms(instances: Sequence[Instance]) -> tuple[str, ...]:
    known = {form for pronouns in PRONOUN_SETS for form in pronouns.forms}
    for instance in instances:
        known.update(instance.options if isinstance(instance, FillingInstance) else ())
    return tuple(sorted(form.casefold() for form in known))


ANNOTATION_TASKS = {
    "antecedent": AnnotationTask(antecedent, lambda _: (*LETTERS, "neither", "unclear")),
    "blank": AnnotationTask(blank, _forms),
    "grammaticality": AnnotationTask(
        grammaticality, lambda _: ("grammatical", "ungrammatical", "not sure")
    ),
    "reference": AnnotationTask(reference, lambda _: ("yes", "no", "not sure")),
}
"""Name -> what it asks."""

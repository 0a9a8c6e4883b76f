"""RUFF beyond its design: its templates, assembled so that a shallow heuristic stops working.

In RUFF the right pronoun is always the first one, in the case in which it was shown, and the
occupation's (Gautam et al., 2024, Limitations). Each variant changes one of these and nothing else.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pronominal.dataset_scripts.building.options import BuildOption
from pronominal.dataset_scripts.ruff.templates import (
    ENTITY,
    ContextTemplate,
    TaskTemplate,
    Templates,
)
from pronominal.names import unknown_name
from pronominal.pronouns import CASES, Case

SAME_CASE: Mapping[Case, Case] = {case: case for case in CASES}

OTHER_CASE: Mapping[Case, Case] = {
    "nominative": "accusative",
    "accusative": "nominative",
    "possessive": "nominative",
}
"""Case of the slot -> another one, so chosen that no form is in both (``her`` would be)."""

NAMES = (
    *("Alex", "Avery", "Casey", "Devon", "Jamie", "Jordan"),
    *("Kerry", "Morgan", "Quinn", "Riley", "Rowan", "Taylor"),
)
"""Given names of our own choice that people of any gender bear, in alphabetical order."""

_NAMED = re.compile(rf"\b[Tt]he {re.escape(ENTITY)}")


def _introduction_first(distractors: int) -> tuple[int, ...]:
    return (0,)


def _as_they_are(templates: Templates) -> Templates:
    return templates


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to assemble the templates.

    Attributes:
        name: added to the dataset's name; empty for RUFF as published.
        meaning: in which way it is not RUFF, in one sentence.
        places: takes the number of distractors; returns how many of them may come before the
            introduction.
        shown: case of the slot -> the case in which both people's pronouns are shown before.
        people: changes who is meant, and how they are called.
        fewest: the smallest number of distractors with which it is not RUFF.
    """

    name: str
    meaning: str
    places: Callable[[int], Sequence[int]] = _introduction_first
    shown: Mapping[Case, Case] = field(default_factory=lambda: SAME_CASE, hash=False)
    people: Callable[[Templates], Templates] = _as_they_are
    fewest: int = 0

    def id_of(self, task: TaskTemplate) -> str:
        """Return how the ids of a task's rows begin; no variant has an id of another one's."""
        return "-".join(filter(None, (self.name, task.name)))


def participants_instead(templates: Templates) -> Templates:
    """Let occupation and participant change places: the participant's pronoun is missing."""
    return replace(templates, tasks=tuple(map(_about_participant, templates.tasks)))


def _about_participant(task: TaskTemplate) -> TaskTemplate:
    noun = re.compile(rf"\b{re.escape(task.occupation)}\b")
    text = noun.sub(task.participant, task.text)
    return replace(task, text=text, target=task.participant, other=task.occupation)


def names_instead(templates: Templates) -> Templates:
    """Call both people by names; raises `InputError` where there is no *the* to leave out.

    Task by task the next of `NAMES` is missing its pronoun, and with every round through them the
    distractors are about a name that is one further away.
    """
    tasks = tuple(_named(task, number) for number, task in enumerate(templates.tasks))
    return replace(templates, tasks=tasks, contexts=tuple(map(_without_the, templates.contexts)))


def _named(task: TaskTemplate, number: int) -> TaskTemplate:
    rounds, place = divmod(number, len(NAMES))
    target = NAMES[place]
    other = NAMES[(place + 1 + rounds % (len(NAMES) - 1)) % len(NAMES)]
    text, found = re.subn(rf"\b[Tt]he {re.escape(task.occupation)}\b", target, task.text)
    if found != 1:
        raise task.origin.refuse("no name can stand for the occupation", _ARTICLE)
    return replace(task, text=text, target=target, other=other)


def _without_the(context: ContextTemplate) -> ContextTemplate:
    explicit, found = _NAMED.subn(ENTITY, context.explicit)
    if found != 1:
        raise context.origin.refuse(f"no name can stand for the slot {ENTITY}", _ARTICLE)
    return replace(context, explicit=explicit)


_ARTICLE = "write 'the' before it, or build another variant"

PUBLISHED = Variant("", "RUFF as it was published.")

VARIANTS = {
    variant.name: variant
    for variant in (
        Variant(
            "distractors-first",
            "All distractors come before the introduction, so that the last pronoun is right and "
            "the first one wrong.",
            places=lambda distractors: (distractors,),
            fewest=1,
        ),
        Variant(
            "introduction-anywhere",
            "The introduction stands before, between and behind the distractors, each equally "
            "often, so that of K distractors' rows the first pronoun is right in one of K + 1.",
            places=lambda distractors: range(distractors + 1),
            fewest=1,
        ),
        Variant(
            "other-case",
            "The pronouns before the slot are shown in another grammatical case, so that none of "
            "their forms is an option (accusative before a nominative slot, else nominative).",
            shown=OTHER_CASE,
        ),
        Variant(
            "participants",
            "Occupation and participant have changed places: the participant's pronoun is missing.",
            people=participants_instead,
        ),
        Variant(
            "names",
            "Both people are called by given names that people of any gender bear.",
            people=names_instead,
        ),
    )
}
"""Name -> variant."""


def variant_named(name: str) -> Variant:
    """Return a variant by its name; `InputError` with the nearest name if there is none."""
    if name not in VARIANTS:
        raise unknown_name("variant of RUFF", name, VARIANTS)
    return VARIANTS[name]


VARIANT = BuildOption(
    name="variant",
    kind=str,
    meaning=f"Build RUFF otherwise, as a dataset of its own: {', '.join(VARIANTS)}.",
    default=PUBLISHED,
    read=variant_named,
    suffix=lambda variant: variant.name,
)
"""How the templates are assembled."""

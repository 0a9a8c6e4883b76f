"""What RUFF's paper says of its templates and instances, as `validate` checks it."""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from pronominal.dataset_scripts.building.script import Violation
from pronominal.dataset_scripts.ruff.assembly import SLOTS, IntArray, flat_index
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.dataset_scripts.ruff.templates import (
    BLANK,
    ENTITY,
    ContextTemplate,
    TaskTemplate,
    Templates,
)
from pronominal.dataset_scripts.schemas.templates import WORD, other_pronoun
from pronominal.pronouns import CASES
from pronominal.spans import Mention

TASKS, CONTEXTS = 180, 30
ROWS = (7_200, 86_400, 345_600, 1_036_800, 2_073_600, 2_073_600)
"""Number of instances by number of distractors (RUFF, Table 1)."""

SAMPLE = 2_160


def template_violations(templates: Templates) -> Iterator[Violation]:
    """Check both tables, and that no two instances can have the same text.

    Every sentence has its only period at its end; a text can therefore be cut into its sentences
    in one way only, and with all sentences different, different instances are different texts.
    """
    tasks, contexts = templates.tasks, templates.contexts
    for place, found, expected in (
        (templates.task_place, len(tasks), TASKS),
        (templates.context_place, len(contexts), CONTEXTS),
    ):
        if found != expected:
            yield Violation(place, None, f"{found} templates instead of {expected}")
    yield from _incomplete_occupations(templates)
    nouns = {noun for task in tasks for noun in (task.occupation, task.participant)}
    for task in tasks:
        for message in _task_faults(task):
            yield Violation(templates.task_place, f"line {task.line}", message)
    for context in contexts:
        for message in _context_faults(context, nouns):
            yield Violation(templates.context_place, f"line {context.line}", message)
    texts = [(task.line, task.text) for task in tasks]
    yield from _repeated(templates.task_place, "task sentence", texts)
    for kind in ("explicit", "implicit"):
        texts = [(context.line, getattr(context, kind).strip()) for context in contexts]
        yield from _repeated(templates.context_place, f"{kind} template", texts)


def setting_violations(instances: Instances, seeds: Sequence[int]) -> Iterator[Violation]:
    """Check the size and balance of a setting and of its samples, by its index arithmetic."""
    setting = instances.setting
    place, name = setting.templates.task_place, f"distractors_{setting.distractors}"
    expected = ROWS[setting.distractors]
    if len(setting) != expected:
        yield Violation(place, None, f"{name}: {len(setting)} rows instead of {expected}")
    if instances.repeated_uids:
        yield Violation(place, None, f"{name}: {instances.repeated_uids} uids occur again")
    for split, rows in (
        ("test", np.arange(len(setting))),
        *((f"seed_{seed}", setting.sample(seed)) for seed in seeds),
    ):
        if split != "test" and len(np.unique(rows)) != SAMPLE:
            message = f"{len(np.unique(rows))} different rows instead of {SAMPLE}"
            yield Violation(place, None, f"{name}, {split}: {message}")
        for kind, counts in _balances(instances, rows):
            if len(set(counts)) > 1:
                message = f"from {min(counts)} to {max(counts)} rows of each {kind}"
                yield Violation(place, None, f"{name}, {split}: {message}")


def instance_violations(instances: Instances) -> Iterator[Violation]:
    """Make every row of a setting and check its text, its offsets and that nothing repeats.

    Made for zero and one distractor: further ones name nobody (`template_violations`), so that
    what holds here holds there.
    """
    setting = instances.setting
    lines = {task.name: f"line {task.line}" for task in setting.templates.tasks}
    seen: set[str] = set()
    reported: set[tuple[str, str]] = set()
    for table in instances.tables():
        for row in table.to_pylist():
            line = lines[f"{row['occupation']}-{row['case']}"]
            filled = row["text"].replace(BLANK, row["options"][row["label"]])
            faults = list(_instance_faults(row, participants=min(setting.distractors, 1)))
            if filled in seen or row["id"] in seen:
                faults.append("an instance or its id occurs again")
            seen |= {filled, row["id"]}
            for fault in faults:
                if (line, fault) not in reported:
                    reported.add((line, fault))
                    message = f"distractors_{setting.distractors}: {fault}"
                    yield Violation(setting.templates.task_place, line, message)


def _instance_faults(row: dict[str, Any], participants: int) -> Iterator[str]:
    text = row["text"]
    if text.count(BLANK) != 1 or not Mention(**row["blank"]).stands_in(text):
        yield "the offsets of the blank do not hold it"
    for entity, expected in (("occupation", 2), ("participant", participants)):
        found = _whole_words(text).count(row[entity].lower())
        if found != expected:
            yield f"the {entity} occurs {found} times instead of {expected}"


def _balances(instances: Instances, rows: IntArray) -> Iterator[tuple[str, IntArray]]:
    """Yield a name for each kind of group, and the number of rows in each group of that kind."""
    setting = instances.setting
    tasks, _, sets, _, others, _ = setting.shape
    at = setting.coordinates(rows)
    groups = np.bincount(
        flat_index((at.task, at.pronoun, at.other), (tasks, sets, others)),
        minlength=tasks * sets * others,
    ).reshape(tasks, sets, others)
    yield "task, form and distractors' form", groups.ravel()
    cases = np.array([CASES.index(task.case) for task in setting.templates.tasks])
    yield "case", np.array([groups[cases == case].sum() for case in range(len(CASES))])


def _incomplete_occupations(templates: Templates) -> Iterator[Violation]:
    """Every occupation has one task sentence in each case, and one participant."""
    first: dict[str, TaskTemplate] = {}
    counts = Counter((task.occupation, task.case) for task in templates.tasks)
    for task in templates.tasks:
        known = first.setdefault(task.occupation, task)
        if known.participant != task.participant:
            message = f"another participant than in line {known.line}"
            yield Violation(templates.task_place, f"line {task.line}", message)
    for occupation, task in first.items():
        for case in CASES:
            if counts[occupation, case] != 1:
                message = f"{occupation} has {counts[occupation, case]} {case} sentences, not one"
                yield Violation(templates.task_place, f"line {task.line}", message)


def _task_faults(task: TaskTemplate) -> Iterator[str]:
    words = _whole_words(task.text)
    for noun, expected in ((task.occupation, 1), (task.participant, 0)):
        if words.count(noun.lower()) != expected:
            yield f"'{noun}' occurs {words.count(noun.lower())} times instead of {expected}"
    yield from _wording_faults(task.text, BLANK)


def _context_faults(context: ContextTemplate, nouns: Container[str]) -> Iterator[str]:
    slot = SLOTS[context.case]
    for kind, template in (("explicit", context.explicit), ("implicit", context.implicit)):
        text = template.replace(ENTITY, "")
        fixed = text.replace(slot, "")
        if any(word in nouns for word in _whole_words(fixed)):
            yield f"{kind}: an occupation or a participant stands in the fixed text"
        # upstream passes the filled sentence through capitalize()
        if fixed[1:] != fixed[1:].lower():
            yield f"{kind}: a capital within the sentence would be lost"
        # three cells end in a blank, as the card's errata say
        for message in _wording_faults(text.strip(), slot):
            yield f"{kind}: {message}"


def _wording_faults(text: str, slot: str) -> Iterator[str]:
    extra = other_pronoun(text.replace(slot, " "))
    if extra is not None:
        yield f"a further pronoun, '{extra}'"
    if re.search(rf"{re.escape(slot)} (was|is|has|does)\b", text):
        yield "the verb after the pronoun does not agree with they"
    if text.count(".") != 1 or not text.endswith("."):
        yield "no period at the end, or another one before"
    if not text.isascii():
        yield "a character outside ASCII"


def _repeated(place: str, kind: str, texts: Iterable[tuple[int, str]]) -> Iterator[Violation]:
    first_line: dict[str, int] = {}
    for line, text in texts:
        known = first_line.setdefault(text, line)
        if known != line:
            yield Violation(place, f"line {line}", f"the same {kind} as line {known}")


def _whole_words(text: str) -> list[str]:
    return WORD.findall(text.lower())

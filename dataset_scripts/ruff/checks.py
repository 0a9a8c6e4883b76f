"""What RUFF's paper says of its templates and instances, as `validate` checks it."""

import re
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Any

import numpy as np

from pronominal.dataset_scripts.ruff.assembly import SLOTS, IntArray, Setting, flat_index
from pronominal.dataset_scripts.ruff.tables import Instances
from pronominal.dataset_scripts.ruff.templates import (
    BLANK,
    ENTITY,
    ContextTemplate,
    TaskTemplate,
    Templates,
)
from pronominal.dataset_scripts.schemas.checks import repeats
from pronominal.dataset_scripts.schemas.templates import WORD, other_pronoun
from pronominal.dataset_scripts.tables.digests import BLOCK
from pronominal.dataset_scripts.tables.violations import Violation
from pronominal.pronouns import CASES
from pronominal.spans import Mention

TASKS, CONTEXTS = 180, 30
ROWS = (7_200, 86_400, 345_600, 1_036_800, 2_073_600, 2_073_600)
"""Number of instances by number of distractors (RUFF, Table 1)."""

SAMPLE = 2_160

CHECKED = ["id", "text", "blank", "options", "label", "case", "occupation", "participant"]
"""Columns of the rows that are made to be checked."""


def template_violations(templates: Templates) -> Iterator[Violation]:
    """Check both tables, and that no two instances can have the same text.

    Every sentence has its only period at its end; a text can therefore be cut into its sentences
    in one way only, and with all sentences different, different instances are different texts.
    """
    tasks, contexts = templates.tasks, templates.contexts
    for file, count, expected in (
        (templates.task_file, len(tasks), TASKS),
        (templates.context_file, len(contexts), CONTEXTS),
    ):
        if count != expected:
            yield Violation(file, None, f"{count} templates instead of {expected}")
    yield from _incomplete_occupations(templates)
    nouns = {noun for task in tasks for noun in (task.occupation, task.participant)}
    for task in tasks:
        yield from map(task.origin.violation, _task_faults(task))
    for context in contexts:
        yield from map(context.origin.violation, _context_faults(context, nouns))
    yield from repeats("task sentence", [(task.origin, task.text) for task in tasks])
    for kind in ("explicit", "implicit"):
        texts = [(context.origin, getattr(context, kind).strip()) for context in contexts]
        yield from repeats(f"{kind} template", texts)


def setting_violations(instances: Instances, seeds: Sequence[int]) -> Iterator[Violation]:
    """Check the size and balance of a setting and of its samples, by its index arithmetic."""
    setting = instances.setting

    def violation(message: str) -> Violation:
        file = setting.templates.task_file
        return Violation(file, None, f"{_place(setting)}{message}")

    expected = ROWS[setting.distractors] * len(setting.places)
    if len(setting) != expected:
        yield violation(f": {len(setting)} rows instead of {expected}")
    if instances.repeated_uids:
        yield violation(f": {instances.repeated_uids} uids occur again")
    # a variant's rows of each place are as many as RUFF's, by the same arithmetic
    whole = [] if setting.variant.name else [("test", np.arange(len(setting)))]
    for split, rows in [*whole, *((f"seed_{seed}", setting.sample(seed)) for seed in seeds)]:
        if split != "test" and (different := len(np.unique(rows))) != SAMPLE:
            yield violation(f", {split}: {different} different rows instead of {SAMPLE}")
        for kind, counts in _balances(instances, rows):
            if len(set(counts)) > 1:
                balance = f"from {min(counts)} to {max(counts)} rows of each {kind}"
                yield violation(f", {split}: {balance}")


def instance_violations(instances: Instances, rows: IntArray) -> Iterator[Violation]:
    """Make rows of a setting and check their texts, offsets and that nothing repeats.

    Made for zero and one distractor: further ones name nobody (`template_violations`), so that
    what holds here holds there.
    """
    setting = instances.setting
    tasks = setting.templates.tasks
    origins = {task.name: task.origin for task in tasks}
    people = {task.origin.row: (task.target, task.other) for task in tasks}
    seen: set[str] = set()
    reported: set[tuple[str, str]] = set()
    for block in np.array_split(rows, max(len(rows) // BLOCK, 1)):
        for row in instances.table(block).select(CHECKED).to_pylist():
            origin = origins[f"{row['occupation']}-{row['case']}"]
            filled = row["text"].replace(BLANK, row["options"][row["label"]])
            called = people[origin.row]
            faults = list(_instance_faults(row, called, others=min(setting.distractors, 1)))
            if filled in seen or row["id"] in seen:
                faults.append("an instance or its id occurs again")
            seen |= {filled, row["id"]}
            for fault in faults:
                if (origin.row, fault) not in reported:
                    reported.add((origin.row, fault))
                    yield origin.violation(f"{_place(setting)}: {fault}")


def _place(setting: Setting) -> str:
    return " ".join(filter(None, (setting.variant.name, setting.config)))


def _instance_faults(row: dict[str, Any], called: Sequence[str], others: int) -> Iterator[str]:
    text = row["text"]
    if text.count(BLANK) != 1 or not Mention(**row["blank"]).stands_in(text):
        yield "the offsets of the blank do not hold it"
    words = _whole_words(text)
    # in a variant they may be called otherwise, and then not by these
    times = {row["occupation"]: 0, row["participant"]: 0, called[0]: 2, called[1]: others}
    for noun, expected in times.items():
        if (count := words.count(noun.lower())) != expected:
            yield f"'{noun}' occurs {count} times instead of {expected}"


def _balances(instances: Instances, rows: IntArray) -> Iterator[tuple[str, IntArray]]:
    """Yield a name for each kind of group, and the number of rows in each group of that kind."""
    setting = instances.setting
    tasks, _, sets, _, others, *_ = setting.shape
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
            yield task.origin.violation(f"another participant than in {known.origin.row}")
    for occupation, task in first.items():
        for case in CASES:
            if (count := counts[occupation, case]) != 1:
                yield task.origin.violation(f"{occupation} has {count} {case} sentences, not one")


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


def _whole_words(text: str) -> list[str]:
    return WORD.findall(text.lower())

"""RUFF's template assembly as arithmetic: from the number of a row to the row.

Upstream's add_context.py nests loops over task sentence, introduction, its pronoun, first
distractor, its pronoun, and the order of further distractors. Each setting is therefore an array
of six dimensions whose cells, counted in C order, are upstream's rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import permutations, product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pronominal.dataset_scripts.ruff.templates import ENTITY, THEMES, Templates
from pronominal.dataset_scripts.schemas.templates import PRONOUN_SLOTS
from pronominal.pronouns import CASES, PRONOUN_SETS, Case, PronounSet

IntArray: TypeAlias = npt.NDArray[np.signedinteger]

SETTINGS = range(6)
"""The numbers of distractors."""

CONTEXTS = range(2 * THEMES)
SLOTS: dict[Case, str] = {case: slot for slot, case in PRONOUN_SLOTS.items()}


@dataclass(frozen=True, slots=True)
class Coordinates:
    """What each of a series of rows is made of; arrays of one length.

    Attributes:
        task: index of the task template.
        context: number of the introduction's context template within its case.
        pronoun: index of the right pronoun set.
        theme: which of the four context templates that may come next is the first distractor.
        other: which of the other pronoun sets is the distractors'.
        order: which ordered selection of further distractors follows.
    """

    task: IntArray
    context: IntArray
    pronoun: IntArray
    theme: IntArray
    other: IntArray
    order: IntArray


class Setting:
    """All instances with one number of distractors.

    Args:
        templates: both tables, without `order_errors`.
        pronoun_sets: the sets that fill the slots, `PRONOUN_SETS` first.
        distractors: how many of them, 0 to 5.

    Attributes:
        shape: number of values of each of the `Coordinates`, in their order.
    """

    def __init__(
        self, templates: Templates, pronoun_sets: tuple[PronounSet, ...], distractors: int
    ) -> None:
        self.templates = templates
        self.pronoun_sets = pronoun_sets
        self.distractors = distractors
        first = [_first_distractors(context) for context in CONTEXTS]
        self._first = np.array(first, dtype=np.int32)
        further = [_further_distractors(context, distractors - 1) for context in CONTEXTS]
        self._further = np.array(further, dtype=np.int32)
        sets = range(len(pronoun_sets))
        other = [[other for other in sets if other != own] for own in sets]
        self._other = np.array(other, dtype=np.int32)
        themes, others = (self._first.shape[1], len(sets) - 1) if distractors else (1, 1)
        orders = self._further.shape[1]
        tasks = len(templates.tasks)
        self.shape = (tasks, len(CONTEXTS), len(sets), themes, others, orders)

    def __len__(self) -> int:
        return int(np.prod(self.shape))

    @property
    def config(self) -> str:
        """Name of the published config."""
        return f"distractors_{self.distractors}"

    def coordinates(self, rows: IntArray) -> Coordinates:
        """Return what the rows with these numbers (0 to ``len(self) - 1``) are made of."""
        # halves the memory that a block of rows passes through
        return Coordinates(*(axis.astype(np.int32) for axis in np.unravel_index(rows, self.shape)))

    def distractor_sets(self, at: Coordinates) -> IntArray:
        """Return the index of the distractors' pronoun set in each row."""
        return self._other[at.pronoun, at.other]

    def first_distractors(self, at: Coordinates) -> IntArray:
        """Return the context template of the first distractor in each row."""
        return self._first[at.context, at.theme]

    def contexts(self, at: Coordinates) -> IntArray:
        """Return the context templates of each row, [row, 1 + distractors], numbered as in uid."""
        if not self.distractors:
            return at.context[:, None]
        first = self.first_distractors(at)
        return np.column_stack([at.context, first, self._further[first, at.order]])

    def sample(self, seed: int) -> IntArray:
        """Return the rows that upstream's sample_templates.py draws, in its order.

        pandas' ``groupby.sample`` draws from one `RandomState`, group after sorted group; the
        groups are occupation, grammatical case, form and distractors' form, 3 rows from each
        without distractors and 1 otherwise. Groups with a set that is not RUFF's own come last,
        so that the rows before them are the paper's.
        """
        _, contexts, _, themes, _, orders = self.shape
        size, drawn = contexts * themes * orders, 1 if self.distractors else 3
        task, pronoun, other = np.array(self._groups).T[:, :, None]
        places = _drawn(seed, len(task), size, drawn)
        context, theme, order = np.unravel_index(places, (contexts, themes, orders))
        return flat_index((task, context, pronoun, theme, other, order), self.shape).ravel()

    @cached_property
    def _groups(self) -> list[tuple[int, int, int]]:
        """Return the groups that are sampled, as (task, pronoun, other), in pandas' order."""
        tasks, _, sets, _, others, _ = self.shape

        def key(group: tuple[int, int, int]) -> tuple[bool, str, str, list[str]]:
            task, (own, other) = self.templates.tasks[group[0]], group[1:]
            used = [own, int(self._other[own, other])] if self.distractors else [own]
            forms = [self.pronoun_sets[index].form(task.case) for index in used]
            return max(used) >= len(PRONOUN_SETS), task.occupation, SLOTS[task.case], forms

        return sorted(product(range(tasks), range(sets), range(others)), key=key)


@cache
def _drawn(seed: int, groups: int, size: int, drawn: int) -> IntArray:
    """Return the places that pandas draws from each of several groups of one size."""
    random = np.random.RandomState(seed)
    # the same numbers as choice(size, drawn, replace=False), at a third of its cost
    return np.array([random.permutation(size)[:drawn] for _ in range(groups)])


def flat_index(places: Sequence[IntArray], shape: Sequence[int]) -> IntArray:
    """Return the C-order index of each cell; `numpy.ravel_multi_index` without its checks."""
    index = places[0]
    for place, size in zip(places[1:], shape[1:], strict=True):
        index = index * size + place
    return index


@lru_cache(maxsize=2)
def explicit_sentences(
    templates: Templates, pronoun_sets: tuple[PronounSet, ...], entity: str
) -> list[str]:
    """Return, for all settings, what names the ``"occupation"`` or ``"participant"`` of each task.

    One sentence for each [task, context template, pronoun set], with a blank behind it.
    """
    contexts = {case: templates.contexts_of(case) for case in CASES}
    return [
        _filled(context.explicit.replace(ENTITY, getattr(task, entity)), task.case, pronouns)
        for task in templates.tasks
        for context in contexts[task.case]
        for pronouns in pronoun_sets
    ]


def further_sentences(setting: Setting) -> list[str]:
    """Return the distractors behind the first one, all in one string, which may be empty.

    One string for each [case, first distractor, order, pronoun set], with a blank behind it.
    """
    contexts = {case: setting.templates.contexts_of(case) for case in CASES}
    return [
        "".join(_filled(contexts[case][number].implicit, case, pronouns) for number in order)
        for case in CASES
        for first in CONTEXTS
        for order in _further_distractors(first, setting.distractors - 1)
        for pronouns in setting.pronoun_sets
    ]


def _filled(template: str, case: Case, pronouns: PronounSet) -> str:
    # capitalize() as upstream, since a sentence may begin with its pronoun
    return f"{template.replace(SLOTS[case], pronouns.form(case)).capitalize()} "


def _first_distractors(introduction: int) -> list[int]:
    """Return the context templates of the other polarity and another theme."""
    return [
        context
        for context in CONTEXTS
        if context // THEMES != introduction // THEMES and context % THEMES != introduction % THEMES
    ]


def _further_distractors(first: int, count: int) -> list[tuple[int, ...]]:
    """Return every ordered selection from the other context templates of the same polarity."""
    same = [c for c in CONTEXTS if c // THEMES == first // THEMES and c != first]
    return list(permutations(same, max(count, 0)))

"""RUFF's template assembly as arithmetic: from the number of a row to the row.

Upstream's add_context.py nests loops over task sentence, introduction, its pronoun, first
distractor, its pronoun, and the order of further distractors. Each setting is therefore an array
of seven dimensions whose cells, counted in C order, are upstream's rows; the last dimension, the
place of the introduction, has one cell except in a variant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import permutations, product
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pronominal.dataset_scripts.ruff.templates import ENTITY, THEMES, Templates
from pronominal.dataset_scripts.ruff.variants import PUBLISHED, Variant
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
        place: which of the variant's places the introduction has.
    """

    task: IntArray
    context: IntArray
    pronoun: IntArray
    theme: IntArray
    other: IntArray
    order: IntArray
    place: IntArray


class Setting:
    """All instances with one number of distractors.

    Args:
        templates: both tables, without `order_errors`.
        pronoun_sets: the sets that fill the slots, `PRONOUN_SETS` first.
        distractors: how many of them, 0 to 5.
        variant: how they are assembled, where not as published.

    Attributes:
        places: how many distractors may come before the introduction.
        shape: number of values of each of the `Coordinates`, in their order.
    """

    def __init__(
        self,
        templates: Templates,
        pronoun_sets: tuple[PronounSet, ...],
        distractors: int,
        variant: Variant = PUBLISHED,
    ) -> None:
        self.templates, self.variant = variant.people(templates), variant
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
        self.places = tuple(variant.places(distractors))
        tasks, places = len(templates.tasks), len(self.places)
        self.shape = (tasks, len(CONTEXTS), len(sets), themes, others, orders, places)

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
        """Return the context templates of each row, [row, 1 + distractors], numbered as in uid.

        The introduction's is the first, whatever its place.
        """
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
        _, contexts, _, themes, _, *rest = self.shape
        within = (contexts, themes, *rest)
        size, drawn = int(np.prod(within)), 1 if self.distractors else 3
        task, pronoun, other = np.array(self._groups).T[:, :, None]
        cells = _drawn(seed, len(task), size, drawn)
        context, theme, *last = np.unravel_index(cells, within)
        return flat_index((task, context, pronoun, theme, other, *last), self.shape).ravel()

    @cached_property
    def _groups(self) -> list[tuple[int, int, int]]:
        """Return the groups that are sampled, as (task, pronoun, other), in pandas' order."""
        tasks, _, sets, _, others, *_ = self.shape

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
    templates: Templates, pronoun_sets: tuple[PronounSet, ...], entity: str, variant: Variant
) -> list[str]:
    """Return, for all settings, what names the ``"target"`` or the ``"other"`` of each task.

    One sentence for each [task, context template, pronoun set], with a blank behind it.
    """
    contexts = {case: templates.contexts_of(case) for case in CASES}
    return [
        _filled(context.explicit, context.case, pronouns, getattr(task, entity))
        for task in templates.tasks
        for context in contexts[variant.shown[task.case]]
        for pronouns in pronoun_sets
    ]


def further_sentences(setting: Setting) -> tuple[list[str], list[str]]:
    """Return the distractors behind the first one, before and behind the introduction.

    In both lists one string, which may be empty, for each [case of the slot, first distractor,
    order, place, pronoun set], with a blank behind each sentence.
    """
    before, behind = [], []
    contexts = {case: setting.templates.contexts_of(case) for case in CASES}
    for shown, first in product(map(setting.variant.shown.__getitem__, CASES), CONTEXTS):
        for order in _further_distractors(first, setting.distractors - 1):
            for place, pronouns in product(setting.places, setting.pronoun_sets):
                said = [_filled(contexts[shown][k].implicit, shown, pronouns) for k in order]
                # the first of the distractors before the introduction names the other person
                border = max(place - 1, 0)
                before.append("".join(said[:border]))
                behind.append("".join(said[border:]))
    return before, behind


def _filled(template: str, case: Case, pronouns: PronounSet, entity: str = "") -> str:
    # capitalize() as upstream, since a sentence may begin with its pronoun
    sentence = template.replace(SLOTS[case], pronouns.form(case)).capitalize()
    return f"{sentence.replace(ENTITY.lower(), entity)} "


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

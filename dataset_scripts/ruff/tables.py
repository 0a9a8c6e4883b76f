"""RUFF's published tables, made whole columns at a time."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pronominal.dataset_scripts.ruff.assembly import (
    Coordinates,
    IntArray,
    Setting,
    explicit_sentences,
    flat_index,
    further_sentences,
)
from pronominal.dataset_scripts.ruff.templates import BLANK
from pronominal.dataset_scripts.tables.columns import MENTION
from pronominal.dataset_scripts.tables.digests import BLOCK
from pronominal.pronouns import CASES


class Pieces:
    """Lists of strings in one array, from which rows are joined.

    Args:
        lists: the strings; each list is addressed by its own places.
    """

    def __init__(self, *lists: Sequence[str]) -> None:
        self._strings = _strings([string for strings in lists for string in strings])
        self._starts = np.cumsum([0, *map(len, lists)], dtype=np.int32)[:-1]
        self._lengths = pc.utf8_length(self._strings).to_numpy()

    def places(self, *pieces: tuple[int, IntArray]) -> IntArray:
        """Return the places in the one array, [row, piece], of pieces as (list, place in it)."""
        return np.column_stack([self._starts[number] + place for number, place in pieces])

    def lengths(self, places: IntArray) -> IntArray:
        """Return the length of each row of `places` in code points."""
        total: IntArray = sum(self._lengths[column] for column in places.T)
        return total

    def joined(self, places: IntArray) -> pa.StringArray:
        """Return one string for each row of `places`, its pieces one after another.

        ``take`` lays out the pieces of all rows in one buffer; a row is every n-th border in it,
        so that no text is copied twice.
        """
        taken = self._strings.take(pa.array(places.ravel()))
        _, borders, text = taken.buffers()
        every = np.frombuffer(borders, dtype=np.int32, count=len(taken) + 1)
        rows = np.ascontiguousarray(every[:: places.shape[1]])
        return pa.StringArray.from_buffers(len(places), pa.py_buffer(rows), text)


INTRODUCTION, FIRST, BEFORE, BEHIND, TASK, NOTHING = range(6)
"""Lists of the pieces of a text; further distractors are `BEFORE` and `BEHIND` the introduction."""


class Instances:
    """The published rows of one setting; any of them is made from its number alone."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        tasks, sets = setting.templates.tasks, setting.pronoun_sets
        uids, names = list(_uids(setting)), [pronouns.name for pronouns in sets]
        self._text = Pieces(
            explicit_sentences(setting.templates, sets, "target", setting.variant),
            explicit_sentences(setting.templates, sets, "other", setting.variant),
            *further_sentences(setting),
            [task.text for task in tasks],
            [""],
        )
        self._id = Pieces(_stems(setting), [f"-{uid}" for uid in uids])
        self._case_of = np.array([CASES.index(task.case) for task in tasks], dtype=np.int32)
        self._blank_of = np.array([task.text.index(BLANK) for task in tasks], dtype=np.int32)
        self._occupations = _strings([task.occupation for task in tasks])
        self._participants = _strings([task.participant for task in tasks])
        self._targets = _strings([task.target for task in tasks])
        self._others = _strings([task.other for task in tasks])
        self._options = pa.array([[pronouns.form(case) for pronouns in sets] for case in CASES])
        self._cases, self._sets, self._uids = _strings(CASES), _strings(names), _strings(uids)

    def __len__(self) -> int:
        return len(self.setting)

    @property
    def repeated_uids(self) -> int:
        """Number of combinations of context templates that have the uid of another one."""
        return len(self._uids) - len(self._uids.unique())

    def tables(self) -> Iterator[pa.Table]:
        """Yield all rows in upstream's order, in blocks."""
        for start in range(0, len(self), BLOCK):
            yield self.table(np.arange(start, min(start + BLOCK, len(self))))

    def sampled(self, seed: int) -> Iterator[pa.Table]:
        """Yield the rows that the paper samples with this seed."""
        yield self.table(self.setting.sample(seed))

    def table(self, rows: IntArray) -> pa.Table:
        """Return the rows with these numbers, in this order."""
        at = self.setting.coordinates(rows)
        cases = self._case_of[at.task]
        other = self.setting.distractor_sets(at) if self.setting.distractors else None
        _, contexts, _, themes, _, *rest = self.setting.shape
        uid = flat_index((at.context, at.theme, at.order, at.place), (contexts, themes, *rest))
        text = self._sentences(at, cases, other)
        blank = self._text.lengths(text[:, :-1]) + self._blank_of[at.task]
        called = {
            "target": _take(self._targets, at.task),
            "other": _take(self._others, at.task),
        }
        return pa.table(
            {
                "id": self._id.joined(self._id.places((0, self._stem_places(at, other)), (1, uid))),
                "text": self._text.joined(text),
                "blank": _blanks(blank),
                "options": _take(self._options, cases),
                "label": pa.array(at.pronoun, pa.int64()),
                "pronoun_set": _take(self._sets, at.pronoun),
                "distractor_set": (
                    pa.nulls(len(rows), pa.string()) if other is None else _take(self._sets, other)
                ),
                "case": _take(self._cases, cases),
                "occupation": _take(self._occupations, at.task),
                "participant": _take(self._participants, at.task),
                "uid": _take(self._uids, uid),
                **(called if self.setting.variant.name else {}),
            }
        )

    def _stem_places(self, at: Coordinates, other: IntArray | None) -> IntArray:
        """Return the place of each row's stem among the `_stems`."""
        tasks, _, sets, *_ = self.setting.shape
        if other is None:
            return flat_index((at.task, at.pronoun), (tasks, sets))
        return flat_index((at.task, at.pronoun, other), (tasks, sets, sets))

    def _sentences(self, at: Coordinates, cases: IntArray, other: IntArray | None) -> IntArray:
        """Return the places of each row's sentences, the task sentence last."""
        tasks, contexts, sets, _, _, orders, places = self.setting.shape
        about = (tasks, contexts, sets)
        introduction = flat_index((at.task, at.context, at.pronoun), about)
        opening, task = (INTRODUCTION, introduction), (TASK, at.task)
        if other is None:
            return self._text.places(opening, task)
        first = self.setting.first_distractors(at)
        distractor = (FIRST, flat_index((at.task, first, other), about))
        of = (len(CASES), contexts, orders, places, sets)
        further = flat_index((cases, first, at.order, at.place, other), of)
        if self.setting.places == (0,):
            return self._text.places(opening, distractor, (BEHIND, further), task)
        leads = np.array(self.setting.places)[at.place] == 0
        start, nothing = self._text.places(opening)[:, 0], self._text.places((NOTHING, at.task * 0))
        rest = self._text.places(distractor, (BEFORE, further), opening, (BEHIND, further), task)
        rest[:, 2] = np.where(leads, nothing[:, 0], start)
        return np.column_stack([np.where(leads, start, nothing[:, 0]), rest])


def _blanks(starts: IntArray) -> pa.StructArray:
    """Return the mentions of the blanks that begin at these offsets."""
    fields = (
        pa.repeat(pa.scalar(BLANK), len(starts)),
        pa.array(starts, pa.int32()),
        pa.array(starts + len(BLANK), pa.int32()),
    )
    return pa.StructArray.from_arrays(fields, fields=list(MENTION))


def _stems(setting: Setting) -> list[str]:
    """Return how an id begins: for each [task, pronoun set, distractors' set if there are any]."""
    endings = [f"-{pronouns.name}" for pronouns in setting.pronoun_sets]
    sets = (endings, endings) if setting.distractors else (endings,)
    names = [setting.variant.id_of(task) for task in setting.templates.tasks]
    return ["".join((name, *ends)) for name in names for ends in product(*sets)]


def _uids(setting: Setting) -> Iterator[str]:
    """Yield upstream's uid of each combination of context templates, in its order.

    In a variant its parts are in the order of the text.
    """
    _, contexts, _, themes, _, *rest = setting.shape
    context, theme, order, place = np.indices((contexts, themes, *rest)).reshape(4, -1)
    same = np.zeros_like(context)
    kinds = ("eo", "ep", "ip", "ip", "ip", "ip")
    rows = setting.contexts(Coordinates(same, context, same, theme, same, order, place))
    for row, at in zip(rows, place, strict=True):
        first, *distractors = (f"{kind}{k}" for kind, k in zip(kinds, row, strict=False))
        before = setting.places[at]
        yield "_".join((*distractors[:before], first, *distractors[before:]))


def _strings(values: Sequence[str]) -> pa.StringArray:
    return pa.array(values, pa.string())


def _take(values: pa.Array, places: IntArray) -> pa.Array:
    return values.take(pa.array(places))

"""Boards: which entries answered the same rows in the same way, and the places of those."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pronominal.dataset_scripts.reading.folders import MissingSplitError
from pronominal.dataset_scripts.reading.loading import dataset_name, load_split
from pronominal.errors import InputError
from pronominal.eval.leaderboard.entries import Entry, Place, Ranked, Unranked
from pronominal.eval.leaderboard.published import published
from pronominal.eval.leaderboard.submissions import Submitted
from pronominal.eval.runs.units import read_units
from pronominal.eval.scores import TASK, TASKS, task_of_run
from pronominal.eval.statistics.paired_tests import PairedTest, PairedUnits, paired_tests
from pronominal.eval.statistics.ranks import rank, ranks_by_t
from pronominal.eval.statistics.scores import Block
from pronominal.eval.tables.measure import Measure
from pronominal.eval.tables.table import UNDEFINED
from pronominal.eval.task import Task

BY_SIGNS = 40
"""Systems of a board whose ranks are those of the report; those of more are by `ranks_by_t`."""


@dataclass(frozen=True)
class Board:
    """The entries that answered the same rows.

    Attributes:
        place: dataset, config and split.
        digest: of the rows; None where there are published figures only.
        task: how they are scored.
        headline: the measure that gives the places.
        ranked: runs with their places, the best one first.
        published: figures of papers, the best one first.
        ahead: by how much the first run is better than the second one; None where there is none.
    """

    place: Place
    digest: str | None
    task: Task
    headline: Measure
    ranked: tuple[Ranked, ...] = ()
    published: tuple[Entry, ...] = ()
    ahead: PairedTest | None = None

    @property
    def entries(self) -> list[Entry]:
        """All entries, runs first."""
        return [*(one.entry for one in self.ranked), *self.published]

    @property
    def lead(self) -> Measure:
        """The headline; where no entry has it, what the paper gives first."""
        if self.ranked or not self.published:
            return self.headline
        return _first_given(self.published[0], self.task)

    @cached_property
    def measures(self) -> list[Measure]:
        """The lead, the measures that papers give, and others that a run's tables have."""
        scores = [entry.scores for entry in self.entries]
        given = [*dict.fromkeys(path for entry in self.published for path in entry.written)]
        shown = (one for one in self.task.measures if one.in_table or one.path in given)
        there = [one for one in shown if one != self.lead and any(map(one.counts_in, scores))]
        of_papers = sorted(
            (one for one in there if one.path in given), key=lambda one: given.index(one.path)
        )
        return [self.lead, *of_papers, *(one for one in there if one not in of_papers)]

    @property
    def leaders(self) -> list[str]:
        """The names of the runs that may be the best one."""
        return [one.entry.name for one in self.ranked if one.places[0] == 1]


@dataclass(slots=True)
class Leaderboard:
    """All boards of a dataset, and the runs that are on none of them.

    Attributes:
        boards: by config and split.
        unranked: runs without a place, and why.
    """

    boards: list[Board] = field(default_factory=list)
    unranked: list[Unranked] = field(default_factory=list)


def leaderboards(
    submitted: Sequence[Submitted],
    unranked: Iterable[Unranked],
    *,
    tasks: Sequence[Task] = (),
    datasets: Iterable[str] = (),
    reading: str = "offsets",
    papers: bool = True,
) -> dict[str, Leaderboard]:
    """Put entries on boards.

    Args:
        submitted: scored runs.
        unranked: runs that are not finished or not scored.
        tasks: of a user's own, by which some of the runs were scored.
        datasets: built datasets, whose rows are those of the boards; of others they are the rows
            that most runs answered.
        reading: the decision rule of the ranked runs.
        papers: whether the papers' figures are entries, too.

    Returns:
        Dataset -> its boards.

    Raises:
        InputError: a dataset cannot be read, a task is unknown, or units are damaged.
    """
    by_place: dict[Place, list[Submitted]] = {}
    for one in submitted:
        by_place.setdefault(one.place, []).append(one)
    given = published() if papers else {}
    digests = _digests(by_place, datasets)
    made: dict[str, Leaderboard] = {}
    for place in sorted({*by_place, *given}):
        here, runs = made.setdefault(place[0], Leaderboard()), by_place.get(place, [])
        board, apart = _board(place, runs, given.get(place, []), digests.get(place), reading, tasks)
        here.unranked += apart
        if board.entries:
            here.boards.append(board)
    for other in unranked:
        made.setdefault(other.place[0], Leaderboard()).unranked.append(other)
    return dict(sorted(made.items()))


def _digests(
    by_place: Mapping[Place, Sequence[Submitted]], datasets: Iterable[str]
) -> dict[Place, str]:
    """Return the digest of each board's rows: that of a dataset, else that of most runs."""
    found: dict[Place, str] = {}
    for place, runs in by_place.items():
        counts = Counter(one.run.dataset.digest for one in runs if one.limit is None)
        if counts:
            found[place] = min(counts, key=lambda digest: (-counts[digest], digest))
    for where in datasets:
        name = dataset_name(where)
        for place in by_place:
            with suppress(MissingSplitError):  # it was built without this config or split
                if place[0] == name:
                    found[place] = load_split(where, place[1], place[2]).digest
    return found


def _board(
    place: Place,
    runs: Sequence[Submitted],
    papers: Sequence[Entry],
    digest: str | None,
    reading: str,
    tasks: Sequence[Task],
) -> tuple[Board, list[Unranked]]:
    """Return a board, and the runs of its split that are not on it."""
    task = _task(place[0], runs, tasks)
    reasons = [(one, _why_apart(one, task, digest, reading)) for one in runs]
    apart = [one.unranked(why) for one, why in reasons if why is not None]
    kept = [one.entry() for one, why in reasons if why is None]
    _refuse_one_label(kept)
    scores = [one.scores for one in kept] or [one.scores for one in papers]
    headline = task.headline_in(scores)
    units, lacking = _units(kept, headline)
    by_label = {one.run.label: one for one in runs}
    apart += [by_label[label].unranked(why) for label, why in lacking.items()]
    places = _places(units) if headline.direction == "more" else {}
    ranked = sorted(
        (Ranked(one, places.get(one.label)) for one in kept if one.label in units),
        key=lambda one: (one.rank["rank"] if one.rank else len(kept), one.places, one.entry.label),
    )
    first = sorted(papers, key=lambda one: (-(one.value(_first_given(one, task)) or 0), one.label))
    ahead = _ahead([units[one.entry.label] for one in ranked[:2]]) if places else None
    return Board(place, digest, task, headline, (*ranked,), (*first,), ahead), apart


def _task(dataset: str, runs: Sequence[Submitted], tasks: Sequence[Task]) -> Task:
    """Return the task of a dataset, or the user's own that the first run was scored by."""
    name = None if dataset in TASKS or not runs else runs[0].scores.get(TASK)
    return task_of_run(dataset, name, tasks)


def _why_apart(one: Submitted, task: Task, digest: str | None, reading: str) -> str | None:
    """Return why a run cannot be compared with the others of its split; None where it can."""
    if one.limit is not None:
        return f"only {one.limit:,} of the rows"
    if one.run.dataset.digest != digest:
        return f"other rows than those of the board, whose digest is {str(digest)[:12]}"
    if one.scores.get(TASK, task.name) != task.name:
        return f"scored by another task, {one.scores[TASK]}"
    if one.reading not in (reading, UNDEFINED):
        return f"another decision rule, {one.reading}; the board's is {reading}"
    return None


def _refuse_one_label(entries: Sequence[Entry]) -> None:
    folders: dict[str, Path | None] = {}
    for one in entries:
        earlier = folders.setdefault(one.label, one.folder)
        if earlier != one.folder:
            cause = f"this run and that in {earlier} are both called {one.label}"
            cure = "evaluate one of them under another label"
            raise InputError(cause, cure=cure, file=one.folder)


def _units(
    entries: Sequence[Entry], headline: Measure
) -> tuple[dict[str, PairedUnits], dict[str, str]]:
    """Return the units by which runs are compared, and why others cannot be."""
    found: dict[str, PairedUnits] = {}
    lacking: dict[str, str] = {}
    for one in entries:
        kept = None if one.folder is None else read_units(one.folder)
        if headline.of(one.scores) is None:
            lacking[one.label] = f"it has no {headline.name}"
        elif kept is None or headline.key not in kept:
            lacking[one.label] = f"its folder has no units of {headline.name} to compare"
        else:
            found[one.label] = kept[headline.key]
    usual = Counter(len(units) for units in found.values()).most_common(1)
    for label in [label for label, units in found.items() if len(units) != usual[0][0]]:
        lacking[label] = "its units are not those of the runs beside it"
        del found[label]
    return found, lacking


def _places(units: Mapping[str, PairedUnits]) -> dict[str, Block]:
    if len(units) < 2:
        return {}
    if len(units) > BY_SIGNS:
        return ranks_by_t(units)
    tests = paired_tests(units)
    found = {
        label: rank([test.to_json() for test in others.values()]) for label, others in tests.items()
    }
    return {label: place for label, place in found.items() if place is not None}


def _ahead(units: Sequence[PairedUnits]) -> PairedTest:
    """Compare the first two runs of a board."""
    return paired_tests(dict(zip("ab", units, strict=True)))["a"]["b"]


def _first_given(entry: Entry, task: Task) -> Measure:
    """Return the measure that a paper's tables have first of a system."""
    first = next(iter(entry.written))
    return next(measure for measure in task.measures if measure.path == first)

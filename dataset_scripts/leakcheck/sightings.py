"""From the runs that stand in a text to the sentences that it holds.

Each run of a sentence is a point, the last one two; so is a last run with one word changed, where
it is all that there is, and one elsewhere. A sentence counts as found when more than half of its
points stand together, in their order and with at most `SLACK` words put in or taken out between
them. So one phrase of eight words that is common to a long sentence and to other text does not
count, and a whole sentence always does. Where a text is a copy of one sentence and nearly one of
others, it counts as the one of which most words stand there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pronominal.dataset_scripts.leakcheck.index import Run
from pronominal.dataset_scripts.leakcheck.sentences import RUN

SLACK = 8
TOUCHING = 2
"""Words that neighbouring sentences may seem to share."""
REMEMBERED = 256
"""Words for which it is remembered what was told: longer than sentences are."""


@dataclass(slots=True)
class Sighting:
    """The runs of one sentence that were found together.

    Attributes:
        run: the one that was found first.
        origin: number of the word of the text at which the sentence would begin.
        start: number of the first word that was found.
        end: number of the word behind the last one.
        line: the line of the first one.
        whole: which runs were found as they are.
        changed: whether the last run was found with one word changed.
        told: whether it was returned already.
    """

    run: Run
    origin: int
    start: int
    end: int
    line: int
    whole: set[int] = field(default_factory=set)
    changed: bool = False
    told: bool = False

    def add(self, run: Run, start: int, end: int, line: int) -> bool:
        """Take one more run; return whether it settles that the sentence is there."""
        before = self.is_settled
        # a changed run may begin with a word of the line before
        surer = not self.whole and not run.remainder
        if surer or (start < self.start and not (self.whole and run.remainder)):
            self.start, self.line = start, line
        self.end = max(self.end, end)
        if run.remainder:
            self.changed = True
        else:
            self.whole.add(run.offset // RUN)
        return self.is_settled and not before

    @property
    def is_settled(self) -> bool:
        """Whether enough of the sentence was found."""
        last = self.run.runs - 1
        points = len(self.whole) + (last in self.whole)
        if self.changed and last not in self.whole:
            points += 1 if last else 2
        # the whole last run is half the points of three runs, as of a sentence's second half
        return 2 * points > self.run.runs + (last not in self.whole)

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """Greater for the more likely of several sentences that one place holds."""
        return self.told, len(self.whole), self.end - self.start, -self.run.sentence

    @property
    def expected_end(self) -> int:
        """Number of the word behind the sentence, if it stands there whole."""
        return self.origin + self.run.offset % RUN + self.run.runs * RUN

    def shares_place_with(self, other: "Sighting") -> bool:
        """Whether the shorter one lies by more than a half in the longer one."""
        shared = min(self.end, other.end) - max(self.start, other.start)
        return 2 * shared > min(self.end - self.start, other.end - other.start)


class Sightings:
    """The sentences that are found in one text, as it is read."""

    def __init__(self) -> None:
        self._latest: dict[int, Sighting] = {}
        self._settled: list[Sighting] = []
        self._told: list[Sighting] = []

    def add(self, runs: Sequence[Run], start: int, end: int, line: int) -> None:
        """Take the runs that stand from one word of the text to another."""
        for run in runs:
            origin = start - run.offset
            seen = self._latest.get(run.sentence)
            slack = SLACK if run.runs > 1 else 1
            if seen is None or abs(seen.origin - origin) > slack:
                seen = Sighting(run, origin, start - run.head, end, line)
                self._latest[run.sentence] = seen
            if seen.add(run, start - run.head, end, line):
                self._settled.append(seen)

    def settled(self, read: int | None = None) -> list[tuple[int, Run]]:
        """Return the sentences found since the last time, each by its line and one of its runs.

        Args:
            read: how many words of the text were read; None at its end. What goes on there is
                returned later.
        """
        settled, self._settled = self._settled, []
        if read is not None:
            goes_on = [seen for seen in settled if seen.expected_end + SLACK > read]
            border = min((seen.start for seen in goes_on), default=read)
            self._settled = [seen for seen in settled if seen.end > border]
            settled = [seen for seen in settled if seen.end <= border]
            self._told = [seen for seen in self._told if seen.end > read - REMEMBERED]
        told = [seen for group in _neighbours([*self._told, *settled]) for seen in _best(group)]
        fresh = [seen for seen in told if not seen.told]
        for seen in fresh:
            seen.told = True
        self._told += fresh
        return [(seen.line, seen.run) for seen in fresh]


def _neighbours(sightings: Sequence[Sighting]) -> Iterator[list[Sighting]]:
    """Yield groups of sightings that share words of the text."""
    group: list[Sighting] = []
    end = 0
    for seen in sorted(sightings, key=lambda seen: seen.start):
        if group and seen.start + TOUCHING >= end:
            yield group
            group = []
        group.append(seen)
        end = max(seen.end, end)
    if group:
        yield group


def _best(group: Sequence[Sighting]) -> list[Sighting]:
    """Return the best sighting of each place, in the order of the text."""
    best: list[Sighting] = []
    for seen in sorted(group, key=lambda seen: seen.rank, reverse=True):
        if not any(seen.shares_place_with(other) for other in best):
            best.append(seen)
    return sorted(best, key=lambda seen: seen.start)

"""The columns of the table that is printed first, as tasks declare them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pronominal.eval.statistics.scores import Scores
from pronominal.eval.tables.comparison import parts_of
from pronominal.eval.tables.measure import Measure


@dataclass(frozen=True, slots=True)
class SummaryColumn:
    """A column of the first table, or one for each part of a division.

    Attributes:
        measure: what it shows.
        division: of the measure; None for all rows.
        heading: what it is called below its group; the measure's heading without it.
        short: part of the division -> what it is called there, where that is another.
        group: what stands above neighbours of one group.
    """

    measure: Measure
    division: str | None = None
    heading: str | None = None
    group: str = ""
    short: Mapping[str, str] = field(default_factory=dict)

    def expanded(self, scores: Iterable[Scores]) -> Iterator["SummaryColumn"]:
        """Yield the column, or those of the parts that some system has a number for."""
        if self.division is None:
            yield self
            return
        for (part,), path in parts_of(self.measure, self.division, scores):
            key = f"{self.measure.key} on {part}"
            measure = replace(self.measure.on_part(part, path), key=key)
            yield SummaryColumn(measure, heading=self.short.get(part, part), group=self.group)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.heading or self.measure.heading

"""Whether a figure of a paper holds, by the interval of ours."""

from dataclasses import dataclass
from typing import Literal

from pronominal.eval.papers.figures import PaperFigure
from pronominal.eval.papers.reproduction import Line

Word = Literal["inside the interval", "outside the interval", "not comparable"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a figure of ours says of the paper's.

    Attributes:
        word: what it is.
        why: the reason where they are not comparable; None otherwise.
    """

    word: Word
    why: str | None = None

    def __str__(self) -> str:
        return self.word if self.why is None else f"{self.word}: {self.why}"


def verdict(
    line: Line, figure: PaperFigure, *, first: int | None = None, impossible: str | None = None
) -> Verdict | None:
    """Say whether the paper's figure lies in the interval of ours.

    The paper's is rounded: it is inside where any number is that rounds to it.

    Args:
        line: both figures.
        figure: how many decimals the paper has.
        first: how many rows were run, where it were not all of them.
        impossible: why the paper's number cannot be this figure.

    Returns:
        None where the paper, or we, have no such figure; but where the rows that were run are too
        few to have it, that is said.
    """
    if line.paper is None or (line.ours is None and (first is None or not line.runs)):
        return None
    if impossible is not None:
        return Verdict("not comparable", impossible)
    if line.ours is None:
        needs = "it is over whole splits, and those that lie beside them: run it without --limit"
        return Verdict("not comparable", needs)
    if first is not None:
        return Verdict("not comparable", f"only the first {first:,} rows of each split were run")
    if line.interval is None:
        return Verdict("not comparable", line.interval_missing or "it is no number")
    assert isinstance(line.paper, int | float)  # what has an interval is a number
    half = 0.5 * 10**-figure.decimals
    low, high = line.interval
    within = low - half <= line.paper <= high + half
    return Verdict("inside the interval" if within else "outside the interval")

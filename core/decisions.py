"""What a system did with an instance."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

Abstention = Literal["none", "both", "unfinished"]
"""No choice: the pronoun went to neither candidate, or to both at once, or a model that writes was
cut off before it answered."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer: the index of the chosen candidate, or why there is no choice.

    Attributes:
        choice: index into the instance's candidates; None exactly when `abstained` is set.
        abstained: ``"none"``, ``"both"`` or ``"unfinished"``, counted like any answer and never
            dropped.
    """

    choice: int | None
    abstained: Abstention | None = None

    def __post_init__(self) -> None:
        if (self.choice is None) == (self.abstained is None):
            raise ValueError("a decision is either a choice or an abstention")

    @classmethod
    def among(cls, indices: Collection[int]) -> "Decision":
        """Decide by the candidates that an answer points to: the only one, *none* or *both*."""
        if len(indices) == 1:
            return cls(next(iter(indices)))
        return BOTH if indices else NONE


NONE = Decision(None, "none")
BOTH = Decision(None, "both")
UNFINISHED = Decision(None, "unfinished")


def from_probabilities(probabilities: list[float]) -> Decision:
    """Turn one probability for each candidate into a decision.

    The most probable candidate is chosen. A tie at the top is ``both``; zero everywhere is
    ``none``.

    >>> from_probabilities([0.2, 0.8]).choice, from_probabilities([0.5, 0.5]).abstained
    (1, 'both')
    """
    return Decision.among(likeliest(probabilities)) if max(probabilities) else NONE


def likeliest(numbers: Sequence[float]) -> list[int]:
    """Return the index of the highest number, or the indices where several are as high."""
    best = max(numbers)
    return [index for index, number in enumerate(numbers) if number == best]

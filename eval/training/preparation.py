"""What the trainings of all seeds share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pronominal.adapters.training.trainable import TrainableSystem, Validate
from pronominal.eval.training.data.rows import TrainingData
from pronominal.eval.training.data.versions import LeftOut
from pronominal.eval.training.measures.figures import Figures


@dataclass(frozen=True, slots=True)
class PreparedTraining:
    """A training that is ready for its seeds.

    Attributes:
        data: rows and documents.
        system: opened, with its training set.
        learnt: how many rows there are, and how many of what the system learns and is stopped by.
        left_out: what is not learnt, validated on or tested in both versions.
        validate: measures a model on what the training is stopped by.
        figures: what is measured of the answers to rows.
        prior: share of the rows learnt whose first mention is right, to be taken out of the answers
            once more; None where answers are no probabilities.
    """

    data: TrainingData
    system: TrainableSystem
    learnt: Mapping[str, int]
    left_out: Sequence[LeftOut]
    validate: Validate
    figures: Figures
    prior: float | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """What two trainings must have in common to share a folder."""
        return {
            "system": self.system.name,
            **self.system.begins_with,
            "data": {"name": self.data.name, **self.data.digests},
            "settings": self.system.asked.identity(),
        }

    @property
    def updates(self) -> int:
        """Steps of one training."""
        return int(self.system.asked.length(self.system.updates_in_epoch))

    def counts(self) -> dict[str, int]:
        """Return how much is learnt and left out, in how many updates."""
        return {**self.learnt, "left_out": len(self.left_out), "updates": self.updates}

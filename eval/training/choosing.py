"""Trainings of systems that choose between the candidates of a row."""

from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa
from torch import nn

from pronominal.adapters.catalogue.trainable import open_trainable
from pronominal.adapters.training.settings import TrainingSettings
from pronominal.adapters.training.trainable import TrainableSystem, Validation
from pronominal.decisions import from_probabilities
from pronominal.errors import InputError
from pronominal.eval.training.data.rows import RESOLUTION, TrainingData
from pronominal.eval.training.data.versions import originals_first, unswitched, versions
from pronominal.eval.training.measures.figures import CHOICES
from pronominal.eval.training.preparation import PreparedTraining
from pronominal.instances import ResolutionInstance


class TrainableChooser(TrainableSystem, Protocol):
    """A system that learns which candidate of a row is right."""

    @property
    def prior_to_correct(self) -> float:
        """The first mention's prior that the answers still hold; 0.5 where they leave it out."""

    def read(self, instances: Sequence[ResolutionInstance]) -> Sequence[Any]:
        """Return what the system reads of each row, or why it cannot, without its text."""

    def learn(self, units: Sequence[tuple[Any, ...]]) -> None:
        """Take the training set, in what has to stay together in a batch."""

    def choose(self, model: Any, examples: Sequence[Any]) -> list[list[float]]:
        """Return the probability of each candidate."""


def prepare_chooser(data: TrainingData, asked: TrainingSettings) -> PreparedTraining:
    """Open a chooser and let it read the rows; `InputError` if none can be learnt or stopped by."""
    data.refuse_documents()
    system: TrainableChooser = open_trainable(asked)
    rows, left_out = versions(data.rows, "train", system.read, switching=asked.switching)
    stopping, unreadable = versions(data.validation_rows, "validation", system.read)
    if not rows or not stopping:
        raise InputError(
            f"{len(rows)} rows can be learnt from and {len(stopping)} validated on",
            cure="give rows whose two candidates stand in the text and one of which is right",
        )
    paired = system.asked.pair_batches
    units = rows if paired else [(version,) for version in originals_first(rows)]
    system.learn([tuple(version.content for version in unit) for unit in units])
    table = pa.Table.from_pylist([version.instance.to_row() for (version,) in stopping], RESOLUTION)
    examples = [version.content for (version,) in stopping]

    def validate(model: nn.Module) -> Validation:
        # How often the first mention is right differs between splits (KnowRef: 55 % in train, 47 %
        # in test), and plain accuracy would reward answering it always.
        chosen = system.choose(model, examples)
        measured = CHOICES.of(table, [from_probabilities(answer) for answer in chosen])
        score = measured["balanced_accuracy"]
        return Validation(measured["accuracy"] or 0.0 if score is None else score, measured)

    return PreparedTraining(
        data=data,
        system=system,
        learnt={
            "train_rows": len(data.rows),
            "train_instances": sum(map(len, units)),
            "validation_rows": len(data.validation_rows),
            "validation_instances": len(stopping),
        },
        left_out=[*left_out, *unreadable, *unswitched(data.tests)],
        validate=validate,
        figures=CHOICES,
        prior=system.prior_to_correct,
    )

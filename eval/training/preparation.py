"""From rows and settings to what the trainings of all seeds share."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pronominal.adapters.bert.checkpoint import (
    encoder_name,
    longest_sequence,
    require_seeing_first_token,
)
from pronominal.adapters.bert.encoding import EncodedInstance, InstanceEncoder
from pronominal.adapters.bert.training import Unit, first_prior, updates_in_epoch
from pronominal.adapters.checkpoints.encoders import open_encoder
from pronominal.errors import InputError
from pronominal.eval.training.bert_settings import BertTraining
from pronominal.eval.training.data import TrainingData
from pronominal.eval.training.left_out import LeftOut, unswitched
from pronominal.eval.training.units import readable, training_units
from pronominal.instances import ResolutionInstance


@dataclass(frozen=True, slots=True)
class PreparedTraining:
    """What the trainings of all seeds share.

    Attributes:
        data: the rows.
        asked: the settings, completed by the encoder's longest sequence and the rows' prior.
        units: what is learnt, encoded.
        validation: the rows to stop by that can be read, encoded.
        left_out: the rows that are not learnt, validated on or tested in both versions.
        updates: steps of one training.
        encoder_digest: of the encoder's files.
        encoder_name: how the encoder is called.
    """

    data: TrainingData
    asked: BertTraining
    units: Sequence[Unit]
    validation: Sequence[tuple[ResolutionInstance, EncodedInstance]]
    left_out: Sequence[LeftOut]
    updates: int
    encoder_digest: str
    encoder_name: str

    @property
    def identity(self) -> dict[str, Any]:
        """Return what two trainings must have in common to share a folder."""
        return {
            "system": "bert",
            "encoder": self.encoder_digest,
            "data": {"name": self.data.name, **self.data.digests},
            "settings": self.asked.settings(),
        }

    def counts(self) -> dict[str, int]:
        """Return how many rows, instances and updates there are."""
        return {
            "train_rows": len(self.data.train),
            "train_instances": sum(map(len, self.units)),
            "validation_rows": len(self.data.validation),
            "validation_instances": len(self.validation),
            "left_out": len(self.left_out),
            "updates": self.updates,
        }


def prepare(data: TrainingData, asked: BertTraining) -> PreparedTraining:
    """Open the encoder and encode the rows.

    Raises:
        InputError: the encoder is wrong, or nothing is left to learn from or to stop by.
    """
    network, tokenizer, checkpoint = open_encoder(asked.encoder)
    if (asked.classifier.scorer, asked.classifier.pooling) == ("cls", "cls"):
        require_seeing_first_token(network, asked.encoder)
    longest = min(asked.classifier.max_length, longest_sequence(network, tokenizer))
    classifier = replace(asked.classifier, max_length=longest)
    encoder = InstanceEncoder(tokenizer, classifier)
    units, left_out = training_units(
        data.train, encoder, switching=asked.switching, paired=asked.pair_batches
    )
    validation, unreadable = readable(data.validation, encoder, "validation")
    if not units or not validation:
        raise InputError(
            f"{len(units)} rows can be learnt from and {len(validation)} validated on",
            cure="give rows whose two candidates stand in the text and one of which is right",
        )
    classifier = replace(classifier, first_prior=first_prior(units))
    updates = asked.updates or asked.epochs * updates_in_epoch(units, asked.recipe)
    return PreparedTraining(
        data=data,
        asked=replace(asked, classifier=classifier),
        units=units,
        validation=validation,
        left_out=[*left_out, *unreadable, *unswitched(data.tests)],
        updates=updates,
        encoder_digest=checkpoint.digest,
        encoder_name=encoder_name(checkpoint),
    )

"""The table of systems that ``pronominal train`` trains."""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pronominal.adapters.training.settings import TrainingSettings


@dataclass(frozen=True, slots=True)
class TrainableEntry:
    """Where a trainable system is, as ``module:attribute`` below ``pronominal.adapters``.

    Attributes:
        settings: what its training is asked for; imports no model library.
        system: opens a `TrainableSystem` with those settings.
    """

    settings: str
    system: str


TRAINABLE: dict[str, TrainableEntry] = {
    "bert": TrainableEntry("bert.training_settings:BertTraining", "bert.training:TrainableBERT"),
    "c2f": TrainableEntry(
        "c2f.bert.training_settings:TransformerTraining", "c2f.bert.training:open_transformer"
    ),
    "e2e": TrainableEntry("c2f.e2e.training_settings:E2ETraining", "c2f.e2e.training:open_e2e"),
}
"""Command of ``pronominal train`` -> the system that it trains."""


def training_settings(name: str) -> type[TrainingSettings]:
    """Return what the training of a system is asked for."""
    settings: type[TrainingSettings] = _at(TRAINABLE[name].settings)
    return settings


def trainable_system(asked: TrainingSettings) -> Any:
    """Return what opens the `TrainableSystem` that settings are for."""
    (entry,) = (one for one in TRAINABLE.values() if _at(one.settings) is type(asked))
    return _at(entry.system)


def _at(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(f"pronominal.adapters.{module}"), attribute)

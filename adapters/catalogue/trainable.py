"""The table of systems that ``pronominal train`` trains.

A system is added by three things: a class of `TrainingSettings`, whose fields become the command's
options and whose docstring its help; a `TrainableSystem`, which the class names in ``opens``; and
a line here.
"""

from typing import Any

from pronominal.adapters.catalogue.systems import at
from pronominal.adapters.training.settings import TrainingSettings

TRAINABLE: dict[str, str] = {
    "bert": "bert.training_settings:BertTraining",
    "caw": "caw.training_settings:CAWTraining",
    "e2e": "c2f.e2e.training_settings:E2ETraining",
    "fcoref": "fastcoref.training_settings:FCorefTraining",
    "lingmess": "fastcoref.training_settings:LingMessTraining",
    "spanbert": "c2f.bert.training_settings:TransformerTraining",
}
"""Command -> the `TrainingSettings` of its system, as ``module:attribute`` below our package.

Those modules import no model library.
"""


FORMER_NAMES = {"c2f": "spanbert"}
"""Commands of earlier versions -> what they are called now."""


def training_settings(name: str) -> type[TrainingSettings]:
    """Return what the training of a system is asked for."""
    settings: type[TrainingSettings] = at(TRAINABLE[name])
    return settings


def open_trainable(asked: TrainingSettings, *data: Any) -> Any:
    """Open the `TrainableSystem` that settings are of, with what it has to know of the data."""
    return at(asked.opens)(asked, *data)

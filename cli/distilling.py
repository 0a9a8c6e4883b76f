"""``pronominal distil``."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pronominal.adapters.catalogue.trainable import TRAINABLE, training_settings
from pronominal.adapters.training.settings import ClusteringTraining
from pronominal.cli.progress import progress_bar
from pronominal.cli.training import add_command
from pronominal.eval.training.data.request import DistillationRequest

if TYPE_CHECKING:
    from pronominal.eval.training.data.rows import TrainingData

distil = typer.Typer(
    help="Train a small system on what a large one finds in unlabelled text, as FCoref was made.",
    no_args_is_help=True,
)


def _read(asked: DistillationRequest, out: Path) -> "TrainingData":
    from pronominal.eval.training.distillation import label_texts, labelled_data

    counts = label_texts(asked, out, progress_bar)
    print(", ".join(f"{number:,} {what.replace('_', ' ')}" for what, number in counts.items()))
    return labelled_data(asked, out)


for system in TRAINABLE:
    if issubclass(training_settings(system), ClusteringTraining):
        about = (
            f"Train {system} on the clusters that --teacher finds in --text, as FCoref was made."
        )
        add_command(distil, system, DistillationRequest, _read, about=about)

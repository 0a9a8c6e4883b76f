"""The training loop: any model, resumable after a kill, with learning curves."""

from pronominal.adapters.training.loop import train
from pronominal.adapters.training.settings import LoopSettings, Outcome, Training, Validation

__all__ = ["LoopSettings", "Outcome", "Training", "Validation", "train"]

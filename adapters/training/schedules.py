"""Schedules of the learning rate."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR


def linear_with_warmup(optimiser: Optimizer, updates: int, warmup: float) -> LambdaLR:
    """Let the learning rate rise over a share of the updates, and fall to 0 over the rest.

    The first step is taken with one step's share of the rise, and none with 0.

    Args:
        optimiser: has the highest learning rate.
        updates: number of steps of the whole training.
        warmup: share of them over which it rises, in [0, 1].
    """
    rising = round(updates * warmup)

    def factor(update: int) -> float:
        if update < rising:
            return (update + 1) / (rising + 1)
        return max(0.0, (updates - update) / max(1, updates - rising))

    return LambdaLR(optimiser, factor)

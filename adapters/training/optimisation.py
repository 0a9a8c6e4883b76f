"""What several recipes share: which weights decay, and how the learning rate rises and falls."""

from collections.abc import Mapping
from typing import Any

from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR


def linear_with_warmup(optimiser: Optimizer, updates: int, warmup: float) -> LambdaLR:
    """Let the learning rate rise over a share of the updates, and fall to 0 over the rest.

    The optimiser has the highest one; `warmup` is the share, in [0, 1]. The first step is taken
    with one step's share of the rise, and none with 0.
    """
    rising = round(updates * warmup)

    def factor(update: int) -> float:
        if update < rising:
            return (update + 1) / (rising + 1)
        return max(0.0, (updates - update) / max(1, updates - rising))

    return LambdaLR(optimiser, factor)


def decay_groups(
    named: Mapping[str, nn.Parameter], decay: float, spared: tuple[str, ...]
) -> list[dict[str, Any]]:
    """Return the groups of an optimiser: parameters that decay, and those that do not.

    The names of the second group's end as in `spared`; what needs no gradient is in neither.
    """
    trained = {name: weight for name, weight in named.items() if weight.requires_grad}
    spares = {name: weight for name, weight in trained.items() if name.endswith(spared)}
    decayed = [weight for name, weight in trained.items() if name not in spares]
    return [
        {"params": decayed, "weight_decay": decay},
        {"params": [*spares.values()], "weight_decay": 0.0},
    ]

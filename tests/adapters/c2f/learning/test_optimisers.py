"""Steps and norms are those of the programs that the published systems were trained with."""

import math
from typing import Literal

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

from pronominal.adapters.c2f.learning.optimisers import EpsilonHatAdam, LookupNorms

RATE, EPS, DECAY = 0.1, 1e-3, 0.5


def moved(gradients: list[float], corrected: bool, decayed: Literal["before", "after"]) -> float:
    """Step by step, as section 2 of Kingma and Ba (2015) has it, in plain numbers."""
    weight, first, second = 1.0, 0.0, 0.0
    for step, gradient in enumerate(gradients, start=1):
        first = 0.9 * first + 0.1 * gradient
        second = 0.999 * second + 0.001 * gradient**2
        scale = math.sqrt(1 - 0.999**step) / (1 - 0.9**step) if corrected else 1.0
        decay = 1 - RATE * DECAY
        weight *= decay if decayed == "before" else 1
        weight -= RATE * scale * first / (math.sqrt(second) + EPS)
        weight *= decay if decayed == "after" else 1
    return weight


@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("decayed", ["before", "after"])
def test_steps_are_the_papers(corrected: bool, decayed: Literal["before", "after"]) -> None:
    weight = nn.Parameter(torch.ones((), dtype=torch.float64))
    group = {"params": [weight], "weight_decay": DECAY}
    adam = EpsilonHatAdam([group], RATE, eps=EPS, corrected=corrected, decayed=decayed)
    gradients = [0.5, -2.0, 0.25]
    for gradient in gradients:
        weight.grad = torch.full_like(weight, gradient)
        adam.step()
    assert float(weight) == pytest.approx(moved(gradients, corrected, decayed), rel=1e-9)


def test_each_lookup_of_a_row_counts_apart() -> None:
    model = nn.Sequential(nn.Embedding(3, 1))
    (weight,) = model.parameters()
    optimiser = torch.optim.SGD([weight], lr=1.0)
    LookupNorms(model).clip_before_step(optimiser, norm=1.0)
    with torch.no_grad():
        weight.zero_()
    model(torch.tensor([0, 0, 0, 0])).sum().backward()
    optimiser.step()
    # four look-ups with a gradient of 1 each have the norm 2, the gradient of the row alone 4
    torch.testing.assert_close(weight.detach().flatten(), torch.tensor([-2.0, 0.0, 0.0]))

"""What a classifier's training minimises."""

import math

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from torch import Tensor, nn

from pronominal.adapters.bert.encoding import EncodedInstance
from pronominal.adapters.bert.training import AntecedentLoss, Unit
from pronominal.adapters.bert.training_settings import Recipe
from pronominal.spans import Span

LOG_3 = math.log(3)
SURE_OF_SECOND, SURE_OF_FIRST = (0.0, LOG_3), (LOG_3, 0.0)
"""Logits of the answers (1/4, 3/4) and (3/4, 1/4)."""


class Answers(nn.Module):
    """A model that gives the answers it was made with."""

    def __init__(self, *logits: tuple[float, float]) -> None:
        super().__init__()
        self.logits = nn.Parameter(torch.tensor(logits))

    def forward(self, batch: object) -> Tensor:
        return self.logits


def example(label: int) -> EncodedInstance:
    return EncodedInstance(((1, 2),), (Span(0, 1), Span(1, 2), Span(0, 2)), 0, label)


ALONE: Unit = (example(1),)
PAIR: Unit = (example(1), example(0))
"""An original whose second candidate is right, and its switched version."""


def loss(units: list[Unit], *logits: tuple[float, float], penalty: float) -> float:
    recipe = Recipe(consistency_penalty=penalty)
    learnt = AntecedentLoss(recipe, prior=0.5, padding=0)
    return float(learnt(Answers(*logits), units, units).detach())


@pytest.mark.parametrize(
    ("units", "logits", "divergence"),
    [
        # candidates keep their index: whoever answers both versions alike contradicts itself
        ([PAIR], (SURE_OF_SECOND, SURE_OF_SECOND), LOG_3 / 2),
        ([PAIR], (SURE_OF_SECOND, SURE_OF_FIRST), 0),
        ([ALONE, PAIR], (SURE_OF_FIRST, SURE_OF_SECOND, SURE_OF_SECOND), LOG_3 / 2),
        ([ALONE, PAIR], (SURE_OF_SECOND, SURE_OF_SECOND, SURE_OF_FIRST), 0),
        ([PAIR, PAIR], (SURE_OF_SECOND,) * 3 + (SURE_OF_FIRST,), LOG_3 / 4),
        ([ALONE, ALONE], (SURE_OF_SECOND, SURE_OF_SECOND), 0),
    ],
)
def test_the_consistency_penalty_is_the_divergence_of_a_pair(
    units: list[Unit], logits: tuple[tuple[float, float], ...], divergence: float
) -> None:
    plain = loss(units, *logits, penalty=0)
    for penalty in (0.5, 2.0):
        assert loss(units, *logits, penalty=penalty) == pytest.approx(plain + penalty * divergence)


def test_the_penalty_moves_the_answers_of_a_pair_apart() -> None:
    model = Answers(SURE_OF_SECOND, SURE_OF_SECOND)
    learnt = AntecedentLoss(Recipe(consistency_penalty=100.0), 0.5, 0)
    learnt(model, [PAIR], [PAIR]).backward()  # type: ignore[no-untyped-call]
    assert model.logits.grad is not None
    # a step against the gradient makes each version's answer less sure of what both cannot say
    assert (model.logits.grad[:, 1] > 0).all()

"""How the published systems learn: their optimisers, their schedules and their clipping.

=============  ======================================  ==================================
recipe         encoder                                 everything else
=============  ======================================  ==================================
``tensorflow`` Adam without bias correction, decay     Adam, epsilon outside of the
               0.01 in the update; warm-up             correction; linear decay
``coref-hoi``  Adam with bias correction, decay 0.01   torch's Adam; linear decay
               after the step; warm-up
``e2e``        Adam, epsilon outside of the correction, for all; decay in steps
=============  ======================================  ==================================

``tensorflow`` is mandarjoshi90/coref (optimization.py), ``coref-hoi`` is lxucs/coref-hoi with the
AdamW of transformers 2.4.1, ``e2e`` is kentonl/e2e-coref. After three updates the first two differ
by a tenth of the loss, so each has to be named.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.optim import Adam, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from pronominal.adapters.c2f.learning.lookup_norms import LookupNorms

Recipe = Literal["tensorflow", "coref-hoi"]
"""Whose optimisers a transformer system learns with."""

NOT_DECAYED = ("bias", "LayerNorm.weight")
"""How the names of the encoder's parameters end that weight decay leaves alone."""


@dataclass(frozen=True, slots=True)
class TransformerRates:
    """How fast a transformer system learns; the values are those of SpanBERT base.

    Attributes:
        encoder: the encoder's highest learning rate.
        task: the head's.
        warmup: share of the updates over which the encoder's rises from 0.
        weight_decay: of the encoder's matrices and embeddings.
        clip: the norm that the gradients of encoder and head, each, are scaled down to.
    """

    encoder: float = 2e-5
    task: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    clip: float = 1.0


@dataclass(frozen=True, slots=True)
class E2ERates:
    """How fast E2E learns; the values are upstream's ``best``.

    Attributes:
        learning_rate: the highest one.
        decay: what it is multiplied by ...
        decay_every: ... whenever so many updates are done.
        clip: the norm that the gradients of all parameters together are scaled down to.
    """

    learning_rate: float = 1e-3
    decay: float = 0.999
    decay_every: int = 100
    clip: float = 5.0


class Optimisation(NamedTuple):
    """What takes the steps, and what sets their size."""

    optimisers: list[Optimizer]
    schedules: list[LambdaLR]


class EpsilonHatAdam(Optimizer):
    """Adam with epsilon added to the root of the uncorrected second moment.

    That is the second form in the paper (Kingma and Ba, 2015, section 2), which TensorFlow and
    early transformers compute; torch's Adam corrects the root first.

    Args:
        parameters: parameters or groups of them.
        lr: learning rate.
        eps: epsilon.
        weight_decay: share of a weight that a step takes away, times the learning rate.
        corrected: whether moments are corrected for their beginning at 0.
        decayed: the weight that is decayed: the one before the step, or the one after it.
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        lr: float,
        *,
        eps: float,
        weight_decay: float = 0.0,
        corrected: bool = True,
        decayed: Literal["before", "after"] = "after",
    ) -> None:
        super().__init__(parameters, {"lr": lr, "eps": eps, "weight_decay": weight_decay})
        self.betas = (0.9, 0.999)
        self.corrected = corrected
        self.decayed = decayed

    @torch.no_grad()
    def step(self) -> None:  # type: ignore[override]
        """Take one step."""
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._move(weight, group)

    def _move(self, weight: Tensor, group: dict[str, Any]) -> None:
        state = self.state[weight]
        if not state:
            state["step"] = torch.tensor(0.0)
            state["first"] = torch.zeros_like(weight)
            state["second"] = torch.zeros_like(weight)
        state["step"] += 1
        one, two = self.betas
        state["first"].lerp_(weight.grad, 1 - one)
        state["second"].mul_(two).addcmul_(weight.grad, weight.grad, value=1 - two)
        taken = float(state["step"])
        scale = math.sqrt(1 - two**taken) / (1 - one**taken) if self.corrected else 1.0
        rate, decay = group["lr"], group["lr"] * group["weight_decay"]
        root = state["second"].sqrt().add_(group["eps"])
        if self.decayed == "before":
            weight.mul_(1 - decay)
        weight.addcdiv_(state["first"], root, value=-rate * scale)
        if self.decayed == "after" and decay:
            weight.mul_(1 - decay)


def transformer_optimisation(
    model: nn.Module, recipe: Recipe, rates: TransformerRates, updates: int
) -> Optimisation:
    """Return the optimisers of encoder and head, in this order.

    Args:
        model: its encoder's parameters have names that begin with ``encoder.``.
        recipe: whose.
        rates: how fast.
        updates: of the whole training.
    """
    named = dict(model.named_parameters())
    encoder = {name: weight for name, weight in named.items() if name.startswith("encoder.")}
    head = [weight for name, weight in named.items() if name not in encoder]
    groups = _decayed_groups(encoder, rates.weight_decay)
    norms = LookupNorms(model) if recipe == "tensorflow" else None
    if recipe == "tensorflow":
        first: Optimizer = EpsilonHatAdam(
            groups, rates.encoder, eps=1e-6, corrected=False, decayed="before"
        )
        # upstream's adam_eps does not reach this one, which keeps TensorFlow's
        second: Optimizer = EpsilonHatAdam(head, rates.task, eps=1e-8)
    else:
        first = EpsilonHatAdam(groups, rates.encoder, eps=1e-6)
        second = Adam(head, rates.task, eps=1e-6)
    for optimiser in (first, second):
        if norms is None:
            clip_before_step(optimiser, rates.clip)
        else:
            norms.clip_before_step(optimiser, rates.clip)
    rising = int(updates * rates.warmup)
    # TensorFlow's decay counts from the first update on, and so drops when the rise is over
    falling = updates if recipe == "tensorflow" else updates - rising

    def encoder_factor(update: int) -> float:
        return update / rising if update < rising else _left(update, updates, falling)

    return Optimisation(
        [first, second],
        [
            LambdaLR(first, encoder_factor),
            LambdaLR(second, lambda update: _left(update, updates, updates)),
        ],
    )


def e2e_optimisation(model: nn.Module, rates: E2ERates) -> Optimisation:
    """Return the one optimiser of E2E."""
    optimiser = EpsilonHatAdam(model.parameters(), rates.learning_rate, eps=1e-8)
    LookupNorms(model).clip_before_step(optimiser, rates.clip)
    schedule = LambdaLR(optimiser, lambda update: rates.decay ** (update // rates.decay_every))
    return Optimisation([optimiser], [schedule])


def clip_before_step(optimiser: Optimizer, norm: float) -> None:
    """Scale the gradients of an optimiser's own parameters down to a norm before each step."""

    def clip(stepping: Optimizer, *_: Any) -> None:
        nn.utils.clip_grad_norm_(_parameters(stepping), norm)

    optimiser.register_step_pre_hook(clip)


def _parameters(optimiser: Optimizer) -> list[Tensor]:
    return [weight for group in optimiser.param_groups for weight in group["params"]]


def _decayed_groups(named: dict[str, nn.Parameter], decay: float) -> list[dict[str, Any]]:
    groups: Sequence[tuple[bool, float]] = ((False, decay), (True, 0.0))
    return [
        {
            "params": [w for name, w in named.items() if name.endswith(NOT_DECAYED) == spared],
            "weight_decay": share,
        }
        for spared, share in groups
    ]


def _left(update: int, updates: int, falling: int) -> float:
    return max(0.0, (updates - update) / max(1, falling))

"""The norm of gradients as TensorFlow 1 takes it: every looked-up row counts apart.

Where rows of a table are looked up, TensorFlow keeps the gradient of each look-up, and
``clip_by_global_norm`` adds up their squares without adding first what belongs to the same row.
The norm of a table with many look-ups of few rows is another one than that of its gradient.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

WHOLE = ("emb_genre", "position_embeddings", "token_type_embeddings")
"""Tables that upstream looks up once a document, or multiplies as a whole."""


class LookupNorms:
    """Adds up the squared gradients of look-ups, from the forward pass to the next step.

    Args:
        model: whose tables are watched: its embeddings, but for those of `WHOLE`.
    """

    def __init__(self, model: nn.Module) -> None:
        self._squares: dict[Tensor, Tensor] = {}
        for name, module in model.named_modules():
            if isinstance(module, nn.Embedding) and not name.endswith(WHOLE):
                module.register_forward_hook(self._watch)

    def clip_before_step(self, optimiser: Optimizer, norm: float) -> None:
        """Scale the gradients of an optimiser's own parameters down to a norm before each step."""
        optimiser.register_step_pre_hook(lambda stepping, *_: self._clip(stepping, norm))

    def norm(self, weights: Sequence[Tensor]) -> float:
        """Return the norm of the gradients of parameters."""
        squares = [self._squares.pop(weight, None) for weight in weights]
        return math.sqrt(
            sum(
                float(weight.grad.square().sum() if own is None else own)
                for weight, own in zip(weights, squares, strict=True)
                if weight.grad is not None
            )
        )

    def _watch(self, module: nn.Module, _: object, rows: Tensor) -> None:
        if torch.is_grad_enabled() and rows.requires_grad:
            weight = module.weight
            assert isinstance(weight, Tensor)
            rows.register_hook(  # type: ignore[no-untyped-call]
                lambda gradient: self._add(weight, gradient)
            )

    def _add(self, weight: Tensor, gradient: Tensor) -> None:
        square = gradient.detach().square().sum()
        self._squares[weight] = self._squares.get(weight, 0) + square

    def _clip(self, optimiser: Optimizer, norm: float) -> None:
        weights = [weight for group in optimiser.param_groups for weight in group["params"]]
        own = self.norm(weights)
        if own > norm:
            for weight in weights:
                if weight.grad is not None:
                    weight.grad.mul_(norm / own)

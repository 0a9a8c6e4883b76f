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
from typing import Any, Literal

import torch
from torch import Tensor, distributed, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR

WHOLE = ("emb_genre", "position_embeddings", "token_type_embeddings")
"""Tables that upstream looks up once a document, or multiplies as a whole."""


Optimisation = tuple[list[Optimizer], list[LambdaLR]]
"""What takes the steps, and what sets their size."""


class EpsilonHatAdam(Optimizer):
    """Adam with epsilon added to the root of the uncorrected second moment.

    That is the second form in the paper (Kingma and Ba, 2015, section 2), which TensorFlow and
    early transformers compute; torch's Adam corrects the root first.

    Args:
        parameters: parameters or groups of them; a group's ``weight_decay`` is the share of a
            weight that a step takes away, times the learning rate.
        lr: learning rate.
        eps: epsilon.
        corrected: whether moments are corrected for their beginning at 0.
        decayed: the weight that is decayed: the one before the step, or the one after it.
    """

    def __init__(
        self,
        parameters: Iterable[Any],
        lr: float,
        *,
        eps: float,
        corrected: bool = True,
        decayed: Literal["before", "after"] = "after",
    ) -> None:
        super().__init__(parameters, {"lr": lr, "eps": eps, "weight_decay": 0.0})
        self.betas = (0.9, 0.999)
        self.corrected = corrected
        self.decayed = decayed

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Take one step; accelerate passes a closure of None."""
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


def clip_before_step(optimiser: Optimizer, norm: float) -> None:
    """Scale the gradients of an optimiser's own parameters down to a norm before each step."""

    def clip(stepping: Optimizer, *_: Any) -> None:
        weights = [weight for group in stepping.param_groups for weight in group["params"]]
        nn.utils.clip_grad_norm_(weights, norm)

    optimiser.register_step_pre_hook(clip)


class LookupNorms:
    """The norm of gradients as TensorFlow 1 takes it: every looked-up row counts apart.

    Where rows of a table are looked up, TensorFlow keeps the gradient of each look-up, and
    ``clip_by_global_norm`` adds up their squares without adding first what belongs to the same row.
    The norm of a table with many look-ups of few rows is another one than that of its gradient.
    Squares are added up from the forward pass to the next step, and over all processes.

    Args:
        model: whose tables are watched: its embeddings, but for those of `WHOLE`.
    """

    def __init__(self, model: nn.Module) -> None:
        self._squares: dict[Tensor, Tensor] = {}
        self._tables: set[Tensor] = set()
        for name, module in model.named_modules():
            if isinstance(module, nn.Embedding) and not name.endswith(WHOLE):
                module.register_forward_hook(self._watch)
                self._tables.add(module.weight)

    def clip_before_step(self, optimiser: Optimizer, norm: float) -> None:
        """Scale the gradients of an optimiser's own parameters down to a norm before each step."""
        optimiser.register_step_pre_hook(lambda stepping, *_: self._clip(stepping, norm))

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
        learnt = [weight for weight in weights if weight.grad is not None]
        looked_up = self._looked_up([weight for weight in learnt if weight in self._tables])
        squares = [looked_up[w] if w in looked_up else w.grad.square().sum() for w in learnt]
        own = math.sqrt(sum(map(float, squares)))
        if own > norm:
            for weight in learnt:
                weight.grad.mul_(norm / own)

    def _looked_up(self, tables: Sequence[Tensor]) -> dict[Tensor, Tensor]:
        """Return the squares of the look-ups of each table, and forget them."""
        squares = [self._squares.pop(table, table.new_zeros(())) for table in tables]
        if tables and distributed.is_available() and distributed.is_initialized():
            together = torch.stack(squares)
            distributed.all_reduce(together)
            # a step is taken with the mean of the processes' gradients
            squares = [*(together / distributed.get_world_size() ** 2)]
        return dict(zip(tables, squares, strict=True))

"""Where a training computes: here, or through accelerate: GPUs, processes, mixed precision."""

import os
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from pronominal.adapters.training.settings import Precision
from pronominal.errors import InputError


class OneProcess:
    """One process on the CPU, in full precision."""

    processes = 1
    rank = 0
    device = torch.device("cpu")

    def prepare(self, model: nn.Module, optimisers: Sequence[Optimizer]) -> nn.Module:
        """Return the model as it is."""
        return model

    def backward(self, loss: Tensor) -> None:
        """Compute gradients."""
        loss.backward()  # type: ignore[no-untyped-call]

    def clip(self, model: nn.Module, norm: float) -> None:
        """Scale the gradients down to a norm."""
        nn.utils.clip_grad_norm_(model.parameters(), norm)

    def step(self, optimiser: Optimizer) -> None:
        """Take one step."""
        optimiser.step()

    def sum(self, value: float) -> float:
        """Return the sum of a number over the processes."""
        return value

    def wait(self) -> None:
        """Wait for the other processes."""

    def state_dict(self) -> dict[str, Any]:
        """Return what has to be restored."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore it."""


class Accelerated(OneProcess):
    """GPUs, the processes that ``accelerate launch`` started, or mixed precision."""

    def __init__(self, precision: Precision) -> None:
        from accelerate import Accelerator
        from accelerate.utils import DistributedDataParallelKwargs

        # an encoder may have weights that a scorer does not read, such as its last layer's norm
        unused = DistributedDataParallelKwargs(find_unused_parameters=True)
        chosen = _precision() if precision == "auto" else precision
        self._accelerator = Accelerator(
            cpu=not torch.cuda.is_available(), mixed_precision=chosen, kwargs_handlers=[unused]
        )
        self._wrapped: dict[int, Any] = {}
        self.processes = self._accelerator.num_processes
        self.rank = self._accelerator.process_index
        self.device = self._accelerator.device

    def prepare(self, model: nn.Module, optimisers: Sequence[Optimizer]) -> nn.Module:
        """Return the model for several processes and mixed precision."""
        wrapped: nn.Module
        wrapped, *steppers = self._accelerator.prepare(model, *optimisers)
        self._wrapped = dict(zip(map(id, optimisers), steppers, strict=True))
        return wrapped

    def backward(self, loss: Tensor) -> None:
        """Compute gradients of the sum of the processes' losses, which are shares of one."""
        # accelerate takes the mean over the processes
        self._accelerator.backward(loss * self.processes)

    def clip(self, model: nn.Module, norm: float) -> None:
        """Scale the gradients down to a norm."""
        self._accelerator.clip_grad_norm_(model.parameters(), norm)

    def step(self, optimiser: Optimizer) -> None:
        """Take one step; with fp16 it is left out when the gradients ran over."""
        self._wrapped[id(optimiser)].step()

    def sum(self, value: float) -> float:
        """Return the sum of a number over the processes."""
        if self.processes == 1:
            return value
        return float(self._accelerator.reduce(torch.tensor(value, device=self.device), "sum"))

    def wait(self) -> None:
        """Wait for the other processes."""
        self._accelerator.wait_for_everyone()

    def state_dict(self) -> dict[str, Any]:
        """Return the state of fp16's scaling of the loss."""
        scaler = self._accelerator.scaler
        return dict(scaler.state_dict()) if scaler is not None else {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore it."""
        if self._accelerator.scaler is not None and state:
            self._accelerator.scaler.load_state_dict(state)


def open_devices(precision: Precision = "auto") -> OneProcess:
    """Return where to compute: on the CPU unless there is a GPU or ``accelerate launch`` says so.

    Raises:
        InputError: fp16 is asked of a CPU.
    """
    launched = int(os.environ.get("WORLD_SIZE", "1")) > 1
    if precision == "fp16" and not torch.cuda.is_available():
        raise InputError("--precision fp16 needs a GPU", cure="leave it out, or give bf16")
    if launched or torch.cuda.is_available() or precision == "bf16":
        return Accelerated(precision)
    return OneProcess()


def _precision() -> str:
    if not torch.cuda.is_available():
        return "no"
    return "bf16" if torch.cuda.is_bf16_supported() else "fp16"

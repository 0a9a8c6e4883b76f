"""What a machine has to run a model with, and about how long it takes there."""

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Self

TOKENS_PER_WORD = 1.35
PROMPT_TOKENS = 25
"""What a prompt adds to a text."""

CPU_SPEED, GPU_SPEED = 4e10, 1e14
"""Operations in a second, of a core and of a GPU, that models were seen to reach; machines differ
by a factor of three both ways."""

FLOAT16_ON_CPU = 4
"""How many times as long as float32 it takes a CPU without arithmetic of its own for it: a T5 of
FLAN-T5-small's size took 333 ms of CPU time a prompt on an AMD EPYC, against 84."""

MOST_ON_CPU = 2_000
"""Millions of parameters that are still run without a GPU."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is.

    Attributes:
        cores: of its processors.
        gpus: the memory of each GPU, in bytes.
    """

    cores: int
    gpus: tuple[int, ...] = ()

    @classmethod
    def here(cls) -> Self:
        """Return this machine; without torch it has no GPU that could be used."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if find_spec("torch") is None:
            return cls(cores or 1)
        from torch import cuda

        devices = range(cuda.device_count())
        return cls(cores or 1, tuple(cuda.get_device_properties(d).total_memory for d in devices))

    def is_slow_in(self, dtype: str | None) -> bool:
        """Say whether it takes much longer in a dtype than in float32."""
        return dtype == "float16" and not self.gpus

    def seconds(self, parameters: float, tokens: float, dtype: str | None = None) -> float:
        """Estimate how long a model takes that reads so many tokens.

        Args:
            parameters: in millions; each costs two operations a token.
            tokens: in all passes together.
            dtype: what is computed in; None for a CPU's float32.
        """
        speed = GPU_SPEED if self.gpus else CPU_SPEED * self.cores
        times = FLOAT16_ON_CPU if self.is_slow_in(dtype) else 1
        return times * 2e6 * parameters * tokens / speed

    def too_small_for(self, parameters: float, memory: float) -> str | None:
        """Say why a model needs another machine; None where it does not.

        Args:
            parameters: in millions.
            memory: that it takes, in bytes.
        """
        if not self.gpus:
            return "there is no GPU here" if parameters > MOST_ON_CPU else None
        if memory > sum(self.gpus):
            return f"the GPUs here have {sum(self.gpus) / 1e9:.0f} GB"
        return None


def tokens_read(words: float, passes: str) -> float:
    """Estimate how many tokens go through a model for a text; `passes` as in `PackRow`."""
    tokens = words * TOKENS_PER_WORD + 2
    if passes == "once":
        return tokens
    if passes.endswith("prompts"):
        return int(passes.split()[0]) * (tokens + PROMPT_TOKENS)
    # four forms; a masked model reads each once for each of its tokens
    return 4 * tokens * (tokens if passes == "tokens" else 1)

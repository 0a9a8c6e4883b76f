"""The random numbers of torch, numpy and Python: kept, restored, and given back to the user."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed every generator inside the block; afterwards they are as they were."""
    before = random_states()
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    try:
        yield
    finally:
        restore(before)


def random_states() -> dict[str, Any]:
    """Return the state of every generator, in types that ``weights_only=True`` reads back."""
    generator: tuple[Any, ...] = tuple(np.random.get_state(legacy=True))
    name, keys, *others = generator
    return {
        "python": random.getstate(),
        "numpy": (name, torch.from_numpy(keys.astype(np.int64)), *others),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def restore(states: dict[str, Any]) -> None:
    """Set every generator to what `random_states` returned."""
    version, internal, gauss = states["python"]
    random.setstate((version, tuple(internal), gauss))
    name, keys, position, has_gauss, cached = states["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), position, has_gauss, cached))
    torch.set_rng_state(states["torch"].cpu())
    if states["cuda"] and len(states["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all([state.cpu() for state in states["cuda"]])

"""Linear layers and states that those which take their place are tried with."""

from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn


def layer_and_states(seed: int, inner: int, outer: int, biased: bool) -> tuple[nn.Linear, Any]:
    torch.manual_seed(seed)
    layer = nn.Linear(inner, outer, bias=biased).requires_grad_(False)
    scales = 10.0 ** torch.randint(-3, 4, (3, 2, 1))  # texts whose numbers differ in size
    return layer, torch.randn(3, 2, inner) * scales


shapes = given(st.integers(0, 999), st.integers(1, 40), st.integers(1, 20), st.booleans())

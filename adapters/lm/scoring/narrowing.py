"""From where on an encoder computes only the tokens whose logits are asked for.

Behind its last attention no token sees another, so that the rest of the last layer can leave out
all tokens but the masked ones: with twelve layers a sixteenth of the products.
"""

from typing import Any

import numpy as np
import torch
from torch.nn import Module

from pronominal.adapters.lm.scoring.logits import logits_at

_JOINS = "attention.output"
"""What transformers calls the module that adds what was attended to to the states before it, in
BERT, RoBERTa and many encoders after them; tokens can be left out of all that it is given."""


def narrowest(model: Any) -> Module:
    """Return the first module at which `logits_at` may choose states.

    It is in the last layer where the model is built like BERT, and gives the same logits from there
    on as from the output layer; otherwise it is the output layer.

    Args:
        model: one of transformers' masked models, in evaluation mode.
    """
    chosen_at: Module = model.get_output_embeddings()
    joins = [module for name, module in model.named_modules() if name.endswith(_JOINS)]
    if joins and same_logits(model, joins[-1]):
        chosen_at = joins[-1]
    return chosen_at


def same_logits(model: Any, module: Module) -> bool:
    """Say whether states chosen at this module give what those chosen at the output layer give."""
    known = model.get_input_embeddings().num_embeddings
    tokens = (torch.arange(12, device=model.device) % known).reshape(2, 6)
    places = np.array([1, 4, 8, 9])
    try:
        expected, found = (
            logits_at(model, places, chosen_at, input_ids=tokens).float()
            for chosen_at in (None, module)
        )
    except (RuntimeError, TypeError, ValueError, LookupError, AttributeError, MemoryError):
        return False  # what follows takes all tokens, or nothing fits into memory
    if found.shape != expected.shape:
        return False
    exact = model.dtype in (torch.float32, torch.float64)
    rounding = (1e-3 if exact else 0.1) * expected.std()
    return bool((found - expected).abs().max() <= rounding)

"""Log-probabilities of single tokens, with the output layer only where it is asked for."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Module

from pronominal.adapters.lm.scoring.memory import kind_of_device
from pronominal.adapters.lm.scoring.tokens import FloatArray, IntArray

Scores = FloatArray
"""Sums of log-probabilities in nats, one for each sequence."""

_ROWS_AT_ONCE = {"cpu": 32, "cuda": 256}
"""Distributions that are normalised together: on a CPU few, so that they stay in its cache."""


def logits_at(
    model: Any, places: IntArray, chosen_at: Module | None = None, **inputs: Any
) -> Tensor:
    """Run a model with its output layer at some places only.

    States are chosen in front of that layer, or of an earlier module, so that what a model does to
    its logits, such as scaling them, is done here as well.

    Args:
        model: one of transformers' models with a language modelling head.
        places: places in the flattened ``[batch, tokens]``, [places].
        chosen_at: the module in front of which states are chosen, see `narrowest`; the output
            layer when None.
        inputs: what the model takes, such as ``input_ids``.

    Returns:
        Logits as [places, vocabulary], in the model's precision.
    """
    chosen = torch.from_numpy(places)

    def choose(_: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        flat = (states.reshape(-1, states.shape[-1]) for states in given)
        return tuple(every[chosen.to(every.device)].unsqueeze(0) for every in flat)

    hook = (chosen_at or model.get_output_embeddings()).register_forward_pre_hook(choose)
    try:
        with torch.inference_mode():
            logits: Tensor = model(**inputs).logits.flatten(0, 1)
    finally:
        hook.remove()
    # MobileBERT multiplies with its output layer's weights without calling it
    return logits if len(logits) == len(places) else logits[chosen.to(logits.device)]


def add_log_probabilities(
    sums: Scores, summed_in: IntArray, logits: Tensor, rows: IntArray, tokens: IntArray
) -> None:
    """Add the log-probabilities of tokens to sums, such as the scores of their sequences.

    Probabilities are float32 for logits of any precision, and sums float64: in bfloat16 either
    loses more than options differ by.

    Args:
        sums: what is added to, [sums].
        summed_in: to which sum a token adds, [tokens].
        logits: distributions over the vocabulary, [rows, vocabulary].
        rows: for each token its row of `logits`, [tokens].
        tokens: their numbers in the vocabulary, [tokens].
    """
    order = np.argsort(rows, kind="stable")
    rows, tokens, summed_in = rows[order], tokens[order], summed_in[order]
    size = _ROWS_AT_ONCE[kind_of_device(logits.device)]
    values = []
    # in slices, so that a large vocabulary is not held twice
    for start in range(0, len(logits), size):
        inside = slice(*np.searchsorted(rows, (start, start + size)))
        row = torch.from_numpy(rows[inside] - start).to(logits.device)
        token = torch.from_numpy(tokens[inside]).to(logits.device)
        distributions = logits[start : start + size].float().log_softmax(dim=-1)
        values.append(distributions[row, token].double())
    sums += np.bincount(summed_in, torch.cat(values).cpu().numpy(), minlength=len(sums))

"""The network: rectified layers from a mention, or a mention and its antecedent, to one score."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Indices = NDArray[np.intp]

UNRECTIFIED = 2
"""How many layers at the end have no rectifier behind them."""

_PAIRS_AT_ONCE = 4096
"""So that a long text needs no more memory than some of its pairs."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One affine layer: `weights` have the shape (outputs, inputs), `bias` (outputs,)."""

    weights: Floats
    bias: Floats


def score_mentions(layers: Sequence[Layer], vectors: Floats, features: Floats) -> Floats:
    """Return how likely each mention is to be the first one of its entity, (mentions,)."""
    inputs = np.concatenate([vectors, features], axis=1)
    return _upper_layers(layers, inputs @ layers[0].weights.T + layers[0].bias)


def score_pairs(
    layers: Sequence[Layer],
    vectors: Floats,
    antecedents: Indices,
    mentions: Indices,
    features: Floats,
) -> Floats:
    """Return how well the mentions of each pair go together, (pairs,).

    A mention's share of the first layer is computed once, however many pairs it is in:
    `antecedents` and `mentions`, (pairs,), are rows of `vectors`. `features` are those of the
    pairs.
    """
    width = vectors.shape[1]
    first = layers[0].weights
    earlier = vectors @ first[:, :width].T
    later = vectors @ first[:, width : 2 * width].T + layers[0].bias
    scores = np.empty(len(features), dtype=np.float32)
    for start in range(0, len(features), _PAIRS_AT_ONCE):
        some = slice(start, start + _PAIRS_AT_ONCE)
        hidden = features[some] @ first[:, 2 * width :].T
        hidden += earlier[antecedents[some]]
        hidden += later[mentions[some]]
        scores[some] = _upper_layers(layers, hidden)
    return scores


def _upper_layers(layers: Sequence[Layer], hidden: Floats) -> Floats:
    """Take the first layer's sums through the rest."""
    rectified = len(layers) - UNRECTIFIED
    for number, layer in enumerate(layers[1:], 1):
        if number <= rectified:
            np.maximum(hidden, 0, out=hidden)
        hidden = hidden @ layer.weights.T + layer.bias
    return hidden[:, 0]

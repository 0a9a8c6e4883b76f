"""The variables of mandarjoshi90/coref under coref-hoi's names, which are ours.

A pair's features have the order speaker, genre, distance, segment there, and in the order
speaker, genre, segment, distance here, so two blocks of columns change places. Both have the same
shape: without the change, the weights load and every score is wrong.
"""

import re
from collections.abc import Iterable

import numpy as np

from pronominal.adapters.c2f.tensorflow.variables import (
    Arrays,
    Source,
    Variables,
    feed_forward,
    head_sources,
    is_training_state,
    linear,
    same,
    transposed,
)
from pronominal.adapters.checkpoints.tensors import is_unread

PAIR_SCORER = "coref_score_ffnn.0.weight"

SEGMENTS = "coref_layer/segment_distance/segment_distance_embeddings"

OPTIONAL = {
    "span_width_prior_embeddings": [
        same("emb_span_width_prior.weight", "span_width_prior_embeddings"),
        *feed_forward("span_width_score_ffnn", "width_scores", 1),
    ],
    "antecedent_distance_emb": [
        same("emb_antecedent_distance_prior.weight", "antecedent_distance_emb"),
        # these two have no scope of their own
        transposed("antecedent_distance_score_ffnn.weight", "output_weights"),
        same("antecedent_distance_score_ffnn.bias", "output_bias"),
    ],
    SEGMENTS: [same("emb_segment_distance.weight", SEGMENTS)],
    "coref_layer/f/output_weights": linear("gate_ffnn", "coref_layer/f/output"),
}
"""Tensors that some configurations do not have, by the variable that says that they are there."""


def sources(variables: Variables) -> list[Source]:
    """Return what each tensor of a transformer system is made of."""
    return [*_bert_sources(variables), *_head_sources(variables)]


def _head_sources(variables: Variables) -> list[Source]:
    hidden = re.compile(r"mention_scores/hidden_weights_\d+")
    depth = sum(hidden.fullmatch(name) is not None for name in variables)
    tensors = head_sources("mention_word_attn/output", depth)
    tensors += [s for sign, optional in OPTIONAL.items() if sign in variables for s in optional]
    if SEGMENTS not in variables:
        return tensors
    return [_swapped(source) if source.ours == PAIR_SCORER else source for source in tensors]


def _swapped(source: Source) -> Source:
    """Let the last two blocks of columns of a pair scorer change places."""
    widths = "span_width_embeddings"

    def make(arrays: Arrays) -> np.ndarray:
        weight, features = arrays[0].T, arrays[1].shape[1]
        others, distance, segment = np.split(weight, [-2 * features, -features], axis=1)
        return np.concatenate([others, segment, distance], axis=1)

    return Source(source.ours, (*source.theirs, widths), make)


def _bert_sources(variables: Iterable[str]) -> list[Source]:
    """Follow the variables that are there; what is missing, the model will say."""
    names = (name for name in variables if name.startswith("bert/") and not is_training_state(name))
    return [_bert_source(name) for name in names if not is_unread(name)]


def _bert_source(name: str) -> Source:
    ours = re.sub(r"layer_(\d+)", r"layer.\1", name).replace("/", ".")
    if name.endswith("kernel"):
        return transposed(re.sub(r"kernel$", "weight", ours), name)
    if name.endswith("_embeddings"):
        return same(f"{ours}.weight", name)
    return same(re.sub(r"gamma$", "weight", re.sub(r"beta$", "bias", ours)), name)

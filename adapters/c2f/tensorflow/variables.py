"""What a checkpoint calls a tensor, what we call it, and what lies between the two."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

REPORT = "conversion.json"
"""Beside the converted weights: which variables were used, skipped and missing."""

Arrays = Sequence[np.ndarray]
Variables = Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Source:
    """Which variables of TensorFlow a tensor of ours is made of, and how."""

    ours: str
    theirs: tuple[str, ...]
    make: Callable[[Arrays], np.ndarray]


@dataclass(slots=True)
class Mapped:
    """A model's tensors, and what became of the variables they were taken from.

    Attributes:
        tensors: by our names.
        used: which variables each tensor was made of.
        missing: variables that are not there.
        skipped: variables that no tensor is made of, training state included.
    """

    tensors: dict[str, Tensor] = field(default_factory=dict)
    used: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def report(self) -> dict[str, Any]:
        """Return what became of every variable, as JSON has it."""
        return {
            "used": {ours: list(theirs) for ours, theirs in sorted(self.used.items())},
            "skipped": self.skipped,
            "missing": self.missing,
        }


def map_variables(variables: Variables, sources: Iterable[Source]) -> Mapped:
    """Make tensors of variables; nothing is refused, so that all faults can be told at once."""
    mapped = Mapped()
    taken: set[str] = set()
    for source in sources:
        absent = [name for name in source.theirs if name not in variables]
        taken.update(source.theirs)
        if absent:
            mapped.missing += absent
            continue
        array = source.make([variables[name] for name in source.theirs])
        mapped.tensors[source.ours] = torch.from_numpy(np.array(array, np.float32))
        mapped.used[source.ours] = source.theirs
    mapped.skipped = sorted(variables.keys() - taken)
    return mapped


def is_training_state(name: str) -> bool:
    """Say whether a variable is a counter or an optimiser's slot, and no part of a model."""
    counters = {"global_step", "beta1_power", "beta2_power"}
    return name in counters or name.endswith(("/Adam", "/Adam_1", "/adam_m", "/adam_v"))


def same(ours: str, theirs: str) -> Source:
    """Return the source of a tensor that is a variable unchanged."""
    return Source(ours, (theirs,), lambda arrays: arrays[0])


def transposed(ours: str, theirs: str) -> Source:
    """Return the source of a matrix: [in, out] in TensorFlow, [out, in] in PyTorch."""
    return Source(ours, (theirs,), lambda arrays: arrays[0].T)


def linear(ours: str, theirs: str, number: str = "") -> list[Source]:
    """Return the sources of an affine layer that the coreference code itself made."""
    return [
        transposed(f"{ours}.weight", f"{theirs}_weights{number}"),
        same(f"{ours}.bias", f"{theirs}_bias{number}"),
    ]


def head_sources(attention: str, depth: int) -> list[Source]:
    """Return the sources of what all heads have, given the scope of the attention's scores.

    Their mention and pair scorers have `depth` hidden layers.
    """
    return [
        same("emb_span_width.weight", "span_width_embeddings"),
        same("emb_genre.weight", "genre_embeddings"),
        same("emb_same_speaker.weight", "coref_layer/same_speaker_emb"),
        same("emb_top_antecedent_distance.weight", "coref_layer/antecedent_distance_emb"),
        *linear("mention_token_attn", attention),
        *feed_forward("span_emb_score_ffnn", "mention_scores", depth),
        *linear("coarse_bilinear", "src_projection/output"),
        *feed_forward("coref_score_ffnn", "coref_layer/slow_antecedent_scores", depth),
    ]


def feed_forward(ours: str, theirs: str, depth: int) -> list[Source]:
    """Return the sources of a scorer with `depth` hidden layers.

    Affine, ReLU and dropout take three places in a sequence; the last affine takes one.
    """
    hidden = (linear(f"{ours}.{3 * i}", f"{theirs}/hidden", f"_{i}") for i in range(depth))
    return [
        *(s for layer in hidden for s in layer),
        *linear(f"{ours}.{3 * depth}", f"{theirs}/output"),
    ]

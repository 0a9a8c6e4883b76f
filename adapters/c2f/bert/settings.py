"""The settings of BERT and SpanBERT systems, under the keys of coref-hoi's experiments.conf."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor

from pronominal.adapters.c2f.head.config import HeadConfig, reading
from pronominal.adapters.words.ontonotes import GENRES
from pronominal.errors import InputError
from pronominal.json_files import read_object

FORMAT = "pronominal-c2f-1"
"""What ``config.json`` of the converted form says under ``format``."""

PUBLISHED: dict[str, Any] = {
    "max_num_speakers": 20,
    "max_num_extracted_spans": 3900,
    "top_span_ratio": 0.4,
    "max_top_antecedents": 50,
    "dropout_rate": 0.3,
    "genres": list(GENRES),
}
"""What every published configuration has, where a config leaves it out."""

TENSORFLOW_KEYS = {
    "feature_size": ["feature_emb_size"],
    "use_prior": ["use_width_prior", "use_distance_prior"],
}
"""Keys of mandarjoshi90's code that coref-hoi calls otherwise."""

ALWAYS = ("use_metadata", "use_features", "model_heads", "fine_grained")
"""What every published configuration has switched on."""

LIMITED = "limit_speakers"
"""Our own key: whether ``max_num_speakers`` counts, as it does in TensorFlow's code alone."""

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TransformerSettings:
    """What ``config.json`` says, or the weights where it does not.

    Attributes:
        table: all keys.
        head: sizes and choices of the head.
        max_segment_len: word pieces of a segment, [CLS] and [SEP] included.
    """

    table: Table
    head: HeadConfig
    max_segment_len: int


def read_settings(
    file: Path, tensors: Mapping[str, Tensor], defaults: Table
) -> TransformerSettings:
    """Read ``config.json``, which the published TensorFlow checkpoints do not have.

    Args:
        file: the config; without it, everything is as published and as the weights are shaped.
        tensors: the weights under our names.
        defaults: keys that depend on the form of the checkpoint.
    """
    table = {**PUBLISHED, **defaults, **_shapes(tensors), **_given(file)}
    with reading(table, ALWAYS, file):
        _refuse_unsupported(table, file)
        size = tensors["mention_token_attn.weight"].shape[1]
        head = head_config(table, size, gate="gate_ffnn.weight" in tensors)
        return TransformerSettings(table, head, int(table["max_segment_len"]))


def _given(file: Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    given = read_object(file, cure="give upstream's config")
    for theirs, ours in TENSORFLOW_KEYS.items():
        if theirs in given:
            given |= {key: given.get(key, given[theirs]) for key in ours}
    return given


def _shapes(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return what a config has to say of these weights."""
    widths, segments = tensors["emb_span_width.weight"], tensors.get("emb_segment_distance.weight")
    layers = [name for name in tensors if name.startswith("span_emb_score_ffnn.")]
    sizes = {
        "feature_emb_size": widths.shape[1],
        "max_span_width": widths.shape[0],
        "ffnn_size": tensors["span_emb_score_ffnn.0.weight"].shape[0],
        "ffnn_depth": len(layers) // 2 - 1,
        "coref_depth": 2 if "gate_ffnn.weight" in tensors else 1,
        "use_width_prior": "emb_span_width_prior.weight" in tensors,
        "use_distance_prior": "emb_antecedent_distance_prior.weight" in tensors,
        "use_segment_distance": segments is not None,
    }
    # without the feature, the weights do not say how long a window is
    return sizes if segments is None else {**sizes, "max_training_sentences": segments.shape[0]}


def _refuse_unsupported(table: Table, file: Path) -> None:
    kind = table.get("higher_order", "attended_antecedent")
    if int(table["coref_depth"]) > 1 and kind != "attended_antecedent":
        cure = "give a checkpoint with attended_antecedent, or one with coref_depth 1"
        raise InputError(f"higher_order is {kind}", cure=cure, file=file)


def head_config(table: Table, size: int, *, gate: bool = False) -> HeadConfig:
    """Return the head that a table of keys describes.

    Args:
        table: every key that a published configuration has.
        size: of the encoder's vectors.
        gate: whether there is a refinement gate at a depth of 1, too.
    """
    limit, segments = table["max_num_extracted_spans"], table["use_segment_distance"]
    return HeadConfig.of(
        table,
        boundary_size=size,
        head_value_size=size,
        feature_size=int(table["feature_emb_size"]),
        max_spans=None if limit is None else int(limit),
        gate=gate or int(table["coref_depth"]) > 1,
        width_prior=bool(table["use_width_prior"]),
        distance_prior=bool(table["use_distance_prior"]),
        segment_distances=int(table["max_training_sentences"]) if segments else 0,
        max_speakers=int(table["max_num_speakers"]) if table[LIMITED] else None,
        initialisation="truncated normal" if table[LIMITED] else "normal",
    )

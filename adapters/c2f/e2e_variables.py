"""E2E's TensorFlow variables under our names, with the transposes between the two."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from pronominal.adapters.c2f.bundle import is_training_state
from pronominal.adapters.c2f.lstm_encoder import LstmConfig

Arrays = Sequence[np.ndarray]
Variables = Mapping[str, np.ndarray]

CELL = "layer_{layer}/bidirectional_rnn/{direction}/CustomLSTMCell"
DIRECTIONS = ("fw", "bw")


@dataclass(frozen=True, slots=True)
class Source:
    """Which variables a tensor of ours is made of.

    Attributes:
        ours: the tensor's name.
        theirs: the variables' names.
        make: what turns the variables into the tensor.
    """

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

    @property
    def unexpected(self) -> list[str]:
        """Skipped variables that no training run would need either."""
        return [name for name in self.skipped if not is_training_state(name)]


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


def sources(config: LstmConfig, ffnn_depth: int, names: Iterable[str]) -> list[Source]:
    """Return what each tensor of a system is made of.

    Args:
        config: the encoder's sizes.
        ffnn_depth: hidden layers of the scorers.
        names: the head's tensors; what it does not have is not asked for.
    """
    heads = {source.ours: source for source in _head_sources(ffnn_depth)}
    return [*_encoder_sources(config), *(heads[f"head.{name}"] for name in names)]


def _encoder_sources(config: LstmConfig) -> list[Source]:
    found = [_same("encoder.characters.embeddings.weight", "char_embeddings")]
    for i in range(len(config.filter_widths)):
        ours = f"encoder.characters.convolutions.{i}"
        found.append(Source(f"{ours}.weight", (f"conv_{i}/w",), _convolution))
        found.append(_same(f"{ours}.bias", f"conv_{i}/b"))
    if config.elmo_size:
        found.append(_same("encoder.elmo_mix.scores", "lm_aggregation/lm_scores"))
        found.append(_same("encoder.elmo_mix.scale", "lm_aggregation/lm_scaling"))
    for layer in range(config.lstm_layers):
        found += _layer_sources(config, layer)
    return found


def _layer_sources(config: LstmConfig, layer: int) -> list[Source]:
    ours = f"encoder.lstm.layers.{layer}"
    cells = [CELL.format(layer=layer, direction=direction) for direction in DIRECTIONS]
    starts = [f"layer_{layer}/{direction}_cell/lstm_initial" for direction in DIRECTIONS]
    words = config.context_size + config.character_vector_size

    def matrix(arrays: Arrays) -> np.ndarray:
        stacked = np.stack(arrays)
        if layer > 0 or config.elmo_size:
            return stacked
        # a system without ELMo may be given the weights of one with it
        return np.concatenate([stacked[:, :words], stacked[:, -config.lstm_size :]], axis=1)

    found = [
        Source(f"{ours}.weights", tuple(f"{cell}/output_weights" for cell in cells), matrix),
        Source(f"{ours}.bias", tuple(f"{cell}/output_bias" for cell in cells), np.stack),
        Source(f"{ours}.initial_cell", tuple(f"{s}_cell_state" for s in starts), np.concatenate),
        Source(
            f"{ours}.initial_hidden", tuple(f"{s}_hidden_state" for s in starts), np.concatenate
        ),
    ]
    if layer > 0:
        found += _linear(f"encoder.lstm.highways.{layer - 1}", f"layer_{layer}/output")
    return found


def _head_sources(ffnn_depth: int) -> list[Source]:
    return [
        _same("head.emb_span_width.weight", "span_width_embeddings"),
        _same("head.emb_genre.weight", "genre_embeddings"),
        _same("head.emb_same_speaker.weight", "coref_layer/same_speaker_emb"),
        _same("head.emb_top_antecedent_distance.weight", "coref_layer/antecedent_distance_emb"),
        *_linear("head.mention_token_attn", "head_scores/output"),
        *_ffnn("head.span_emb_score_ffnn", "mention_scores", ffnn_depth),
        *_linear("head.coarse_bilinear", "src_projection/output"),
        *_ffnn("head.coref_score_ffnn", "coref_layer/slow_antecedent_scores", ffnn_depth),
        *_linear("head.gate_ffnn", "coref_layer/f/output"),
    ]


def _ffnn(ours: str, theirs: str, depth: int) -> list[Source]:
    """Affine, ReLU and dropout take three places in a sequence; the last affine stands alone."""
    hidden = [
        source
        for i in range(depth)
        for source in _linear(f"{ours}.{3 * i}", f"{theirs}/hidden", f"_{i}")
    ]
    return [*hidden, *_linear(f"{ours}.{3 * depth}", f"{theirs}/output")]


def _linear(ours: str, theirs: str, number: str = "") -> list[Source]:
    return [
        Source(f"{ours}.weight", (f"{theirs}_weights{number}",), _transposed),
        _same(f"{ours}.bias", f"{theirs}_bias{number}"),
    ]


def _same(ours: str, theirs: str) -> Source:
    return Source(ours, (theirs,), _only)


def _only(arrays: Arrays) -> np.ndarray:
    return arrays[0]


def _transposed(arrays: Arrays) -> np.ndarray:
    return arrays[0].T


def _convolution(arrays: Arrays) -> np.ndarray:
    """[width, character, filter] for TensorFlow, [filter, character, width] for PyTorch."""
    return arrays[0].transpose(2, 1, 0)

"""E2E's TensorFlow variables under our names, with the transposes between the two."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from pronominal.adapters.c2f.e2e.encoder import LstmConfig
from pronominal.adapters.c2f.tensorflow.variables import Arrays, Source, head_sources, linear, same

CELL = "layer_{layer}/bidirectional_rnn/{direction}/CustomLSTMCell"
DIRECTIONS = ("fw", "bw")


def sources(config: LstmConfig, ffnn_depth: int, names: Iterable[str]) -> list[Source]:
    """Return what each tensor of a system is made of; `names` are those that the head has."""
    gate = linear("gate_ffnn", "coref_layer/f/output")
    head = {s.ours: s for s in (*head_sources("head_scores/output", ffnn_depth), *gate)}
    of_head = (replace(head[name], ours=f"head.{name}") for name in names)
    return [*_encoder_sources(config), *of_head]


def _encoder_sources(config: LstmConfig) -> list[Source]:
    tensors = [same("encoder.characters.embeddings.weight", "char_embeddings")]
    for i in range(len(config.filter_widths)):
        ours = f"encoder.characters.convolutions.{i}"
        tensors.append(Source(f"{ours}.weight", (f"conv_{i}/w",), _convolution))
        tensors.append(same(f"{ours}.bias", f"conv_{i}/b"))
    if config.elmo_size:
        tensors.append(same("encoder.elmo_mix.scores", "lm_aggregation/lm_scores"))
        tensors.append(same("encoder.elmo_mix.scale", "lm_aggregation/lm_scaling"))
    for layer in range(config.lstm_layers):
        tensors += _layer_sources(config, layer)
    return tensors


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

    tensors = [
        Source(f"{ours}.weights", tuple(f"{cell}/output_weights" for cell in cells), matrix),
        Source(f"{ours}.bias", tuple(f"{cell}/output_bias" for cell in cells), np.stack),
        Source(f"{ours}.initial_cell", tuple(f"{s}_cell_state" for s in starts), np.concatenate),
        Source(
            f"{ours}.initial_hidden", tuple(f"{s}_hidden_state" for s in starts), np.concatenate
        ),
    ]
    if layer > 0:
        tensors += linear(f"encoder.lstm.highways.{layer - 1}", f"layer_{layer}/output")
    return tensors


def _convolution(arrays: Arrays) -> np.ndarray:
    """[width, character, filter] for TensorFlow, [filter, character, width] for PyTorch."""
    return arrays[0].transpose(2, 1, 0)

"""The published weight files: two stacks of layers, and two tables of word vectors.

The folder is the one that neuralcoref 4.0 downloads (``neuralcoref/file_utils.py`` upstream):
``cfg``, ``single_model`` and ``pairs_model`` (msgpack of thinc 7), and ``static_vectors`` and
``tuned_vectors``, each with an array ``vectors`` and a vocabulary ``key2row``. None is a pickle.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import srsly
from spacy.strings import get_string_id

from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.neuralcoref.features import PAIR_INPUT, SINGLE_INPUT
from pronominal.adapters.neuralcoref.network import UNRECTIFIED, Layer
from pronominal.adapters.neuralcoref.word_vectors import MISSING, UNKNOWN, WIDTH, WordVectors
from pronominal.errors import InputError


@dataclass(frozen=True, slots=True)
class Weights:
    """All that was trained.

    Attributes:
        checkpoint: where it was read.
        single: the layers that score a mention as the first of its entity.
        pairs: the layers that score a mention and an antecedent.
        static: vectors that were kept in training; they hold `UNKNOWN`.
        tuned: vectors that were trained along; they hold `MISSING`.
    """

    checkpoint: Checkpoint
    single: Sequence[Layer]
    pairs: Sequence[Layer]
    static: WordVectors
    tuned: WordVectors


def open_weights(checkpoint: str) -> Weights:
    """Read a folder of neuralcoref's weights, or the Hub id of such a one.

    `InputError` if a file is missing or damaged, or has other shapes than neuralcoref 4.0's.
    """
    opened = open_checkpoint(
        checkpoint,
        weights=("single_model",),
        config="cfg",
        others=("pairs_model", "static_vectors/*", "tuned_vectors/*"),
    )
    return Weights(
        checkpoint=opened,
        single=_layers(opened, "single_model", SINGLE_INPUT),
        pairs=_layers(opened, "pairs_model", PAIR_INPUT),
        static=_vectors(opened, "static_vectors", UNKNOWN),
        tuned=_vectors(opened, "tuned_vectors", MISSING),
    )


def _layers(checkpoint: Checkpoint, name: str, inputs: int) -> list[Layer]:
    with _readable(checkpoint, name):  # msgpack's errors, and those of another structure
        entries = srsly.msgpack_loads((checkpoint.folder / name).read_bytes())[b"weights"]
        tensors = [
            {parameter[b"name"]: np.asarray(parameter[b"value"]) for parameter in entry[b"params"]}
            for entry in entries
        ]
        # the stack itself is among its layers, without parameters
        layers = [Layer(tensor["W"], tensor["b"]) for tensor in tensors if tensor]
    widths = [inputs]
    for layer in layers:
        if layer.weights.shape != (len(layer.bias), widths[-1]):
            break
        widths.append(len(layer.bias))
    if len(layers) < UNRECTIFIED or len(widths) != len(layers) + 1 or widths[-1] != 1:
        raise InputError(
            f"its layers do not lead from {inputs} numbers to one",
            cure="give the weights of neuralcoref 4.0",
            file=Path(checkpoint.name) / name,
        )
    return layers


def _vectors(checkpoint: Checkpoint, name: str, needed: str) -> WordVectors:
    with _readable(checkpoint, name):  # numpy's and msgpack's errors, and those of no vocabulary
        matrix: Any = np.load(checkpoint.folder / name / "vectors", allow_pickle=False)
        rows = dict(srsly.msgpack_loads((checkpoint.folder / name / "key2row").read_bytes()))
        fits = matrix.shape[1:] == (WIDTH,) and max(rows.values()) < len(matrix)
    if not fits or get_string_id(needed) not in rows:
        raise InputError(
            f"vectors and vocabulary do not belong together, or '{needed}' has no vector",
            cure="give the weights of neuralcoref 4.0",
            file=Path(checkpoint.name) / name,
        )
    return WordVectors(rows, matrix.astype(np.float32, copy=False))


def _readable(checkpoint: Checkpoint, name: str) -> AbstractContextManager[None]:
    cause, cure = "it cannot be read", "give the whole folder of neuralcoref's weights"
    return input_error_on(Exception, cause=cause, cure=cure, file=Path(checkpoint.name) / name)

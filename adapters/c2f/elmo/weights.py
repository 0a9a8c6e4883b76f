"""ELMo's published files: options and weights in bilm-tf's layout, and vectors cached by E2E."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import torch
from torch import Tensor

from pronominal.adapters.c2f.elmo.network import CHARACTERS, Elmo, ElmoOptions
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.errors import InputError

WEIGHTS = "weights.hdf5"
OPTIONS = "options.json"
"""How the names of the two published files end; their beginnings are the same."""

CELL = "RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"


def read_elmo(path: Path) -> Elmo:
    """Load ELMo from ``*weights.hdf5``, or its folder, with ``*options.json`` in the same place."""
    weights = weight_file(path)
    options = read_options(weights.with_name(weights.name.removesuffix(WEIGHTS) + OPTIONS))
    with torch.device("meta"):
        elmo = Elmo(options)
    cause = "the weights have other shapes than the options say"
    cure = "give weights and options that belong together"
    with (
        input_error_on(
            RuntimeError, IndexError, cause=cause, cure=cure, file=weights, quoted=False
        ),
        _opened(weights, "give the weights that are published with the options") as file,
    ):
        elmo.load_state_dict(_tensors(file, weights, options), assign=True)
    return elmo.eval().requires_grad_(False)


def weight_file(path: Path) -> Path:
    """Return the weight file that a path means: itself, or the only one in a folder."""
    files = sorted(path.glob(f"*{WEIGHTS}")) if path.is_dir() else [path]
    if len(files) != 1:
        cure = "give a folder with one of them, or the file"
        raise InputError(f"{len(files)} files are named *{WEIGHTS}", cure=cure, file=path)
    if not files[0].is_file() or not files[0].name.endswith(WEIGHTS):
        cure = f"give a file named *{WEIGHTS} or its folder"
        raise InputError("no weights of ELMo", cure=cure, file=path)
    return files[0]


def read_options(file: Path) -> ElmoOptions:
    """Read an option file; `InputError` if it is missing, no JSON, or lacks a key."""
    cause = "no options of ELMo could be read"
    cure = "give the option file that is published with the weights"
    try:
        with input_error_on(
            OSError, ValueError, TypeError, RecursionError, cause=cause, cure=cure, file=file
        ):
            table = json.loads(file.read_text(encoding="utf-8"))
            options = _options(table["char_cnn"], table["lstm"])
    except KeyError as error:
        raise InputError(f"the key {error} is missing", cure="add it", file=file) from error
    if options.activation not in {"relu", "tanh"}:
        cure = "write relu or tanh"
        raise InputError(f"the activation is {options.activation}", cure=cure, file=file)
    return options


def _options(characters: dict[str, Any], lstm: dict[str, Any]) -> ElmoOptions:
    return ElmoOptions(
        character_size=int(characters["embedding"]["dim"]),
        filters=tuple((int(width), int(count)) for width, count in characters["filters"]),
        highways=int(characters.get("n_highway") or 0),
        activation=str(characters["activation"]),
        max_characters=int(characters["max_characters_per_token"]),
        projection=int(lstm["projection_dim"]),
        cells=int(lstm["dim"]),
        layers=int(lstm["n_layers"]),
        cell_clip=_limit(lstm.get("cell_clip")),
        projection_clip=_limit(lstm.get("proj_clip")),
        skip_connections=bool(lstm.get("use_skip_connections", False)),
    )


def _limit(value: Any) -> float | None:
    return None if value is None else float(value)


def _opened(path: Path, cure: str) -> h5py.File:
    cause = "no HDF5 file could be read"
    with input_error_on(OSError, cause=cause, cure=cure, file=path, quoted=False):
        return h5py.File(path, "r")


def _tensors(file: h5py.File, path: Path, options: ElmoOptions) -> dict[str, Tensor]:
    """Return the tensors under our names; bilm-tf's matrices are [in, out]."""
    damages = (KeyError, OSError, TypeError, ValueError)
    cure = "give weights in the layout of bilm-tf, undamaged"

    def read(name: str) -> Tensor:
        cause = f"{name} is missing or damaged"
        with input_error_on(*damages, cause=cause, cure=cure, file=path, quoted=False):
            return torch.from_numpy(np.array(file[name], np.float32))

    tensors = {"tokens.embeddings.weight": read("char_embed")[:CHARACTERS]}
    for i in range(len(options.filters)):
        # the first dimension is the height of an image, which words do not have
        tensors[f"tokens.convolutions.{i}.weight"] = read(f"CNN/W_cnn_{i}")[0].permute(2, 1, 0)
        tensors[f"tokens.convolutions.{i}.bias"] = read(f"CNN/b_cnn_{i}")
    for i in range(options.highways):
        for ours in ("carry", "transform"):
            place = f"tokens.highways.{i}.{ours}"
            tensors[f"{place}.weight"] = read(f"CNN_high_{i}/W_{ours}").T
            tensors[f"{place}.bias"] = read(f"CNN_high_{i}/b_{ours}")
    if sum(count for _, count in options.filters) != options.projection:
        tensors["tokens.projection.weight"] = read("CNN_proj/W_proj").T
        tensors["tokens.projection.bias"] = read("CNN_proj/b_proj")
    for i in range(options.layers):
        cells = [CELL.format(direction=direction, layer=i) for direction in (0, 1)]
        for ours, theirs in (("weights", "W_0"), ("bias", "B"), ("projection", "W_P_0")):
            both = [read(f"{cell}/{theirs}") for cell in cells]
            tensors[f"layers.{i}.{ours}"] = torch.stack(both)
    return {name: tensor.contiguous() for name, tensor in tensors.items()}


class ElmoCache:
    """Vectors of whole documents in E2E's layout.

    One group for each document, called by its key with ``:`` for ``/``; in it one dataset for
    each sentence, called by its number, [words, size, layers].
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = _opened(path, "give a file of cached vectors as elmo_cache")

    def __contains__(self, key: str) -> bool:
        return key.replace("/", ":") in self._file

    def vectors(self, key: str, lengths: Sequence[int], shape: tuple[int, int]) -> Tensor:
        """Return a document's vectors, [words, size, layers].

        Args:
            key: the document's; it has to be in the cache.
            lengths: how many words each sentence has.
            shape: size and layers that the system was trained with.
        """
        group: Any = self._file[key.replace("/", ":")]
        sentences = []
        for number, length in enumerate(lengths):
            if length == 0:
                continue
            dataset = group.get(str(number)) if isinstance(group, h5py.Group) else None
            if dataset is None or dataset.shape != (length, *shape):
                fault = "missing" if dataset is None else f"of shape {dataset.shape}"
                raise InputError(
                    f"its vectors are {fault}, not {(length, *shape)}",
                    cure="give the cache that was made from these sentences for this system",
                    file=self.path,
                    row=f"document {key}, sentence {number}",
                )
            sentences.append(torch.from_numpy(np.asarray(dataset, np.float32)))
        return torch.cat(sentences) if sentences else torch.empty(0, *shape)

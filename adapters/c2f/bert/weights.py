"""The weights of BERT and SpanBERT systems in three forms, read into one.

::

    model.safetensors         'safetensors': as 'pronominal convert c2f' writes it
    model.bin, model_*.bin    'torch': as coref-hoi saves it
    tf_checkpoint/*.ckpt.*    'tensorflow': as mandarjoshi90/coref saves it, or, as published,
    model.max.ckpt.*          beside the other files
"""

from pathlib import Path
from typing import Literal, get_args

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from pronominal.adapters.c2f.bert.variables import POOLER, sources
from pronominal.adapters.c2f.tensorflow.bundle import read_bundle
from pronominal.adapters.c2f.tensorflow.variables import Mapped, is_training_state, map_variables
from pronominal.adapters.checkpoints.transformers_models import first_line
from pronominal.errors import InputError

Form = Literal["safetensors", "torch", "tensorflow"]

FILES: dict[str, tuple[str, ...]] = {
    "safetensors": ("model.safetensors",),
    "torch": ("model.bin", "model_*.bin"),
    "tensorflow": ("tf_checkpoint/*", "model.max.ckpt.*"),
}
"""Where the weights of each form are; the first form that is there is read."""

OLD_BUFFER = "bert.embeddings.position_ids"
"""What transformers from 2.6 to 4.30 saved among the weights; newer ones compute it."""


def read_weights(form: Form, file: Path) -> Mapped:
    """Read weights as tensors under coref-hoi's names.

    Args:
        form: which form they are in.
        file: the one file that has them; the index of TensorFlow's.

    Raises:
        InputError: the file is damaged, or holds something else.
    """
    return _READERS[form](file)


def unexpected(mapped: Mapped) -> list[str]:
    """Return the skipped variables that no reason is known for."""
    return [name for name in mapped.skipped if not _is_unused(name)]


def choose_weights(folder: Path, forms: tuple[str, ...]) -> tuple[Form, Path]:
    """Return the first form that is there, and its one file; the index for TensorFlow's.

    Raises:
        InputError: there are several files of the form, or TensorFlow's is not whole.
    """
    for form in get_args(Form):
        patterns = FILES[form] if form in forms else ()
        places = (sorted(folder.glob(pattern)) for pattern in patterns)
        files = next((found for found in places if found), [])
        if form == "tensorflow":
            files = [file for file in files if file.suffix == ".index"]
        if len(files) > 1:
            raise InputError(
                "there are several weights",
                cure=f"keep one of {', '.join(file.name for file in files)}",
                file=folder,
            )
        if files:
            return form, files[0]
    raise InputError("there is no .index", cure="add the rest of the checkpoint", file=folder)


def _read_safetensors(file: Path) -> Mapped:
    try:
        return _as_they_stand(load_file(file))
    except (OSError, SafetensorError) as error:
        raise InputError(
            f"no weights could be read ({first_line(error)})",
            cure="convert the checkpoint again",
            file=file,
        ) from error


def _read_torch(file: Path) -> Mapped:
    """Read coref-hoi's pickle as tensors alone; nothing else in it is ever run."""
    try:
        tensors = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # unpickling fails with whatever the damaged place leads to
        raise InputError(
            f"no weights could be read ({first_line(error)})",
            cure="give the .bin that coref-hoi's training wrote",
            file=file,
        ) from error
    if not isinstance(tensors, dict) or not all(isinstance(t, Tensor) for t in tensors.values()):
        raise InputError("it holds no table of tensors", cure="give coref-hoi's .bin", file=file)
    return _as_they_stand(dict(tensors))


def _read_tensorflow(file: Path) -> Mapped:
    variables = read_bundle(file.with_suffix(""))
    return map_variables(variables, sources(variables))


_READERS = {
    "safetensors": _read_safetensors,
    "torch": _read_torch,
    "tensorflow": _read_tensorflow,
}


def _as_they_stand(tensors: dict[str, Tensor]) -> Mapped:
    unused = [name for name in tensors if _is_unused(name)]
    used = {name: tensor for name, tensor in tensors.items() if name not in unused}
    return Mapped(used, {name: (name,) for name in used}, [], sorted(unused))


def _is_unused(name: str) -> bool:
    pooler = name.replace("/", ".").startswith(f"bert.{POOLER}.")
    return pooler or name == OLD_BUFFER or is_training_state(name)

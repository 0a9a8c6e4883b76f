"""The weights of BERT and SpanBERT systems in three forms, read into one.

::

    model.safetensors         'safetensors': as 'pronominal convert c2f' writes it
    model.bin, model_*.bin    'torch': as coref-hoi saves it
    tf_checkpoint/*.ckpt.*    'tensorflow': as mandarjoshi90/coref saves it, or, as published,
    model.max.ckpt.*          next to the other files
"""

from pathlib import Path
from typing import Literal, get_args

from torch import Tensor

from pronominal.adapters.c2f.bert.variables import sources
from pronominal.adapters.c2f.tensorflow.bundle import read_bundle
from pronominal.adapters.c2f.tensorflow.variables import Mapped, is_training_state, map_variables
from pronominal.adapters.checkpoints.tensors import (
    are_tensors,
    is_unread,
    read_pickled,
    read_safetensors,
)
from pronominal.errors import InputError

Form = Literal["safetensors", "torch", "tensorflow"]

FILES: dict[str, tuple[str, ...]] = {
    "safetensors": ("model.safetensors",),
    "torch": ("model.bin", "model_*.bin"),
    "tensorflow": ("tf_checkpoint/*", "model.max.ckpt.*"),
}
"""Where the weights of each form are; the first form that is there is read."""


def read_weights(form: Form, file: Path) -> Mapped:
    """Read weights from their one file, or TensorFlow's index, under coref-hoi's names."""
    if form == "tensorflow":
        variables = read_bundle(file.with_suffix(""))
        return map_variables(variables, sources(variables))
    if form == "safetensors":
        return _unchanged(read_safetensors(file))
    tensors = read_pickled(file, "coref-hoi's training")
    if not are_tensors(tensors):
        raise InputError("it holds no table of tensors", cure="give coref-hoi's .bin", file=file)
    return _unchanged(tensors)


def unexpected(mapped: Mapped) -> list[str]:
    """Return the skipped variables that no reason is known for."""
    return [name for name in mapped.skipped if not _is_unused(name)]


def choose_weights(folder: Path, forms: tuple[str, ...]) -> tuple[Form, Path]:
    """Return the first form that is there, and its one file; the index for TensorFlow's."""
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


def _unchanged(tensors: dict[str, Tensor]) -> Mapped:
    unused = [name for name in tensors if _is_unused(name)]
    used = {name: tensor for name, tensor in tensors.items() if name not in unused}
    return Mapped(used, {name: (name,) for name in used}, [], sorted(unused))


def _is_unused(name: str) -> bool:
    return is_unread(name) or is_training_state(name)

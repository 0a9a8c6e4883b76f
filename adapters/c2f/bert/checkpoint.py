"""The files of BERT and SpanBERT systems, with weights in three forms that are read into one.

::

    bert_config.json          sizes of the encoder
    vocab.txt                 its word pieces; tokenizer.json where transformers 5 saved them
    config.json               keys of coref-hoi's experiments.conf; missing where TensorFlow's are
                              published, which are read by their shapes
    model.safetensors         'safetensors': as 'pronominal convert c2f' writes it
    model.bin, model_*.bin    'torch': as coref-hoi saves it
    tf_checkpoint/*.ckpt.*    'tensorflow': as mandarjoshi90/coref saves it, or, as published,
    model.max.ckpt.*          next to the other files
"""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

import torch
import transformers
from torch import Tensor

from pronominal.adapters.c2f.bert.encoder import TransformerModel
from pronominal.adapters.c2f.bert.pieces import FRAME, VOCABULARIES, WordPieces
from pronominal.adapters.c2f.bert.settings import (
    FORMAT,
    LIMITED,
    TransformerSettings,
    read_settings,
)
from pronominal.adapters.c2f.bert.variables import sources
from pronominal.adapters.c2f.tensorflow.bundle import read_bundle
from pronominal.adapters.c2f.tensorflow.variables import (
    REPORT,
    Mapped,
    is_training_state,
    map_variables,
)
from pronominal.adapters.checkpoints.encoders import pretrained
from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.tensors import (
    TOGETHER,
    are_tensors,
    is_unread,
    load_tensors,
    mismatch,
    read_pickled,
    read_safetensors,
    require_same,
    write_tensors,
)
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.json_files import read_object, write_json
from pronominal.names import unknown_name

Form = Literal["safetensors", "torch", "tensorflow"]

FILES: dict[str, tuple[str, ...]] = {
    "safetensors": ("model.safetensors",),
    "torch": ("model.bin", "model_*.bin"),
    "tensorflow": ("tf_checkpoint/*", "model.max.ckpt.*"),
}
"""Where the weights of each form are; the first form that is there is read."""

TOKENIZER = (*VOCABULARIES, "tokenizer_config.json")
"""What the tokenizer is read from."""

SPANBERT_SEGMENTS = MappingProxyType({768: 384, 1024: 512})
"""SpanBERT's published length of segments for each size of the encoder, in word pieces."""

ENCODER = "bert."
"""What the names of the encoder's tensors begin with."""


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
            cure = f"keep one of {', '.join(file.name for file in files)}"
            raise InputError("there are several weights", cure=cure, file=folder)
        if files:
            return form, files[0]
    raise InputError("there is no .index", cure="add the rest of the checkpoint", file=folder)


def _unchanged(tensors: dict[str, Tensor]) -> Mapped:
    unused = [name for name in tensors if _is_unused(name)]
    used = {name: tensor for name, tensor in tensors.items() if name not in unused}
    return Mapped(used, {name: (name,) for name in used}, [], sorted(unused))


def _is_unused(name: str) -> bool:
    return is_unread(name) or is_training_state(name)


@dataclass(frozen=True, slots=True)
class TransformerParts:
    """What a checkpoint holds; the tensors of `mapped` have coref-hoi's names."""

    checkpoint: Checkpoint
    form: Form
    settings: TransformerSettings
    model: TransformerModel
    tokenizer: WordPieces
    mapped: Mapped


def open_parts(
    checkpoint: str, weights: Form | None = None, segment_lengths: Mapping[int, int] | None = None
) -> TransformerParts:
    """Read a checkpoint of any form.

    Args:
        checkpoint: its folder, or the Hub id of a converted one.
        weights: which form, where there are several; the first of `FILES` when None.
        segment_lengths: the published length of segments for each size of the encoder, for
            checkpoints without ``config.json``.
    """
    if weights is not None and weights not in FILES:
        raise unknown_name("form of weights", weights, get_args(Form))
    asked = tuple(FILES) if weights is None else (weights,)
    files = [pattern for form in asked for pattern in FILES[form]]
    others = ("config.json", *TOKENIZER)
    opened = open_checkpoint(checkpoint, weights=files, config="bert_config.json", others=others)
    form, file = choose_weights(opened.folder, asked)
    mapped = read_weights(form, file)
    bert = _bert_config(opened.folder / "bert_config.json")
    length = (segment_lengths or {}).get(bert.hidden_size, bert.max_position_embeddings)
    defaults = {LIMITED: form == "tensorflow", "max_segment_len": length}
    tensors = _with_span_widths(mapped, file)
    settings = read_settings(opened.folder / "config.json", tensors, defaults)
    _refuse_segments(settings, bert, opened.folder)
    tokenizer = WordPieces.of_checkpoint(opened.folder)
    model = _model(bert, tokenizer, settings, mapped, file)
    return TransformerParts(opened, form, settings, model, tokenizer, mapped)


def canonical_tensors(model: TransformerModel) -> dict[str, Tensor]:
    """Return a model's tensors under coref-hoi's names, which its checkpoints have."""
    return {
        name.removeprefix("encoder.").removeprefix("head."): tensor
        for name, tensor in model.state_dict().items()
    }


def _with_span_widths(mapped: Mapped, file: Path) -> Mapping[str, Tensor]:
    """Refuse weights that are of something else altogether."""
    for name in ("emb_span_width.weight", "mention_token_attn.weight"):
        if name not in mapped.tensors:
            raise mismatch(f"no {name}", file)
    return mapped.tensors


def _bert_config(file: Path) -> Any:
    cure = "give the bert_config.json that belongs to the weights"
    with input_error_on(Exception, cause="no config of BERT could be read", cure=cure, file=file):
        return transformers.BertConfig.from_dict(read_object(file, cure=cure))


def _refuse_segments(settings: TransformerSettings, bert: Any, folder: Path) -> None:
    longest = bert.max_position_embeddings
    if not FRAME < settings.max_segment_len <= longest:
        cause = f"max_segment_len is {settings.max_segment_len}"
        cure = f"write a number above {FRAME} and up to {longest}, which the encoder can read"
        raise InputError(cause, cure=cure, file=folder / "config.json")


def _model(
    config: Any, tokenizer: WordPieces, settings: TransformerSettings, mapped: Mapped, file: Path
) -> TransformerModel:
    if max(tokenizer.numbers.values()) >= config.vocab_size:
        raise mismatch(f"vectors for {config.vocab_size} pieces, and its tokenizer has more", file)
    names = [name for name in mapped.tensors if name.startswith(ENCODER)]
    state = {name.removeprefix(ENCODER): mapped.tensors[name] for name in names}
    given: dict[str, Any] = {"config": config, "state_dict": state, "add_pooling_layer": False}
    bert = pretrained(transformers.BertModel, None, file, cure=TOGETHER, prefix=ENCODER, **given)
    with torch.device("meta"):  # no memory and no random numbers for what is loaded at once
        model = TransformerModel(bert, tokenizer.numbers, settings.head)
    head = {name: tensor for name, tensor in mapped.tensors.items() if name not in names}
    load_tensors(model.head, head, file)
    require_same(mapped.missing, unexpected(mapped), file)
    return model.float().eval().requires_grad_(False)


def convert(source: str, target: Path, weights: Form | None = None) -> dict[str, Any]:
    """Write a checkpoint in the form without pickles, whole.

    Segments of a checkpoint without ``config.json`` get SpanBERT's length; for BERT, write one
    with ``max_segment_len``.

    Args:
        source: a folder with upstream's files.
        target: the folder to make.
        weights: which of several forms to convert; coref-hoi's before TensorFlow's when None.

    Returns:
        The report that is also written as `REPORT`: ``used`` (our tensors, each with the
        variables it was made of), ``skipped`` and ``missing`` (variables).
    """
    if target.exists():
        raise InputError("it is there already", cure="name a new folder", file=target)
    parts = open_parts(source, weights, SPANBERT_SEGMENTS)
    if parts.form == "safetensors":
        cure = "give weights of torch or tensorflow"
        raise InputError("it is converted already", cure=cure, file=source)
    report = parts.mapped.report()
    (file,) = FILES["safetensors"]
    with new_folder(target) as folder:
        write_json(folder / "config.json", {**parts.settings.table, "format": FORMAT})
        write_json(folder / REPORT, report)
        for name in ("bert_config.json", *TOKENIZER):
            if (parts.checkpoint.folder / name).is_file():
                shutil.copyfile(parts.checkpoint.folder / name, folder / name)
        write_tensors(folder / file, canonical_tensors(parts.model))
    return report

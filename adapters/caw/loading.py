"""A checkpoint's parts to a model and its tokenizer, and to the form without pickles."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn

from pronominal.adapters.caw.checkpoint import ENCODER, Described, Parts, open_parts
from pronominal.adapters.caw.model import ENTRIES, Encoder, Hyperparameters, WordLevelModel
from pronominal.adapters.caw.tokens import SubwordTokenizer
from pronominal.adapters.checkpoints.encoders import open_encoder, pretrained
from pronominal.adapters.checkpoints.tensors import load_tensors, write_tensors
from pronominal.adapters.checkpoints.third_party import contained_rust, input_error_on
from pronominal.adapters.checkpoints.transformers_models import (
    longest_input,
    require_vocabulary,
    silent_transformers,
)
from pronominal.atomic import new_folder
from pronominal.errors import InputError
from pronominal.json_files import write_json


def load_model(parts: Parts, *, batch_size: int) -> tuple[WordLevelModel, SubwordTokenizer]:
    """Build the model and its tokenizer; tensors are taken over, not copied.

    At most `batch_size` windows go through the encoder at once. `InputError` if tensors are
    missing, left over or of the wrong shape, or the encoder's config, tokenizer or weights are not
    to be had.
    """
    name = parts.checkpoint.name
    config, tokenizer = _config_and_tokenizer(parts.encoder, parts.tokenizer_kwargs, name)
    transformer = _transformer(parts, config)
    require_vocabulary(tokenizer, transformer, parts.checkpoint.name)
    encoder = _framed(transformer, tokenizer, batch_size)
    with torch.device("meta"):  # no memory and no random numbers for what is loaded at once
        model = WordLevelModel(encoder, config.hidden_size, parts.settings)
    for entry, module in ENTRIES.items():
        tensors, file = parts.entries[entry], parts.checkpoint.name
        load_tensors(model.get_submodule(module), tensors, file, prefix=f"{entry}.")
    _check_window(transformer, parts)
    model.float().eval().requires_grad_(False)
    return model, SubwordTokenizer(tokenizer, config.model_type)


def convert(source: str, target: Path, section: str | None = None) -> None:
    """Write a checkpoint in the form without pickles, whole: the encoder's files are in it.

    Args:
        source: a folder with ``config.toml`` and a ``.pt`` file.
        target: the folder to make.
        section: which section; the first whose weights are there when None.
    """
    if target.exists():
        raise InputError("it is there already", cure="name a new folder", file=target)
    parts = open_parts(source, section)
    model, tokenizer = load_model(parts, batch_size=1)
    with new_folder(target) as folder:
        write_model(folder, model, tokenizer, parts.described)


def write_model(
    folder: Path, model: WordLevelModel, tokenizer: SubwordTokenizer, described: Described
) -> None:
    """Write a model in the form without pickles into a folder that is there."""
    modules = {"bert": model.encoder.transformer} | {
        entry: model.get_submodule(module) for entry, module in ENTRIES.items()
    }
    tensors = {
        f"{entry}.{name}": tensor
        for entry, module in modules.items()
        for name, tensor in module.state_dict().items()
    }
    write_json(folder / "config.json", described.table())
    write_tensors(folder / "model.safetensors", tensors)
    with silent_transformers():
        model.encoder.transformer.config.save_pretrained(folder / ENCODER)
        tokenizer.tokenizer.save_pretrained(folder / ENCODER)


def new_model(
    encoder: str, settings: Hyperparameters, *, batch_size: int
) -> tuple[WordLevelModel, SubwordTokenizer, str]:
    """Put a head of the given sizes on a pretrained encoder, with windows that it can read.

    Returns:
        The model, its tokenizer, and the digest of the encoder's files.

    Raises:
        InputError: the encoder's files are missing, damaged, or of another kind.
    """
    transformer, _, files = open_encoder(encoder)
    config, tokenizer = _config_and_tokenizer(str(files.folder), {}, encoder)
    longest = longest_input(transformer)
    if longest is not None:
        size = min(settings.bert_window_size, longest)
        settings = replace(settings, bert_window_size=size)
    framed = _framed(transformer, tokenizer, batch_size)
    model = WordLevelModel(framed, config.hidden_size, settings)
    return model.eval(), SubwordTokenizer(tokenizer, config.model_type), files.digest


def _framed(transformer: Any, tokenizer: Any, batch_size: int) -> Encoder:
    frame = tokenizer.cls_token_id, tokenizer.sep_token_id
    padding = tokenizer.pad_token_id
    return Encoder(transformer, frame=frame, padding=padding, batch_size=batch_size)


def _config_and_tokenizer(
    encoder: str, tokenizer_kwargs: Mapping[str, Any], file: str
) -> tuple[Any, Any]:
    cause = f"config and tokenizer of the encoder '{Path(encoder).name}' are not available"
    cure = "put the encoder's folder next to config.toml, or go online"
    # transformers and the Hub's client fail in many ways
    with (
        silent_transformers(),
        input_error_on(Exception, cause=cause, cure=cure, file=file),
        contained_rust(),
    ):
        config = transformers.AutoConfig.from_pretrained(encoder, trust_remote_code=False)
        # the encoder reads isolated words, so that RoBERTa's have to be told of their space
        spaces = {"add_prefix_space": True} if config.model_type == "roberta" else {}
        kwargs = {**spaces, **tokenizer_kwargs, "trust_remote_code": False}
        return config, transformers.AutoTokenizer.from_pretrained(encoder, **kwargs)


def _transformer(parts: Parts, config: Any) -> Any:
    file, cure = parts.checkpoint.name, "give the weights of this encoder"
    weights = parts.entries.get("bert")
    given: dict[str, Any] = {"config": config}
    if weights is None:
        given["trust_remote_code"] = False
        return pretrained(transformers.AutoModel, parts.encoder, file, cure=cure, **given)
    model_class = transformers.MODEL_MAPPING[type(config)]
    return pretrained(
        model_class, None, file, cure=cure, prefix="bert.", state_dict=weights, **given
    )


def _check_window(transformer: nn.Module, parts: Parts) -> None:
    """Refuse a window that is longer than the encoder's table of positions."""
    longest = longest_input(transformer)
    if longest is None:
        return
    if not 2 < parts.settings.bert_window_size <= longest:
        cause = f"bert_window_size is {parts.settings.bert_window_size}"
        cure = f"write a number above 2 and up to {longest}, which the encoder can read"
        raise InputError(cause, cure=cure, file=parts.checkpoint.name)

"""A checkpoint's parts to a model and its tokenizer, and to the form without pickles."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file
from torch import nn

from pronominal.adapters.caw.checkpoint import ENCODER, FORMAT, Parts, Tensors, open_parts
from pronominal.adapters.caw.encoder import Encoder
from pronominal.adapters.caw.model import ENTRIES, WordLevelModel
from pronominal.adapters.caw.tokens import SubwordTokenizer
from pronominal.adapters.checkpoints.transformers_models import (
    first_line,
    longest_input,
    require_vocabulary,
    silent_transformers,
)
from pronominal.atomic import new_folder
from pronominal.errors import InputError

OLD_BUFFER = "embeddings.position_ids"
"""What transformers up to 4.30 saved among the weights; newer ones compute it."""

UNUSED = "pooler."
"""Weights that are in the encoder and that nothing reads."""


def load_model(parts: Parts, *, batch_size: int) -> tuple[WordLevelModel, SubwordTokenizer]:
    """Build the model and its tokenizer; tensors are taken over, not copied.

    Args:
        parts: a checkpoint that was read.
        batch_size: how many windows go through the encoder at once.

    Raises:
        InputError: tensors are missing, left over or of the wrong shape, or the encoder's config,
            tokenizer or weights are not to be had.
    """
    with silent_transformers():
        config, tokenizer = _config_and_tokenizer(parts)
        transformer = _transformer(parts, config)
    require_vocabulary(tokenizer, transformer, parts.checkpoint.name)
    encoder = Encoder(
        transformer,
        frame=(tokenizer.cls_token_id, tokenizer.sep_token_id),
        padding=tokenizer.pad_token_id,
        batch_size=batch_size,
    )
    with torch.device("meta"):  # no memory and no random numbers for what is loaded at once
        model = WordLevelModel(encoder, config.hidden_size, parts.settings)
    for entry, module in ENTRIES.items():
        _load_strictly(model.get_submodule(module), parts.entries[entry], entry, parts)
    _check_window(transformer, parts)
    model.float().eval().requires_grad_(False)
    return model, SubwordTokenizer(tokenizer, config.model_type)


def convert(source: str, target: Path, section: str | None = None) -> None:
    """Write a checkpoint in the form without pickles, whole: the encoder's files are in it.

    Args:
        source: a folder with ``config.toml`` and a ``.pt`` file.
        target: the folder to make.
        section: which section; the first whose weights are there when None.

    Raises:
        InputError: the checkpoint cannot be loaded, or `target` is there already.
    """
    if target.exists():
        raise InputError("it is there already", cure="name a new folder", file=target)
    parts = open_parts(source, section)
    model, tokenizer = load_model(parts, batch_size=1)
    modules = {"bert": model.encoder.transformer} | {
        entry: model.get_submodule(module) for entry, module in ENTRIES.items()
    }
    tensors = {
        f"{entry}.{name}": tensor.contiguous()
        for entry, module in modules.items()
        for name, tensor in module.state_dict().items()
    }
    description = {
        "format": FORMAT,
        "section": parts.section,
        **asdict(parts.settings),
        "tokenizer_kwargs": dict(parts.tokenizer_kwargs),
    }
    with new_folder(target) as folder, silent_transformers():
        (folder / "config.json").write_text(json.dumps(description, indent=2) + "\n")
        save_file(tensors, folder / "model.safetensors")
        (folder / "model.safetensors").chmod(0o644)
        model.encoder.config.save_pretrained(folder / ENCODER)
        tokenizer.tokenizer.save_pretrained(folder / ENCODER)


def _config_and_tokenizer(parts: Parts) -> tuple[Any, Any]:
    try:
        config = transformers.AutoConfig.from_pretrained(parts.encoder, trust_remote_code=False)
        # the encoder reads isolated words, so that RoBERTa's have to be told of their space
        spaces = {"add_prefix_space": True} if config.model_type == "roberta" else {}
        kwargs = {**spaces, **parts.tokenizer_kwargs, "trust_remote_code": False}
        return config, transformers.AutoTokenizer.from_pretrained(parts.encoder, **kwargs)
    except Exception as error:  # transformers and the Hub's client fail in many ways
        raise InputError(
            f"config and tokenizer of the encoder '{Path(parts.encoder).name}' are not to be had "
            f"({first_line(error)})",
            cure="put the encoder's folder beside config.toml, or go online",
            file=parts.checkpoint.name,
        ) from error


def _transformer(parts: Parts, config: Any) -> nn.Module:
    weights = parts.entries.get("bert")
    config.torch_dtype = torch.float32  # as upstream computes, whatever the encoder was saved in
    try:
        if weights is None:
            found = transformers.AutoModel.from_pretrained(
                parts.encoder, config=config, output_loading_info=True, trust_remote_code=False
            )
        else:
            model_class: Any = transformers.MODEL_MAPPING[type(config)]
            found = model_class.from_pretrained(
                None,
                config=config,
                state_dict={n: tensor for n, tensor in weights.items() if n != OLD_BUFFER},
                output_loading_info=True,
            )
    except Exception as error:  # as above; wrong shapes are a RuntimeError
        raise InputError(
            f"the encoder could not be loaded ({first_line(error)})",
            cure="give the weights of this encoder",
            file=parts.checkpoint.name,
        ) from error
    transformer, report = found
    _refuse("bert", report["missing_keys"], report["unexpected_keys"], parts)
    model: nn.Module = transformer
    return model


def _load_strictly(module: nn.Module, tensors: Tensors, entry: str, parts: Parts) -> None:
    try:
        report = module.load_state_dict(tensors, strict=False, assign=True)
    except RuntimeError as error:
        raise InputError(
            f"{entry} has tensors of another shape than its config says",
            cure="give config and weights that belong together",
            file=parts.checkpoint.name,
        ) from error
    _refuse(entry, report.missing_keys, report.unexpected_keys, parts)


def _refuse(entry: str, missing: Iterable[str], unexpected: Iterable[str], parts: Parts) -> None:
    """Refuse tensors that are missing or left over: upstream loads strictly too."""
    for names, fault in ((missing, "lacks"), (unexpected, "holds what the config does not have:")):
        faulty = sorted(name for name in names if not name.startswith(UNUSED))
        if faulty:
            raise InputError(
                f"{entry} {fault} {faulty[0]}"
                + (f" and {len(faulty) - 1} more" if len(faulty) > 1 else ""),
                cure="give config and weights that belong together",
                file=parts.checkpoint.name,
            )


def _check_window(transformer: nn.Module, parts: Parts) -> None:
    """Refuse a window that is longer than the encoder's table of positions."""
    longest = longest_input(transformer)
    if longest is None:
        return
    if not 2 < parts.settings.bert_window_size <= longest:
        raise InputError(
            f"bert_window_size is {parts.settings.bert_window_size}",
            cure=f"write a number above 2 and up to {longest}, which the encoder can read",
            file=parts.checkpoint.name,
        )

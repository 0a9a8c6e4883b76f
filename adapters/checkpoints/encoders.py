"""Encoders of transformers and their tokenizers, opened whole."""

from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn

from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.tensors import require_same
from pronominal.adapters.checkpoints.third_party import contained_rust, input_error_on
from pronominal.adapters.checkpoints.transformers_models import (
    require_vocabulary,
    silent_transformers,
)
from pronominal.errors import InputError


def pretrained(
    model_class: Any,
    where: str | Path | None,
    file: str | Path,
    *,
    cure: str,
    prefix: str = "",
    strict: bool = True,
    **given: Any,
) -> Any:
    """Return an encoder with all of its tensors, in float32, in any precision that it was saved in.

    Args:
        model_class: of transformers, such as `transformers.AutoModel`.
        where: a folder or a Hub id; None where config and tensors are given.
        file: the checkpoint, for messages.
        cure: what to do where the encoder cannot be loaded.
        prefix: how the names of the encoder's tensors begin in the checkpoint.
        strict: whether tensors that are left over are refused, too.
        given: further keywords of ``from_pretrained``.
    """
    cause = "the encoder cannot be loaded"
    with silent_transformers(), input_error_on(Exception, cause=cause, cure=cure, file=file):
        encoder, report = model_class.from_pretrained(
            where, output_loading_info=True, dtype=torch.float32, **given
        )
    require_same(report["missing_keys"], report["unexpected_keys"] if strict else (), file, prefix)
    return encoder


def open_encoder(where: str) -> tuple[nn.Module, Any, Checkpoint]:
    """Open a pretrained encoder and a tokenizer that says which characters its subwords are.

    `where` is a folder or a Hub id; `InputError` if its files are missing, damaged, or of another
    kind.
    """
    checkpoint = open_checkpoint(where)
    cause, cure = "the tokenizer cannot be loaded", "give the folder of a whole encoder"
    with (
        silent_transformers(),
        input_error_on(Exception, cause=cause, cure=cure, file=where),
        contained_rust(),
    ):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            checkpoint.folder, trust_remote_code=False
        )
    if not tokenizer.is_fast:
        cure = "give an encoder with a tokenizer.json"
        raise InputError("the tokenizer does not say where its subwords are", cure=cure, file=where)
    kind, folder = transformers.AutoModel, checkpoint.folder
    cure = "give an encoder that transformers.AutoModel opens"
    encoder = pretrained(kind, folder, where, cure=cure, strict=False, trust_remote_code=False)
    if encoder.config.is_encoder_decoder or not hasattr(encoder.config, "hidden_size"):
        raise InputError("it is no encoder", cure="give one such as BERT or RoBERTa", file=where)
    require_vocabulary(tokenizer, encoder, where)
    pooler = getattr(encoder, "pooler", None)
    if pooler is not None:
        pooler.requires_grad_(False)
    return encoder, tokenizer, checkpoint

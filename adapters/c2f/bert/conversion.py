"""A BERT or SpanBERT checkpoint of either upstream form, rewritten as safetensors and JSON."""

import shutil
from pathlib import Path
from typing import Any

from pronominal.adapters.c2f.bert.checkpoint import FILES, Form, canonical_tensors, open_parts
from pronominal.adapters.c2f.bert.pieces import VOCABULARIES
from pronominal.adapters.c2f.bert.settings import FORMAT
from pronominal.adapters.c2f.bert.system import SpanBERT
from pronominal.adapters.checkpoints.files import write_json
from pronominal.adapters.checkpoints.tensors import write_tensors
from pronominal.atomic import new_folder
from pronominal.errors import InputError

REPORT = "conversion.json"
"""Beside the converted weights: which variables were used, skipped and missing."""

COPIED = ("bert_config.json", "tokenizer_config.json", *VOCABULARIES)
"""What is copied unchanged to the converted form."""


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
    parts = open_parts(source, weights, SpanBERT.segment_lengths)
    if parts.form == "safetensors":
        raise InputError(
            "it is converted already", cure="give weights of torch or tensorflow", file=source
        )
    report = parts.mapped.report()
    (file,) = FILES["safetensors"]
    with new_folder(target) as folder:
        write_json(folder / "config.json", {**parts.settings.table, "format": FORMAT})
        write_json(folder / REPORT, report)
        for name in COPIED:
            if (parts.checkpoint.folder / name).is_file():
                shutil.copyfile(parts.checkpoint.folder / name, folder / name)
        write_tensors(folder / file, canonical_tensors(parts.model))
    return report

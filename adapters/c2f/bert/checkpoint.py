"""The files of BERT and SpanBERT systems: what a model and its tokenizer are made of.

::

    bert_config.json    sizes of the encoder
    vocab.txt           its word pieces; tokenizer.json where transformers 5 saved them
    config.json         keys of coref-hoi's experiments.conf; missing where TensorFlow's are
                        published, which are read by their shapes
    weights             in any form of `bert_weights`
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import torch
from torch import Tensor, nn

from pronominal.adapters.c2f.bert.encoder import TransformerModel
from pronominal.adapters.c2f.bert.pieces import FRAME, VOCABULARIES, WordPieces
from pronominal.adapters.c2f.bert.settings import LIMITED, TransformerSettings, read_settings
from pronominal.adapters.c2f.bert.weights import (
    FILES,
    Form,
    choose_weights,
    read_weights,
    unexpected,
)
from pronominal.adapters.c2f.tensorflow.variables import Mapped, misfit
from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.transformers_models import first_line, silent_transformers
from pronominal.errors import InputError, unknown_name

OTHERS = ("config.json", *VOCABULARIES, "tokenizer_config.json")
"""What is read besides the weights and the encoder's config."""

ENCODER = "bert."
"""What the names of the encoder's tensors begin with."""


@dataclass(frozen=True, slots=True)
class TransformerParts:
    """What a checkpoint holds.

    Attributes:
        checkpoint: which files these are.
        form: in which form the weights were.
        settings: what the config says.
        model: with the weights, ready to predict.
        tokenizer: words to pieces.
        mapped: what became of the checkpoint's variables; its tensors have coref-hoi's names.
    """

    checkpoint: Checkpoint
    form: Form
    settings: TransformerSettings
    model: TransformerModel
    tokenizer: WordPieces
    mapped: Mapped


def open_parts(
    checkpoint: str,
    weights: Form | None = None,
    segment_lengths: Mapping[int, int] | None = None,
) -> TransformerParts:
    """Read a checkpoint of any form.

    Args:
        checkpoint: its folder, or the Hub id of a converted one.
        weights: which form, where there are several; the first of `FILES` when None.
        segment_lengths: the published length of segments for each size of the encoder, for
            checkpoints without ``config.json``.

    Raises:
        InputError: something is missing or damaged, or does not belong together.
    """
    if weights is not None and weights not in FILES:
        raise unknown_name("form of weights", weights, get_args(Form))
    asked = tuple(FILES) if weights is None else (weights,)
    found = open_checkpoint(
        checkpoint,
        weights=[pattern for form in asked for pattern in FILES[form]],
        config="bert_config.json",
        others=OTHERS,
    )
    form, file = choose_weights(found.folder, asked)
    mapped = read_weights(form, file)
    bert = _bert_config(found.folder / "bert_config.json")
    length = (segment_lengths or {}).get(bert.hidden_size, bert.max_position_embeddings)
    settings = read_settings(
        found.folder / "config.json",
        _with_span_widths(mapped, file),
        {LIMITED: form == "tensorflow", "max_segment_len": length},
    )
    _refuse_segments(settings, bert, found.folder)
    tokenizer = WordPieces.of_checkpoint(found.folder)
    model = _model(bert, tokenizer, settings, mapped, file)
    return TransformerParts(found, form, settings, model, tokenizer, mapped)


def bert_of(folder: Path | None, **given: Any) -> tuple[Any, dict[str, Any]]:
    """Return a BERT without its pooler, and transformers' account of its tensors.

    It computes in float32, whatever it was saved in and whatever its config says.

    Args:
        folder: in the form of transformers; None where config and tensors are given.
        given: further keywords of ``from_pretrained``.
    """
    import transformers

    model_class: Any = transformers.BertModel
    with silent_transformers():
        bert, report = model_class.from_pretrained(
            folder, add_pooling_layer=False, output_loading_info=True, dtype=torch.float32, **given
        )
    return bert, report


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
            raise misfit(f"no {name}", file)
    return mapped.tensors


def _bert_config(file: Path) -> Any:
    import transformers

    try:
        table = json.loads(file.read_text(encoding="utf-8"))
        return transformers.BertConfig.from_dict(table)
    except Exception as error:  # transformers fails in many ways
        raise InputError(
            f"no config of BERT could be read ({first_line(error)})",
            cure="give the bert_config.json that belongs to the weights",
            file=file,
        ) from error


def _refuse_segments(settings: TransformerSettings, bert: Any, folder: Path) -> None:
    longest = bert.max_position_embeddings
    if not FRAME < settings.max_segment_len <= longest:
        raise InputError(
            f"max_segment_len is {settings.max_segment_len}",
            cure=f"write a number above {FRAME} and up to {longest}, which the encoder can read",
            file=folder / "config.json",
        )


def _model(
    config: Any, tokenizer: WordPieces, settings: TransformerSettings, mapped: Mapped, file: Path
) -> TransformerModel:
    if max(tokenizer.numbers.values()) >= config.vocab_size:
        raise misfit(f"vectors for {config.vocab_size} pieces, and its tokenizer has more", file)
    names = [name for name in mapped.tensors if name.startswith(ENCODER)]
    bert, missing = _bert(config, {n.removeprefix(ENCODER): mapped.tensors[n] for n in names}, file)
    with torch.device("meta"):  # no memory and no random numbers for what is loaded at once
        model = TransformerModel(bert, tokenizer.numbers, settings.head)
    head = {name: tensor for name, tensor in mapped.tensors.items() if name not in names}
    try:
        report = model.head.load_state_dict(head, strict=False, assign=True)
    except RuntimeError as error:
        raise misfit("tensors of another shape than its config says", file) from error
    mapped.missing += [*missing, *report.missing_keys]
    surplus = [*report.unexpected_keys, *unexpected(mapped)]
    if mapped.missing:
        raise misfit(f"no {mapped.missing[0]}", file)
    if surplus:
        raise misfit(f"{surplus[0]}, which the config does not have", file)
    return model.float().eval().requires_grad_(False)


def _bert(config: Any, tensors: dict[str, Tensor], file: Path) -> tuple[nn.Module, list[str]]:
    """Return the encoder, and which of its tensors are missing."""
    try:
        bert, report = bert_of(None, config=config, state_dict=tensors)
    except Exception as error:  # as above; wrong shapes are a RuntimeError
        raise misfit(f"another encoder than its config says ({first_line(error)})", file) from error
    for name in report["unexpected_keys"]:
        raise misfit(f"{ENCODER}{name}, which the config does not have", file)
    return bert, [f"{ENCODER}{name}" for name in report["missing_keys"]]

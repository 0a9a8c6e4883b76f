"""Encoders and classifiers on disk: folders that plain transformers opens, too."""

import json
import re
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from torch import nn

from pronominal.adapters.bert.model import AntecedentClassifier
from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.transformers_models import (
    first_line,
    longest_input,
    require_vocabulary,
    silent_transformers,
)
from pronominal.errors import InputError

HEAD = "antecedent_head."
"""What the names of the head's tensors begin with, beside the encoder's own."""

KEY = "pronominal"
"""Where the encoder's config holds the classifier's settings."""

HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")

UNREAD = "pooler."
"""Weights of encoders that no scorer reads."""


def open_encoder(where: str) -> tuple[nn.Module, Any, Checkpoint]:
    """Open a pretrained encoder and its tokenizer.

    Args:
        where: a folder or a Hub id.

    Raises:
        InputError: config, weights or tokenizer are missing, damaged, or of another kind.
    """
    checkpoint = open_checkpoint(where)
    tokenizer = _tokenizer(checkpoint)
    with silent_transformers():
        try:
            encoder, report = transformers.AutoModel.from_pretrained(
                checkpoint.folder,
                output_loading_info=True,
                trust_remote_code=False,
                dtype=torch.float32,
            )
        except Exception as error:  # transformers fails in many ways
            raise InputError(
                f"the encoder cannot be loaded ({first_line(error)})",
                cure="give an encoder that transformers.AutoModel opens",
                file=where,
            ) from error
    missing = sorted(name for name in report["missing_keys"] if not name.startswith(UNREAD))
    if missing:
        raise InputError(
            f"the weights lack {missing[0]}"
            + (f" and {len(missing) - 1} more" if len(missing) > 1 else ""),
            cure="give config and weights that belong together",
            file=where,
        )
    if encoder.config.is_encoder_decoder or not hasattr(encoder.config, "hidden_size"):
        raise InputError("it is no encoder", cure="give one such as BERT or RoBERTa", file=where)
    require_vocabulary(tokenizer, encoder, where)
    pooler = getattr(encoder, "pooler", None)
    if pooler is not None:
        pooler.requires_grad_(False)
    return encoder, tokenizer, checkpoint


def require_seeing_first_token(encoder: nn.Module, where: str) -> None:
    """Refuse a decoder whose first token is to stand for a text of which it sees nothing.

    Args:
        encoder: in evaluation mode.
        where: how it is called in the error.

    Raises:
        InputError: the first token's state does not depend on what follows.
    """
    with torch.inference_mode():
        states = encoder(input_ids=torch.tensor([[0, 1], [0, 2]])).last_hidden_state
    if torch.equal(states[0, 0], states[1, 0]):
        raise InputError(
            "its first token does not see the text, as in a decoder",
            cure="give an encoder such as BERT, or --pooling mean",
            file=where,
        )


def longest_sequence(encoder: nn.Module, tokenizer: Any) -> int:
    """Return how many subwords an encoder takes, special ones included."""
    longest = longest_input(encoder)
    if longest is None:
        longest = getattr(encoder.config, "max_position_embeddings", 512)
    return int(min(longest, tokenizer.model_max_length))


def encoder_name(checkpoint: Checkpoint) -> str:
    """Return how an encoder is called: by the Hub id that its config has, else by its folder."""
    known = str(_read_config(checkpoint).get("_name_or_path", ""))
    return known if HUB_ID.fullmatch(known) else Path(checkpoint.name).resolve().name


def save_classifier(
    model: AntecedentClassifier, tokenizer: Any, classifier: Classifier, folder: Path
) -> None:
    """Write a classifier's config, weights and tokenizer into a folder that is there.

    ``AutoModel`` reads the encoder from it; the head's tensors stand beside the encoder's.
    """
    config: Any = model.encoder.config
    setattr(config, KEY, classifier.to_json())
    config.architectures = [type(model.encoder).__name__]
    tensors = {
        **{name: _plain(tensor) for name, tensor in model.encoder.state_dict().items()},
        **{f"{HEAD}{name}": _plain(tensor) for name, tensor in model.head.state_dict().items()},
    }
    with silent_transformers():
        config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    # where it came from is nobody's business but this machine's
    written = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    written.pop("_name_or_path", None)
    (folder / "config.json").write_text(json.dumps(written, indent=2) + "\n", encoding="utf-8")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)


def load_classifier(where: str) -> tuple[AntecedentClassifier, Any, Classifier, Checkpoint]:
    """Open what `save_classifier` wrote.

    Raises:
        InputError: it is no classifier, or tensors are missing or of the wrong shape.
    """
    checkpoint = open_checkpoint(where, weights=("model.safetensors",))
    config = _read_config(checkpoint)
    classifier = Classifier.from_json(config.get(KEY), where)
    encoder, tokenizer, _ = open_encoder(str(checkpoint.folder))
    model = AntecedentClassifier(encoder, classifier)
    tensors = load_file(checkpoint.folder / "model.safetensors")
    head = {name.removeprefix(HEAD): t for name, t in tensors.items() if name.startswith(HEAD)}
    try:
        model.head.load_state_dict(head)
    except RuntimeError as error:
        raise InputError(
            "the head's tensors are missing or of another shape",
            cure="give the folder of a whole classifier",
            file=where,
        ) from error
    return model.eval().requires_grad_(False), tokenizer, classifier, checkpoint


def _tokenizer(checkpoint: Checkpoint) -> Any:
    with silent_transformers():
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(
                checkpoint.folder, trust_remote_code=False
            )
        except Exception as error:  # as above
            raise InputError(
                f"the tokenizer cannot be loaded ({first_line(error)})",
                cure="give the folder of a whole encoder",
                file=checkpoint.name,
            ) from error
    if not tokenizer.is_fast:
        raise InputError(
            "the tokenizer does not say where its subwords stand",
            cure="give an encoder with a tokenizer.json",
            file=checkpoint.name,
        )
    return tokenizer


def _read_config(checkpoint: Checkpoint) -> dict[str, Any]:
    try:
        config = json.loads((checkpoint.folder / "config.json").read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(
            "config.json is damaged", cure="give a whole checkpoint", file=checkpoint.name
        ) from error
    return config if isinstance(config, dict) else {}


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().cpu().float().contiguous() if tensor.is_floating_point() else tensor

"""Encoders and classifiers on disk: folders that plain transformers opens, too."""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from pronominal.adapters.bert.model import AntecedentClassifier
from pronominal.adapters.bert.settings import Classifier
from pronominal.adapters.checkpoints.encoders import open_encoder
from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.adapters.checkpoints.tensors import load_tensors, read_safetensors, write_tensors
from pronominal.adapters.checkpoints.transformers_models import longest_input, silent_transformers
from pronominal.errors import InputError
from pronominal.json_files import read_object, write_json
from pronominal.names import is_hub_id

HEAD = "antecedent_head."
"""What the names of the head's tensors begin with."""

KEY = "pronominal"
"""Where the encoder's config holds the classifier's settings."""


def require_seeing_first_token(encoder: nn.Module, where: str) -> None:
    """Refuse a decoder, whose first token sees nothing of the text that it is to represent.

    `encoder` is in evaluation mode, `where` names it in the error.
    """
    with torch.inference_mode():
        states = encoder(input_ids=torch.tensor([[0, 1], [0, 2]])).last_hidden_state
    if torch.equal(states[0, 0], states[1, 0]):
        cause = "its first token does not see the text, as in a decoder"
        raise InputError(cause, cure="give an encoder such as BERT, or --pooling mean", file=where)


def longest_sequence(encoder: nn.Module, tokenizer: Any) -> int:
    """Return how many subwords an encoder takes, special ones included."""
    longest = longest_input(encoder)
    if longest is None:
        longest = getattr(encoder.config, "max_position_embeddings", 512)
    return int(min(longest, tokenizer.model_max_length))


def encoder_name(checkpoint: Checkpoint) -> str:
    """Return how an encoder is called: by the Hub id that its config has, else by its folder."""
    known = str(_config(checkpoint).get("_name_or_path", ""))
    return known if is_hub_id(known) else Path(checkpoint.name).resolve().name


def save_classifier(
    model: AntecedentClassifier, tokenizer: Any, classifier: Classifier, folder: Path
) -> None:
    """Write a classifier's config, weights and tokenizer into a folder that is there.

    ``AutoModel`` reads the encoder from it; the head's tensors are in the same file.
    """
    config: Any = model.encoder.config
    setattr(config, KEY, classifier.to_json())
    config.architectures = [type(model.encoder).__name__]
    head = {f"{HEAD}{name}": tensor for name, tensor in model.head.state_dict().items()}
    tensors = {
        name: tensor.float() if tensor.is_floating_point() else tensor
        for name, tensor in (model.encoder.state_dict() | head).items()
    }
    with silent_transformers():
        config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    # the name may be a path, which belongs to this machine alone
    written = read_object(folder / "config.json", cure="save it again")
    written.pop("_name_or_path", None)
    write_json(folder / "config.json", written)
    write_tensors(folder / "model.safetensors", tensors, metadata={"format": "pt"})


def load_classifier(where: str) -> tuple[AntecedentClassifier, Any, Classifier, Checkpoint]:
    """Open what `save_classifier` wrote; `InputError` if it is something else, or not whole."""
    checkpoint = open_checkpoint(where, weights=("model.safetensors",))
    config = _config(checkpoint)
    classifier = Classifier.from_json(config.get(KEY), where)
    encoder, tokenizer, _ = open_encoder(str(checkpoint.folder))
    model = AntecedentClassifier(encoder, classifier)
    tensors = read_safetensors(checkpoint.folder / "model.safetensors")
    head = {name.removeprefix(HEAD): t for name, t in tensors.items() if name.startswith(HEAD)}
    load_tensors(model.head, head, where, prefix=HEAD)
    return model.eval().requires_grad_(False), tokenizer, classifier, checkpoint


def _config(checkpoint: Checkpoint) -> dict[str, Any]:
    return read_object(checkpoint.folder / "config.json", cure="give a whole checkpoint")

"""What systems on torch and transformers share: a device, silence, and what a tokenizer must be.

Nothing heavy is imported before it is used.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pronominal.adapters.checkpoints.files import WORD_FILES
from pronominal.adapters.checkpoints.third_party import contained_rust, input_error_on
from pronominal.errors import InputError

if TYPE_CHECKING:
    import torch


def torch_device(device: str | None) -> "torch.device":
    """Return the named device; when None the first GPU, Apple's, or the CPU, whichever is there."""
    import torch

    apple = "mps" if torch.backends.mps.is_available() else "cpu"
    chosen = device or ("cuda" if torch.cuda.is_available() else apple)
    try:
        return torch.empty(0, device=chosen).device
    except (RuntimeError, AssertionError) as error:  # a build without CUDA asserts
        cure = "write cpu or a device torch can use"
        raise InputError(f"there is no device '{chosen}' here", cure=cure) from error


@contextmanager
def silent_transformers() -> Iterator[None]:
    """Keep transformers from printing, and undo what anything inside does to its verbosity."""
    import transformers

    speech: Any = transformers.utils.logging
    verbosity, bars = speech.get_verbosity(), speech.is_progress_bar_enabled()
    speech.set_verbosity_error()
    if bars:
        speech.disable_progress_bar()
    try:
        yield
    finally:
        speech.set_verbosity(verbosity)
        if bars:
            speech.enable_progress_bar()


def longest_input(encoder: Any) -> int | None:
    """Return for how many tokens an encoder has positions; None if it has no table of them."""
    positions = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    if positions is None:
        return None
    # the RoBERTa family counts its positions from behind the padding's
    reserved = 0 if positions.padding_idx is None else positions.padding_idx + 1
    return int(positions.num_embeddings - reserved)


def require_words(tokenizer: Any, checkpoint: str) -> None:
    """Refuse a tokenizer without words, which transformers makes up where the files are missing.

    So are settings of it that are no length, or that it could not be saved with.
    """
    longest, cure = tokenizer.model_max_length, "give the tokenizer that the model was trained with"
    if isinstance(longest, bool) or not isinstance(longest, int | float) or not longest >= 1:
        cause = "model_max_length in tokenizer_config.json is no number of tokens"
        raise InputError(cause, cure=cure, file=checkpoint)
    cause = "tokenizer_config.json holds half a character"
    with input_error_on(UnicodeEncodeError, cause=cause, cure=cure, file=checkpoint):
        json.dumps(tokenizer.init_kwargs, ensure_ascii=False, default=str).encode()
    # T5's and mBART's know the space, too
    if tokenizer.get_vocab().keys() <= {*tokenizer.all_special_tokens, "▁"}:
        there = [name for name in WORD_FILES if (Path(tokenizer.name_or_path) / name).exists()]
        if there:
            cause = f"the tokenizer has no words in {' or '.join(there)}"
            raise InputError(cause, cure=cure, file=checkpoint)
        cure = "add tokenizer.json"
        raise InputError("the tokenizer's files are missing", cure=cure, file=checkpoint)
    cause = "the tokenizer takes no text"
    with input_error_on(Exception, cause=cause, cure=cure, file=checkpoint), contained_rust():
        tokenizer("a")


def require_vocabulary(tokenizer: Any, encoder: Any, checkpoint: str) -> None:
    """Refuse a tokenizer without words, or with more than the model has vectors for."""
    require_words(tokenizer, checkpoint)
    vectors = encoder.get_input_embeddings().num_embeddings
    if max(tokenizer.get_vocab().values()) >= vectors:
        cause = f"the tokenizer knows more tokens than the {vectors} that the model has vectors for"
        cure = "give the tokenizer that the model was trained with"
        raise InputError(cause, cure=cure, file=checkpoint)


def special_tokens(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens before and behind a text; `InputError` if the text changes, too."""
    bare = list(tokenizer("a", add_special_tokens=False)["input_ids"])
    framed = list(tokenizer("a")["input_ids"])
    for start in range(len(framed) - len(bare) + 1):
        end = start + len(bare)
        if framed[start:end] == bare:
            return framed[:start], framed[end:]
    cause = "the tokenizer changes a text when it adds special tokens"
    cure = "give a checkpoint with one of transformers' own tokenizers"
    raise InputError(cause, cure=cure, file=getattr(tokenizer, "name_or_path", None))

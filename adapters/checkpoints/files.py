"""Where a system's weights lie, and which ones they are."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pronominal.adapters.checkpoints.transformers_models import first_line
from pronominal.errors import InputError

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""The weights of a transformers model, the safe format first."""

TOKENIZER_FILES = (
    "added_tokens.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "special_tokens_map.json",
    "spiece.model",
    "spm.model",
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
)
"""What the tokenizers of transformers read besides the config."""

_HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One set of weights on this machine.

    Attributes:
        name: the folder or the Hub id as the user gave it.
        folder: where the files are.
        digest: which files they are; see `files_digest`.
    """

    name: str
    folder: Path
    digest: str


def open_checkpoint(
    checkpoint: str,
    *,
    weights: Sequence[str] = WEIGHTS,
    config: str = "config.json",
    others: Sequence[str] = TOKENIZER_FILES,
) -> Checkpoint:
    """Find a checkpoint's folder, fetching it from the Hub if need be, and identify its files.

    Files are named by patterns below the folder, such as ``*.pt`` or ``roberta-large/*``.

    Args:
        checkpoint: a folder, or a Hub id ``ORG/NAME`` where there is no folder of that name.
        weights: alternatives; the first one that is there is what the system reads, and the
            others do not belong to the checkpoint.
        config: the config, which has to be there.
        others: files that belong to the checkpoint where they exist.

    Raises:
        InputError: the folder, its config or its weights are missing, or the Hub does not give
            them.
    """
    folder = Path(checkpoint)
    if not folder.is_dir():
        folder = _fetch(checkpoint, weights, (config, *others))
    if not _matches(folder, [config]):
        raise InputError(
            f"there is no {config}", cure="give the folder of a whole checkpoint", file=checkpoint
        )
    chosen = next((found for name in weights if (found := _matches(folder, [name]))), None)
    if chosen is None:
        raise InputError(
            "there are no weights", cure=f"add {' or '.join(weights)}", file=checkpoint
        )
    files = {*chosen, *_matches(folder, [config, *others])}
    return Checkpoint(name=checkpoint, folder=folder, digest=files_digest(folder, files))


def _fetch(checkpoint: str, weights: Sequence[str], others: Sequence[str]) -> Path:
    if not _HUB_ID.fullmatch(checkpoint) or Path(checkpoint).exists():
        raise InputError(
            "there is no such folder", cure="give a folder or a Hub id ORG/NAME", file=checkpoint
        )
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError as error:
        raise InputError(
            "there is no such folder, and the package huggingface_hub, which fetches from the Hub, "
            "is not installed",
            cure='give a folder, or pip install "pronominal[hub]"',
            file=checkpoint,
        ) from error
    try:
        for name in weights:
            # one format at a time, so that nobody waits for the same weights twice
            folder = Path(snapshot_download(checkpoint, allow_patterns=[name, *others]))
            if _matches(folder, [name]):
                break
    except Exception as error:  # the Hub's client lets errors of several libraries through
        raise InputError(
            f"neither a folder nor to be had from the Hub ({first_line(error)})",
            cure="give an existing folder, or a Hub id that you may read while you are online",
            file=checkpoint,
        ) from error
    return folder


def _matches(folder: Path, patterns: Iterable[str]) -> set[Path]:
    return {file for name in patterns for file in folder.glob(name) if file.is_file()}


def files_digest(folder: Path, files: Iterable[Path]) -> str:
    """Return the SHA-256, in hex, of what ``sha256sum`` prints for files, in order of their names.

    Args:
        folder: what the names are relative to.
        files: below the folder.
    """
    listing = hashlib.sha256()
    for name, file in sorted((file.relative_to(folder).as_posix(), file) for file in files):
        with file.open("rb") as stream:
            content = hashlib.file_digest(stream, "sha256")
        listing.update(f"{content.hexdigest()}  {name}\n".encode())
    return listing.hexdigest()

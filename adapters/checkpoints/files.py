"""Where a system's weights lie, and which ones they are."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.checksums import file_sha256
from pronominal.errors import InputError
from pronominal.names import is_hub_id

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""The weights of a transformers model, the safe format first."""

ALL_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
"""The same where they may be in several files."""

WORD_FILES = (
    "merges.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
    "spm.model",
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
)
"""Where the words of the tokenizers of transformers are."""

TOKENIZER_FILES = (
    "added_tokens.json",
    "special_tokens_map.json",
    "tokenizer_config.json",
    *WORD_FILES,
)
"""What the tokenizers of transformers read besides the config."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One set of weights on this machine.

    Attributes:
        name: the folder or the Hub id as the user gave it.
        folder: where the files are.
        digest: which files they are; see `files_digest`.
        revision: the commit of the Hub that they are of; None for a folder.
    """

    name: str
    folder: Path
    digest: str
    revision: str | None = None

    def beside(self, other: "Checkpoint") -> "Checkpoint":
        """Return this checkpoint with a digest that says which other files belong to it."""
        both = hashlib.sha256(f"{self.digest}\n{other.digest}\n".encode()).hexdigest()
        return replace(self, digest=both)


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
        checkpoint: a folder, or a Hub id ``ORG/NAME`` where there is no folder of that name;
            ``ORG/NAME@REVISION`` is that commit, branch or tag.
        weights: alternatives; the first one that is there is what the system reads, and the
            others do not belong to the checkpoint.
        config: the config, which has to be there.
        others: files that belong to the checkpoint where they exist.

    Raises:
        InputError: the folder, its config or its weights are missing, or the Hub does not give
            them.
    """
    folder, revision = Path(checkpoint), None
    if not folder.is_dir():
        folder = _fetch(checkpoint, weights, (config, *others))
        revision = folder.name  # the Hub's cache calls a snapshot after its commit
    if not _matches(folder, [config]):
        cure = "give the folder of a whole checkpoint"
        raise InputError(f"there is no {config}", cure=cure, file=checkpoint)
    chosen = next((matched for name in weights if (matched := _matches(folder, [name]))), None)
    if chosen is None:
        cure = f"add {' or '.join(weights)}"
        raise InputError("there are no weights", cure=cure, file=checkpoint)
    files = {*chosen, *_matches(folder, [config, *others])}
    return Checkpoint(checkpoint, folder, files_digest(folder, files), revision)


def refuse_absent(checkpoint: str) -> None:
    """Raise `InputError` for what is no file, folder, address or Hub id that can be had.

    Offline, a Hub id can be had when it was fetched before. It imports nothing heavy, so that a
    misspelt path is told at once.
    """
    if "://" in checkpoint or Path(checkpoint).exists():
        return
    if not is_hub_id(checkpoint.partition("@")[0]):
        raise _no_folder(checkpoint)
    if find_spec("huggingface_hub") is None:
        return  # what is missing first is the system's extra
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        _snapshot(checkpoint, [])


def _no_folder(checkpoint: str) -> InputError:
    cure = "give a folder or a Hub id ORG/NAME"
    return InputError("there is no such folder", cure=cure, file=checkpoint)


def _fetch(checkpoint: str, weights: Sequence[str], others: Sequence[str]) -> Path:
    if "://" in checkpoint:
        cause = "the checkpoint is an address, and this system asks no server"
        cure = "give a folder or a Hub id, or take one that asks a server ('pronominal systems')"
        raise InputError(cause, cure=cure)
    if not is_hub_id(checkpoint.partition("@")[0]) or Path(checkpoint).exists():
        raise _no_folder(checkpoint)
    for pattern in weights:
        # one format at a time, so that the same weights are not downloaded twice
        folder = _snapshot(checkpoint, [pattern, *others])
        if _matches(folder, [pattern]):
            break
    return folder


def _snapshot(checkpoint: str, patterns: list[str]) -> Path:
    """Return the folder of a Hub id in the Hub's cache, with the files that match fetched."""
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import LocalEntryNotFoundError
    except ModuleNotFoundError as error:
        raise InputError(
            "there is no such folder, and the package huggingface_hub, which fetches from the Hub, "
            "is not installed",
            cure='give a folder, or pip install "pronominal[hub]"',
            file=checkpoint,
        ) from error
    name, _, revision = checkpoint.partition("@")
    pinned: dict[str, Any] = {"revision": revision} if revision else {}
    pinning = f" --revision {revision}" if revision else ""
    absent: dict[str, Any] = {
        "cause": "there is no such folder, and no such model of the Hub on this machine",
        "cure": f"give the folder, or run 'hf download {name}{pinning}' while you are online",
        "quoted": False,
    }
    cause = "neither a folder nor available from the Hub"
    cure = "give an existing folder, or a Hub id that you may read while you are online"
    # the Hub's client lets errors of several packages through
    with (
        input_error_on(Exception, cause=cause, cure=cure, file=checkpoint),
        input_error_on(LocalEntryNotFoundError, **absent, file=checkpoint),
    ):
        return Path(snapshot_download(name, allow_patterns=patterns, **pinned))


def cached_weights(checkpoint: str) -> set[Path] | None:
    """Return the weight files of a Hub id that are on this machine; None where they are not."""
    folder = cached_folder(checkpoint)
    return None if folder is None else weights_in(folder)


def weights_in(folder: Path, patterns: Iterable[str] = ALL_WEIGHTS) -> set[Path] | None:
    """Return the weight files in a folder, of the first pattern that has any; None if none has."""
    found = (_matches(folder, [pattern]) for pattern in patterns)
    return next((files for files in found if files), None)


def cached_folder(checkpoint: str) -> Path | None:
    """Return where the Hub's cache has a Hub id; None where it was not fetched. Nothing is."""
    name, _, revision = checkpoint.partition("@")
    if find_spec("huggingface_hub") is None or not is_hub_id(name):
        return None
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(name, "config.json", revision=revision or None)
    return Path(config).parent if isinstance(config, str) else None


def _matches(folder: Path, patterns: Iterable[str]) -> set[Path]:
    return {file for name in patterns for file in folder.glob(name) if file.is_file()}


def files_digest(folder: Path, files: Iterable[Path]) -> str:
    """Return the SHA-256, in hex, of what ``sha256sum`` prints for files, sorted by name."""
    listing = hashlib.sha256()
    for name, file in sorted((file.relative_to(folder).as_posix(), file) for file in files):
        listing.update(f"{file_sha256(file)}  {name}\n".encode())
    return listing.hexdigest()

"""The tensors of a checkpoint: read, put into a model with none missing or left over, written."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.errors import InputError

TOGETHER = "give config and weights that belong together"
_UNREAD = re.compile(r"(^|[./])(pooler[./].*|embeddings\.position_ids)")


def is_unread(name: str) -> bool:
    """Say whether a tensor of an encoder changes no answer.

    That is the pooler, a layer that nothing here reads, and the numbers of the positions, which
    transformers 2.6 to 4.30 saved among the weights and newer ones compute.

    >>> is_unread("bert.pooler.dense.bias"), is_unread("position_ids")
    (True, False)
    """
    return _UNREAD.search(name) is not None


def read_safetensors(file: Path) -> dict[str, Tensor]:
    """Read a file of the format without pickles; `InputError` if it is damaged."""
    cause, cure = "no weights could be read", "convert or download the checkpoint again"
    with input_error_on(OSError, SafetensorError, cause=cause, cure=cure, file=file):
        return load_file(file)


def read_pickled(file: Path, writer: str) -> dict[str, Any]:
    """Read a table that torch has pickled, as tensors alone; nothing else in it is ever run.

    `writer` names what writes such files; `InputError` if it is damaged or holds other objects.
    """
    cause, cure = "no weights could be read", f"give the file that {writer} wrote"
    # unpickling damaged bytes may fail in any way
    with input_error_on(Exception, cause=cause, cure=cure, file=file):
        loaded = torch.load(file, map_location="cpu", weights_only=True)
    if not isinstance(loaded, dict):
        raise InputError("it holds no table of tensors", cure=cure, file=file)
    return dict(loaded)


def are_tensors(entry: object) -> bool:
    """Say whether an entry of an unpickled table is itself a table of tensors."""
    return isinstance(entry, dict) and all(isinstance(part, Tensor) for part in entry.values())


def load_tensors(
    module: nn.Module, tensors: Mapping[str, Tensor], file: str | Path, prefix: str = ""
) -> None:
    """Give a module its tensors, which are taken over and not copied.

    Messages name the `file`, and tensors with the `prefix` that they have there; `InputError` if
    tensors are missing, left over or of another shape.
    """
    try:
        report = module.load_state_dict(tensors, strict=False, assign=True)
    except RuntimeError as error:
        of_which = f" below {prefix.rstrip('.')}" if prefix else ""
        raise mismatch(f"tensors of another shape than its config says{of_which}", file) from error
    require_same(report.missing_keys, report.unexpected_keys, file, prefix)


def require_same(
    missing: Iterable[str],
    unexpected: Iterable[str],
    file: str | Path,
    prefix: str = "",
    cure: str = TOGETHER,
) -> None:
    """Refuse tensors that are missing or left over, but for those of `is_unread`.

    Messages name the `file`, and tensors with the `prefix` that they have there.
    """
    for names, fault in ((missing, "no {}"), (unexpected, "{}, which the config does not have")):
        faulty = [f"{prefix}{name}" for name in sorted(names) if not is_unread(name)]
        if faulty:
            more = f" and {len(faulty) - 1} more" if len(faulty) > 1 else ""
            raise mismatch(fault.format(faulty[0] + more), file, cure)


def mismatch(what: str, file: str | Path, cure: str = TOGETHER) -> InputError:
    """Return the error for weights that hold something else than the config says."""
    return InputError(f"the weights hold {what}", cure=cure, file=file)


def write_tensors(
    file: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Write tensors of any device as safetensors, readable for whom the other files are."""
    file.touch()
    permissions = file.stat().st_mode
    # safetensors lets nobody but its user read what it writes
    save_file({n: tensor.cpu().contiguous() for n, tensor in tensors.items()}, file, metadata)
    file.chmod(permissions)

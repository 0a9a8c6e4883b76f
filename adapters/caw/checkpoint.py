"""The two forms of a CAW checkpoint on disk: upstream's, and ours without pickles.

Upstream's is a folder with ``config.toml``, a ``.pt`` file for each section that is in use, and,
optionally, the encoder's folder; ours is what `convert` writes and what a Hub repository holds::

    config.toml                 config.json
    SECTION.pt                  model.safetensors
    roberta-large/config.json   encoder/config.json
    roberta-large/...           encoder/tokenizer.json ...
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from glob import escape
from pathlib import Path
from typing import Any

from torch import Tensor

from pronominal.adapters.caw.model import ENTRIES, Hyperparameters
from pronominal.adapters.checkpoints.files import (
    TOKENIZER_FILES,
    WEIGHTS,
    Checkpoint,
    open_checkpoint,
)
from pronominal.adapters.checkpoints.tensors import are_tensors, read_pickled, read_safetensors
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.errors import InputError
from pronominal.json_files import read_object
from pronominal.names import unknown_name

Tensors = dict[str, Tensor]

FORMAT = "pronominal-caw-1"
"""What ``config.json`` of the converted form says under ``format``."""

ENCODER = "encoder"
"""The encoder's folder in the converted form."""


@dataclass(frozen=True, slots=True)
class Described:
    """What ``config.json`` of the converted form says of a model."""

    section: str
    settings: Hyperparameters
    tokenizer_kwargs: Mapping[str, Any]

    def table(self) -> dict[str, Any]:
        """Return what is written."""
        own = {"section": self.section, "tokenizer_kwargs": dict(self.tokenizer_kwargs)}
        return {"format": FORMAT, **asdict(self.settings), **own}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a checkpoint holds; its tensors by entry and name.

    `encoder` is the folder or Hub id of the encoder's config and tokenizer, and of its weights
    where the entry ``bert`` is missing.
    """

    checkpoint: Checkpoint
    section: str
    settings: Hyperparameters
    encoder: str
    tokenizer_kwargs: Mapping[str, Any]
    entries: Mapping[str, Tensors]

    @property
    def described(self) -> Described:
        """What is written of it beside its tensors and its encoder."""
        return Described(self.section, self.settings, self.tokenizer_kwargs)


def open_parts(checkpoint: str, section: str | None = None) -> Parts:
    """Read a checkpoint of either form.

    Args:
        checkpoint: a folder of either form, or the Hub id of a converted one.
        section: which section of ``config.toml``; the first whose weights are there when None.
    """
    folder = Path(checkpoint)
    if folder.is_dir() and (
        (folder / "config.toml").is_file() or not (folder / "config.json").is_file()
    ):
        return _upstream_parts(checkpoint, section)
    return _converted_parts(checkpoint, section)


def _upstream_parts(name: str, section: str | None) -> Parts:
    folder, file = Path(name), Path(name) / "config.toml"
    cause, cure = "no config could be read", "give a folder with config.toml"
    with input_error_on(OSError, ValueError, RecursionError, cause=cause, cure=cure, file=file):
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    section, weights = _choose_section(tables, folder, section)
    table = {**_table(tables, "DEFAULT", file), **tables[section]}
    settings = _hyperparameters(table, file, f"[{section}]")
    encoder = str(table.get("bert_model", ""))
    base = encoder.rstrip("/").rpartition("/")[2]
    if not base:
        raise InputError("bert_model is missing", cure="name it", file=file, row=f"[{section}]")
    beside = folder / base
    entries = read_entries(weights)
    # the encoder's own weights are read only where the .pt has none
    plain = [name for name in WEIGHTS if "bert" not in entries and (beside / name).is_file()][:1]
    files = [f"{escape(base)}/{part}" for part in ("config.json", *TOKENIZER_FILES, *plain)]
    own = open_checkpoint(name, weights=[escape(weights.name)], config="config.toml", others=files)
    if "bert" not in entries and not beside.is_dir():
        # the digest tells apart checkpoints whose encoders, kept elsewhere, are different
        own = own.beside(open_checkpoint(encoder))
    return Parts(
        checkpoint=own,
        section=section,
        settings=settings,
        encoder=str(beside) if beside.is_dir() else encoder,
        tokenizer_kwargs=_table(_table(table, "tokenizer_kwargs", file), base, file),
        entries=entries,
    )


def _converted_parts(name: str, section: str | None) -> Parts:
    checkpoint = open_checkpoint(
        name, weights=["model.safetensors"], config="config.json", others=[f"{ENCODER}/*"]
    )
    file = checkpoint.folder / "config.json"
    table = read_object(file, cure="convert it again")
    if table.get("format") != FORMAT:
        cure = "give upstream's folder with config.toml, or what 'pronominal convert caw' wrote"
        raise InputError(f"its format is not '{FORMAT}'", cure=cure, file=file)
    own = table.get("section")
    if not isinstance(own, str):
        raise InputError("section is missing", cure="convert it again", file=file)
    if section not in (None, own):
        raise unknown_name("section", str(section), [own])
    return Parts(
        checkpoint=checkpoint,
        section=own,
        settings=_hyperparameters(table, file, "its keys"),
        encoder=str(checkpoint.folder / ENCODER),
        tokenizer_kwargs=_table(table, "tokenizer_kwargs", file),
        entries=read_entries(checkpoint.folder / "model.safetensors"),
    )


def _table(tables: Mapping[str, Any], name: str, file: Path) -> Mapping[str, Any]:
    """Return one of the tables of a config, which is empty if it is not there."""
    table: Any = tables.get(name, {})
    if not isinstance(table, dict):
        raise InputError(f"{name} is no table", cure="give keys and values", file=file)
    return table


def _choose_section(
    tables: Mapping[str, Any], folder: Path, section: str | None
) -> tuple[str, Path]:
    sections = [name for name in tables if name != "DEFAULT" and isinstance(tables[name], dict)]
    if not sections:
        cure = "give the config.toml that belongs to the weights"
        raise InputError("there is no section but DEFAULT", cure=cure, file=folder / "config.toml")
    if section is not None and section not in sections:
        raise unknown_name("section", section, sections)
    for name in sections if section is None else [section]:
        weights = _weights(folder, name)
        if len(weights) > 1:
            cure = f"keep one of {', '.join(file.name for file in weights)}"
            raise InputError(f"the section '{name}' has several weights", cure=cure, file=folder)
        if weights:
            return name, weights[0]
    wanted = " or ".join(f"{name}.pt" for name in (sections if section is None else [section]))
    cure = f"name the .pt file after its section, {wanted}"
    raise InputError("there are no weights", cure=cure, file=folder)


def _weights(folder: Path, section: str) -> Sequence[Path]:
    """Return the weights of a section: its own name, or what upstream's training and site append.

    Training writes ``SECTION_(eN_DATE).pt``; the download of CAW says ``SECTION_-eN_DATE.pt``.
    """
    patterns = (f"{escape(section)}{rest}" for rest in (".pt", "_(e*.pt", "_-e*.pt"))
    return sorted(file for pattern in patterns for file in folder.glob(pattern))


def _hyperparameters(table: Mapping[str, Any], file: Path, row: str) -> Hyperparameters:
    names = [field.name for field in fields(Hyperparameters)]
    for name in names:
        least = 0 if name == "n_hidden_layers" else 1
        if not isinstance(table.get(name), int) or table[name] < least:
            cause = f"{name} is {table.get(name, 'missing')}"
            cure = f"write a whole number from {least} on"
            raise InputError(cause, cure=cure, file=file, row=row)
    return Hyperparameters(**{name: table[name] for name in names})


def read_entries(file: Path) -> dict[str, Tensors]:
    """Read upstream's ``.pt``, or the converted form, whose tensors are called ``ENTRY.NAME``."""
    entries: dict[str, Any] = {}
    if file.suffix == ".safetensors":
        for path, tensor in read_safetensors(file).items():
            entry, _, name = path.partition(".")
            entries.setdefault(entry, {})[name] = tensor
    else:
        loaded = read_pickled(file, "upstream's training")
        # upstream also saves optimisers and the number of epochs
        entries = {name: loaded[name] for name in ("bert", *ENTRIES) if name in loaded}
    missing = [name for name in ENTRIES if name not in entries]
    wrong = [name for name, entry in entries.items() if not are_tensors(entry)]
    if missing or wrong:
        raise InputError(
            f"{', '.join(missing)} missing" if missing else f"{wrong[0]} holds more than tensors",
            cure="give the weights of CAW-coref or WL-coref",
            file=file,
        )
    return {name: dict(entry) for name, entry in entries.items()}

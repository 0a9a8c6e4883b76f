"""Weights that their authors publish outside of the Hub: where, and ``pronominal fetch``.

They are listed in ``published.toml``.
"""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pronominal.adapters.catalogue.systems import SYSTEMS
from pronominal.adapters.checkpoints.archives import Layout, unpack
from pronominal.adapters.checkpoints.downloads import Progress, RemoteFile, download
from pronominal.atomic import held_folder
from pronominal.checksums import file_sha256
from pronominal.errors import InputError
from pronominal.json_files import write_json
from pronominal.names import is_hub_id, unknown_name

CACHE = "PRONOMINAL_CACHE"
"""Environment variable with the folder below which fetched weights lie."""

AS_CHECKPOINT = "--system {system}={folder}"
"""The use of weights whose folder is a checkpoint of the system."""

FETCHED = "fetched.json"
"""In a folder of fetched weights: the files' addresses, and the SHA-256 of what came."""


@dataclass(frozen=True, slots=True)
class Published:
    """Weights that can be fetched.

    Attributes:
        name: what ``pronominal fetch`` calls them.
        system: the system that they are of.
        size: of all downloads together, in millions of bytes, as estimated; 0 where unknown.
        source: where their addresses stand.
        files: what is downloaded, and how it is unpacked if it is an archive.
        write: name -> text of files that upstream has elsewhere.
        use: what can be done with the folder.
        also: further systems that they are of.
    """

    name: str
    system: str
    size: int
    source: str
    files: tuple[tuple[RemoteFile, Layout | None], ...]
    write: Mapping[str, str] = field(default_factory=dict)
    use: str = AS_CHECKPOINT
    also: Sequence[str] = ()


@cache
def published() -> Mapping[str, Published]:
    """Return all weights that can be fetched, by name."""
    text = files("pronominal.adapters.catalogue").joinpath("published.toml").read_text("utf-8")
    return {name: _published(name, table) for name, table in tomllib.loads(text).items()}


def _published(name: str, table: Mapping[str, Any]) -> Published:
    listed = tuple(
        (RemoteFile(one["url"], one.get("name", _last(one["url"])), one.get("sha256")),
         one.get("unpack"))
        for one in table["files"]
    )  # fmt: skip
    return Published(**{**table, "name": name, "files": listed})


def _last(url: str) -> str:
    return urlsplit(url).path.rpartition("/")[2]


def published_of(asked: str) -> Published:
    """Return the weights of a name, or of a system that has only one set of them.

    Raises:
        InputError: there are none, or several.
    """
    known = published()
    if asked in known:
        return known[asked]
    of_system = [name for name, one in known.items() if asked in (one.system, *one.also)]
    if len(of_system) == 1:
        return known[of_system[0]]
    if of_system:
        cause = f"{asked} has several published weights"
        raise InputError(cause, cure=f"fetch one of {', '.join(of_system)}")
    if asked in SYSTEMS:
        cure = f"'pronominal systems' says where {asked} has its weights from"
        raise InputError(f"{asked} has no weights to fetch from outside of the Hub", cure=cure)
    raise unknown_name("published weights", asked, known)


def checkpoints_of(system: str) -> list[str]:
    """Return the names of published weights whose folder is a checkpoint of a system."""
    return [
        name
        for name, one in published().items()
        if system in (one.system, *one.also) and one.use == AS_CHECKPOINT
    ]


def hub_id_of(asked: str) -> str | None:
    """Return the Hub id of a system's published weights; None where they are elsewhere."""
    weights = SYSTEMS[asked].weights if asked in SYSTEMS else None
    return weights if weights is not None and is_hub_id(weights) else None


def folder_of(name: str) -> Path:
    """Return where fetched weights are, or will be: below `CACHE`, or in the user's cache."""
    cache_folder = os.environ.get(CACHE)
    if not cache_folder:
        shared = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        cache_folder = str(Path(shared).expanduser() / "pronominal")
    return Path(cache_folder) / "weights" / name


def is_fetched(name: str) -> bool:
    """Say whether weights are here, whole."""
    return (folder_of(name) / FETCHED).is_file()


def fetch(one: Published, progress: Progress, mirror: str | None = None) -> Path:
    """Download, check and unpack weights, going on where an earlier call stopped.

    Args:
        one: the weights.
        progress: told of each file how many bytes are there.
        mirror: a folder, or an address, that has the files under their own names.

    Returns:
        The folder, which is a checkpoint of the system. Nothing is asked for if it is whole.

    Raises:
        InputError: a file cannot be had, is not the known one, or is no archive.
    """
    folder = folder_of(one.name)
    if is_fetched(one.name):
        return folder
    with held_folder(folder):
        came = {}
        for file, layout in one.files:
            place = download(_from(file, mirror), folder, progress)
            came[file.name] = {"url": file.url, "sha256": file_sha256(place)}
            if layout is not None:
                _unpack(place, folder, layout)
        for name, text in one.write.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
        for file, layout in one.files:
            if layout is not None:
                (folder / file.name).unlink()
        write_json(folder / FETCHED, {"source": one.source, "files": came})
    return folder


def _unpack(archive: Path, folder: Path, layout: Layout) -> None:
    """Unpack an archive; one that is refused is removed, so that the next call fetches it anew."""
    try:
        unpack(archive, folder, layout)
    except InputError:
        archive.unlink()
        raise


def without_checksum(one: Published) -> Sequence[str]:
    """Return the files of which nobody has said which bytes they have."""
    return [file.name for file, _ in one.files if file.sha256 is None]


def _from(file: RemoteFile, mirror: str | None) -> RemoteFile:
    if mirror is None:
        return file
    return RemoteFile(f"{mirror.rstrip('/')}/{file.name}", file.name, file.sha256)

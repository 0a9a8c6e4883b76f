"""SHA256SUMS: written beside a built dataset, checked before it leaves and after it arrives."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pronominal.atomic import no_room_named
from pronominal.checksums import file_sha256
from pronominal.errors import InputError

SUMS = "SHA256SUMS"
LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")


def write_checksums(folder: Path) -> None:
    """Write SHA256SUMS in the form that ``sha256sum --check`` reads."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{file_sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in paths]
    with no_room_named(folder / SUMS):
        (folder / SUMS).write_text("".join(lines), encoding="utf-8", newline="\n")


def read_checksums(folder: Path) -> dict[str, str]:
    """Return path -> SHA-256 (64 hexadecimal digits) as the folder's SHA256SUMS lists them.

    Raises:
        InputError: there is no such file, or a line of it is none of ``sha256sum``.
    """
    file = folder / SUMS
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        cause = f"the folder is not a built dataset: its {SUMS} cannot be read"
        cure = "give a folder that 'pronominal build' made"
        raise InputError(cause, cure=cure, file=folder) from error
    sums = {}
    for number, line in enumerate(lines, start=1):
        match = LINE.fullmatch(line)
        if match is None:
            cause = "the line is not a checksum and a path"
            raise InputError(cause, cure="build the dataset again", file=file, row=f"line {number}")
        sums[match[2]] = match[1]
    return sums


def mismatched(folder: Path, sums: Mapping[str, str], paths: Iterable[str]) -> list[str]:
    """Return those of the paths whose bytes are missing or not those of their checksum."""
    return [
        path
        for path in paths
        if not (folder / path).is_file() or file_sha256(folder / path) != sums[path]
    ]

"""Archives of strangers, unpacked without leaving a folder."""

import gzip
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from pronominal.errors import InputError

MOST = 1000
"""How many times larger than itself an archive may become; weights hardly shrink."""

Layout = Literal["tree", "flat"]
"""With the archive's folders, less those that all its files are in; or without any."""

Member = tuple[str, int, Callable[[], IO[bytes] | None]]
"""A file in an archive: its name, its size, and what opens it."""

FAULTS = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
)


def unpack(archive: Path, folder: Path, layout: Layout = "tree") -> None:
    """Write the files of a tar or zip archive below a folder.

    Links and devices are refused, and so are names that lead out of the folder, or that two files
    would have; nothing is written then.

    Raises:
        InputError: it is no archive, is damaged, or holds what is refused.
    """
    cure = "fetch it again; if that does not help, unpack it by hand"
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                _write([*_zip_members(opened)], archive, folder, layout)
        else:
            with tarfile.open(archive) as opened_tar:
                _write([*_tar_members(opened_tar, archive)], archive, folder, layout)
    except FAULTS as error:
        raise InputError(f"it cannot be unpacked ({error})", cure=cure, file=archive) from error


def _zip_members(opened: zipfile.ZipFile) -> Iterator[Member]:
    for one in opened.infolist():
        if not one.is_dir():
            yield one.filename, one.file_size, lambda one=one: opened.open(one)  # type: ignore[misc]


def _tar_members(opened: tarfile.TarFile, archive: Path) -> Iterator[Member]:
    for one in opened:
        if one.isdir():
            continue
        if not one.isreg():
            raise _refuse(archive, f"{one.name} is a link or a device")
        yield one.name, one.size, lambda one=one: opened.extractfile(one)  # type: ignore[misc]


def _write(members: list[Member], archive: Path, folder: Path, layout: Layout) -> None:
    paths = [_path(name, archive) for name, _, _ in members]
    if sum(size for _, size, _ in members) > MOST * archive.stat().st_size:
        raise _refuse(archive, f"its files are more than {MOST} times as large as it is")
    top = _common_folders(paths)
    targets = [folder.joinpath(*p.parts[-1 if layout == "flat" else top :]) for p in paths]
    if len({*targets}) < len(targets):
        raise _refuse(archive, "two of its files have one name")
    for target, (_, _, opens) in zip(targets, members, strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        source = opens()
        assert source is not None  # a regular file
        with source, target.open("wb") as out:
            shutil.copyfileobj(source, out)


def _path(name: str, archive: Path) -> PurePosixPath:
    path = PurePosixPath(name)
    parts = path.parts
    if path.is_absolute() or not parts or ".." in parts or "\\" in name or ":" in parts[0]:
        raise _refuse(archive, "one of its names leads out of the folder")
    return path


def _common_folders(paths: list[PurePosixPath]) -> int:
    """Return how many folders all files have in common at the top."""
    count = 0
    while paths and all(len(p.parts) > count + 1 for p in paths):
        if len({p.parts[count] for p in paths}) > 1:
            break
        count += 1
    return count


def _refuse(archive: Path, cause: str) -> InputError:
    return InputError(cause, cure="do not use it, and tell its authors", file=archive)

"""Files and folders that appear whole or not at all."""

import errno
import fcntl
import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pronominal.errors import InputError

UNFINISHED = ".unfinished"
"""How the name of a folder ends that a process is still filling, or was when it was killed."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def new_file(path: str | Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; move it into place when the block ends well."""
    target = Path(path)
    with _parents(target):
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        os.close(handle)
        beside = Path(name)
        try:
            yield beside
            beside.chmod(0o644)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """Give an empty folder beside `path`; it replaces `path` when the block ends well.

    What a killed process has left beside `path` is then removed.

    Raises:
        InputError: another process has moved its own folder to `path` at the same moment.
    """
    target = Path(path)
    with _parents(target):
        with _claimed_folder(target) as beside:
            yield beside
            beside.chmod(0o755)
            try:
                if target.exists():
                    _replace(target, beside)
                else:
                    beside.replace(target)
            except OSError as error:
                # a folder has come to, or gone from, the target meanwhile
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT):
                    raise
                cause = "another process has written the folder at the same time"
                cure = "wait until it is done and run the same command again"
                raise InputError(cause, cure=cure, file=target) from error
        _remove_abandoned(target)


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Make a folder if there is none, and keep other processes out of it while the block runs.

    Raises:
        InputError: another process holds it.
    """
    with _parents(folder / "content"):
        lock = _locked(folder)
        if lock is None:
            cure = "wait until it is done, or choose another --out"
            raise InputError("another process is writing there", cure=cure, file=folder)
        try:
            yield
        finally:
            os.close(lock)


def _replace(target: Path, beside: Path) -> None:
    """Swap a folder for another: folders, unlike files, cannot be replaced in one step."""
    with _claimed_folder(target) as aside:
        old = aside / target.name
        try:
            target.replace(old)
            beside.replace(target)
        except BaseException:
            # whatever stopped the swap, even between two lines: one of the two folders stands
            if old.exists() and not target.exists():
                old.replace(target)
            raise


@contextmanager
def _claimed_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder beside `target`, locked while this process lives."""
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=UNFINISHED, dir=target.parent))
    lock = _locked(beside)
    try:
        yield beside
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _remove_abandoned(target: Path) -> None:
    """Remove the folders that processes which no longer live have claimed beside `target`."""
    for folder in target.parent.glob(f".{glob.escape(target.name)}.*{UNFINISHED}"):
        lock = _locked(folder)
        if lock is not None:
            # one that is empty may have been made this moment and not been locked yet
            if any(folder.iterdir()):
                shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)


def _locked(folder: Path) -> int | None:
    """Lock a folder; None if a living process holds it or the file system has no locks.

    The system unlocks it when the returned descriptor is closed or the process ends.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


@contextmanager
def _parents(target: Path) -> Iterator[None]:
    """Make the folders above `target`; when the block fails, take away those that were made."""
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException as error:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        if isinstance(error, OSError) and error.errno in NO_ROOM and error.filename is None:
            # a write that finds no room does not say of which file
            error.filename = str(target)
        raise

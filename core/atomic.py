"""Files and folders that appear whole or not at all."""

import errno
import glob
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from pronominal.errors import InputError
from pronominal.locks import LOCK, HeldError, held

UNFINISHED = ".unfinished"
"""How the name of a folder ends that a process is still filling, or was when it was killed."""

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def new_file(path: str | Path) -> Iterator[Path]:
    """Give a path beside `path` to write to; move it into place when the block ends well.

    What killed processes have left beside `path` is then removed.
    """
    target = Path(path)
    with _beside(target) as folder:
        beside = folder / target.name
        beside.touch()
        yield beside
        beside.replace(target)


@contextmanager
def new_folder(path: str | Path) -> Iterator[Path]:
    """Give an empty folder beside `path`; it replaces `path` when the block ends well.

    What killed processes have left beside `path` is then removed.

    Raises:
        InputError: another process has moved its own folder to `path` at the same moment.
    """
    target = Path(path)
    with _beside(target) as folder:
        beside = folder / target.name
        beside.mkdir()
        with _named_in_place(beside, target):
            yield beside
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


@contextmanager
def held_folder(folder: Path) -> Iterator[None]:
    """Make a folder if there is none, and keep other processes out of it while the block runs.

    What killed processes have left in it is removed. Where nothing can be locked, it warns.

    Raises:
        InputError: another process holds it.
    """
    with _parents(folder / LOCK), ExitStack() as stack:
        try:
            certain = stack.enter_context(held(folder))
        except HeldError:
            cure = "wait until it is done, or choose another --out"
            raise InputError("another process is writing there", cure=cure, file=folder) from None
        if not certain:
            told = "nothing can be locked there: let no other process write into it"
            warnings.warn(f"{folder}: {told}", stacklevel=2)
        _remove_abandoned(folder, "*")
        yield


@contextmanager
def no_room_named(file: Path) -> Iterator[None]:
    """Let an error about a full disk say for which file there is no room: writes do not."""
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM and error.filename is None:
            error.filename = str(file)
        raise


@contextmanager
def _named_in_place(beside: Path, target: Path) -> Iterator[None]:
    """Let an error about a file that is prepared beside its place name the place."""
    try:
        yield
    except OSError as error:
        if isinstance(error.filename, str) and Path(error.filename).is_relative_to(beside):
            error.filename = str(target / Path(error.filename).relative_to(beside))
        raise


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
def _beside(target: Path) -> Iterator[Path]:
    """Give a claimed folder to prepare `target` in; afterwards remove those of the dead."""
    with _parents(target):
        with _claimed_folder(target) as folder:
            yield folder
        _remove_abandoned(target.parent, glob.escape(target.name))


@contextmanager
def _claimed_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder beside `target`, which this process holds."""
    with ExitStack() as stack:
        folder = None
        while folder is None:
            name = tempfile.mkdtemp(prefix=f".{target.name}.", suffix=UNFINISHED, dir=target.parent)
            stack.callback(shutil.rmtree, name, ignore_errors=True)
            # while it is empty and not held, others may take it for one of the dead
            with suppress(HeldError):
                stack.enter_context(held(Path(name)))
                folder = Path(name)
        yield folder


def _remove_abandoned(parent: Path, names: str) -> None:
    """Remove the folders that processes which no longer live have claimed, for `names`."""
    for folder in parent.glob(f".{names}.*{UNFINISHED}"):
        with suppress(HeldError), held(folder) as certain:
            if certain:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _parents(target: Path) -> Iterator[None]:
    """Make the folders above `target`; when the block fails, take away those that were made."""
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with no_room_named(target):
            yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise

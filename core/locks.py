"""Folders that one process holds: others see it, and the lock ends with the process."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK = ".lock"
"""The file in a held folder that is locked; it goes when the folder is let go."""


class HeldError(Exception):
    """Another process holds the folder."""


@contextmanager
def held(folder: Path) -> Iterator[bool]:
    """Hold a folder, made if there is none; gives False where nothing can be locked.

    That is so on file systems without locks, and where nothing may be written.

    Raises:
        HeldError: another process holds the folder.
    """
    from filelock import FileLock, Timeout

    file = folder / LOCK
    lock = FileLock(file)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise HeldError from None
    except (OSError, NotImplementedError):
        pass  # then it is not locked
    if not lock.is_locked:
        yield False
        return
    try:
        if not file.exists():
            # whoever held it has let it go between our opening and our locking the file
            raise HeldError
        yield True
    finally:
        # first, so that nobody locks a file that then goes; Windows removes it with the lock
        with suppress(OSError):
            file.unlink()
        lock.release()

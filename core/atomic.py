"""Files and folders that appear whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


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
    """Give an empty folder beside `path`; it replaces `path` when the block ends well."""
    target = Path(path)
    with _parents(target):
        beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            yield beside
            beside.chmod(0o755)
            if target.exists():
                _replace(target, beside)
            else:
                beside.replace(target)
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _replace(target: Path, beside: Path) -> None:
    """Swap a folder for another: folders, unlike files, cannot be replaced in one step."""
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    target.replace(aside / target.name)
    beside.replace(target)
    shutil.rmtree(aside)


@contextmanager
def _parents(target: Path) -> Iterator[None]:
    """Make the folders above `target`; when the block fails, take away those that were made."""
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise

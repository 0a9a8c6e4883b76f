"""Built folders, changed for a test."""

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path


def changed(folder: Path, out: Path, edit: Callable[[str], str]) -> Path:
    """Copy a dataset with another card, whole again."""
    shutil.copytree(folder, out)
    card = out / "README.md"
    card.write_text(edit(card.read_text()))
    return resealed(out)


def resealed(folder: Path) -> Path:
    """Write SHA256SUMS anew."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix)
    lines = [f"{sha256(path)}  {path.relative_to(folder).as_posix()}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines))
    return folder


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))

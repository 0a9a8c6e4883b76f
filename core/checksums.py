"""Which bytes a file has."""

import hashlib
from pathlib import Path


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, as 64 hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and bytes of a folder's files."""
    if not path.is_dir():
        return file_sha256(path)
    digest = hashlib.sha256()
    for file in sorted(path.rglob("*")):
        digest.update(f"{file.relative_to(path).as_posix()}\0".encode())
        digest.update(file.read_bytes() if file.is_file() else b"")
    return digest.hexdigest()

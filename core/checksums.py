"""Which bytes a file has."""

import hashlib
from pathlib import Path


def file_sha256(file: Path) -> str:
    """Return the SHA-256 of a file, as 64 hexadecimal digits."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()

"""Opaque ids: what is published of a row in the place of its id, for ids may hold the answer.

An opaque id is a digest of a dataset's name and a row's id with a secret key (HMAC with SHA-256,
RFC 2104). Without the key nobody can tell which row it is, not even by trying all ids, which a
digest without a key would allow; whoever holds the key and the dataset resolves it.
"""

import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pronominal.errors import InputError, os_errors

OPAQUE_ID = re.compile(r"row-[0-9a-f]{32}")
"""An opaque id: 128 bits of the digest."""

FORM = "pronominal id key 1 "
"""How the one line of a key's file begins; 64 hexadecimal digits follow."""

MAKE = "make one with 'pronominal ids key FILE'"


@dataclass(frozen=True, slots=True)
class IdKey:
    """The secret that opaque ids are made with.

    Attributes:
        secret: 32 random bytes.
    """

    secret: bytes = field(repr=False)

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a key; `InputError` where the file holds none."""
        with os_errors(file, MAKE):
            content = file.read_bytes()
        found = re.fullmatch(rf"{FORM}([0-9a-f]{{64}})\s*".encode(), content)
        if found is None:
            raise InputError("it is no key of opaque ids", cure=MAKE, file=file)
        return cls(bytes.fromhex(found[1].decode()))

    @classmethod
    def make(cls, file: Path) -> Self:
        """Make a key and write it to a new file, which only its owner may read.

        Raises:
            InputError: there is a file already: a key that is lost cannot be made again.
        """
        made = cls(secrets.token_bytes(32))
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            place = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as error:
            cause, cure = "there is a file already", "give a new one, or use the key that it holds"
            raise InputError(cause, cure=cure, file=file) from error
        with os.fdopen(place, "w", encoding="ascii", newline="\n") as opened:
            opened.write(f"{FORM}{made.secret.hex()}\n")
        return made

    @classmethod
    def read_or_make(cls, file: Path) -> Self:
        """Read a key, or make it where there is no file."""
        return cls.read(file) if file.exists() else cls.make(file)

    @property
    def name(self) -> str:
        """Eight digits that tell this key from others and say nothing of the secret."""
        return self._digest(b"the name of the key")[:8]

    def opaque(self, dataset: str, row: str) -> str:
        """Return the opaque id of a row; the same in every config that has a row of this id.

        >>> IdKey(bytes(32)).opaque("sample", "a")
        'row-fa0b0bfb4c9cf05b962596beda9883b2'
        """
        digest = self._digest(f"{dataset}\0{row}".encode())
        return f"row-{digest[:32]}"

    def resolved(self, dataset: str, rows: Iterable[str]) -> dict[str, str]:
        """Return the ids of a dataset's rows by their opaque ids."""
        return {self.opaque(dataset, row): row for row in rows}

    def _digest(self, content: bytes) -> str:
        return hmac.new(self.secret, content, hashlib.sha256).hexdigest()

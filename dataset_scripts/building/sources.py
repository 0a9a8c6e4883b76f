"""Upstream files: where they are, which bytes they must have, and how they are opened."""

import csv
import hashlib
import http.client
import io
import os
import re
import urllib.request
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pronominal.errors import InputError
from pronominal.text_files import decoded

DOWNLOADS = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True)
class UpstreamFile:
    """One file of an upstream repository: its path there and its SHA-256."""

    path: str
    sha256: str

    def matches(self, content: bytes) -> bool:
        """Say whether the bytes are the pinned ones, but for CRLF and LF line ends."""
        unix = content.replace(b"\r\n", b"\n")
        variants = (content, unix, unix.replace(b"\n", b"\r\n"))
        return any(hashlib.sha256(bytes_).hexdigest() == self.sha256 for bytes_ in variants)


@dataclass(frozen=True, slots=True)
class Upstream:
    """One upstream repository at a pinned commit.

    Attributes:
        repository: ``owner/name`` on GitHub.
        commit: the pinned commit.
        licence: the licence stated upstream, as an SPDX identifier where it is one.
        folder: name of its folder below ``--sources``.
        files: local file name -> its place upstream.
    """

    repository: str
    commit: str
    licence: str
    folder: str
    files: Mapping[str, UpstreamFile]


@dataclass(slots=True)
class Sources:
    """The upstream files of one build.

    Attributes:
        root: folder that holds one folder for each upstream; None downloads the files.
        allow_changed: whether files whose SHA-256 is not the pinned one may be used.
        changed: the files found to differ so far, as ``folder/name``.
    """

    root: Path | None = None
    allow_changed: bool = False
    changed: list[str] = field(default_factory=list)

    def read(self, upstream: Upstream, name: str) -> bytes:
        """Return a file's bytes; `InputError` when it is missing or cannot be downloaded."""
        pinned = upstream.files[name]
        content = self._local(upstream, name) if self.root else _download(upstream, pinned)
        key = f"{upstream.folder}/{name}"
        if key not in self.changed and not pinned.matches(content):
            self.changed.append(key)
        return content

    def read_own(self, path: Path) -> bytes:
        """Return the bytes of a file below `root` that is not upstream's."""
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputError(
                f"cannot be read ({error.strerror})", cure="check the path", file=path
            ) from error

    def place(self, upstream: Upstream, name: str) -> str:
        """Return how errors call a file."""
        if self.root:
            return str(self.root / upstream.folder / name)
        return f"{upstream.repository}/{upstream.files[name].path}"

    def refuse_changed(self) -> None:
        """Raise `InputError` if a file read so far is not the pinned one."""
        if self.changed and not self.allow_changed:
            raise InputError(
                "the content is not the pinned upstream version (SHA-256 differs)",
                cure="fetch the file again, or build with --allow-changed to use it as it is",
                file=self.place_of_changed(),
            )

    def place_of_changed(self) -> str:
        """Return the changed files as one string."""
        return ", ".join(str(self.root / name) if self.root else name for name in self.changed)

    def _local(self, upstream: Upstream, name: str) -> bytes:
        assert self.root is not None
        path = self.root / upstream.folder / name
        try:
            return path.read_bytes()
        except OSError as error:
            raise InputError(
                f"cannot be read ({error.strerror})",
                cure="give --sources a folder that holds it, or leave --sources out to download",
                file=path,
            ) from error


def _download(upstream: Upstream, file: UpstreamFile) -> bytes:
    base = os.environ.get("PRONOMINAL_UPSTREAM_URL", DOWNLOADS)
    url = f"{base}/{upstream.repository}/{upstream.commit}/{file.path}"
    try:
        with urllib.request.urlopen(url, timeout=60) as response:
            content: bytes = response.read()
            return content
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise InputError(
            f"cannot be downloaded ({error})",
            cure="check the connection or give --sources a folder with the upstream files",
            file=url,
        ) from error


def read_zip_member(sources: Sources, upstream: Upstream, archive: str, member: str) -> bytes:
    """Return one file of a password-protected archive.

    The password is ``PRONOMINAL_ZIP_PASSWORD`` or stands in the upstream README beside the
    archive; it is never part of our code, because it keeps the plain text out of crawls.
    """
    place = sources.place(upstream, archive)
    content = sources.read(upstream, archive)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            return opened.read(member, pwd=_password(sources, upstream, archive).encode())
    except KeyError as error:
        raise InputError(
            f"there is no {member} in the archive", cure="fetch the archive again", file=place
        ) from error
    except NotImplementedError as error:
        raise InputError(
            f"its compression or encryption is not supported ({error})",
            cure="fetch the archive again from upstream",
            file=place,
        ) from error
    except RuntimeError as error:
        raise InputError(
            "the password is wrong", cure="set PRONOMINAL_ZIP_PASSWORD to the right one", file=place
        ) from error
    # zlib.error: a wrong password may pass the check byte
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        raise InputError(
            "the archive is truncated, damaged, or the password is wrong",
            cure="fetch it again from upstream, or set PRONOMINAL_ZIP_PASSWORD",
            file=place,
        ) from error


def _password(sources: Sources, upstream: Upstream, archive: str) -> str:
    given = os.environ.get("PRONOMINAL_ZIP_PASSWORD")
    if given:
        return given
    readme = sources.read(upstream, "README.md").decode("utf-8", errors="replace")
    found = re.search(r"password\s+`([^`]+)`", readme)
    if found is None:
        raise InputError(
            "its README names no password",
            cure="set PRONOMINAL_ZIP_PASSWORD",
            file=sources.place(upstream, archive),
        )
    return found.group(1)


@dataclass(frozen=True, slots=True)
class TableRow:
    """One data row of an upstream table: its line in the file (the header is 1) and its cells."""

    line: int
    cells: Mapping[str, str]


def read_table(content: bytes, columns: tuple[str, ...], place: str) -> list[TableRow]:
    """Parse a tab-separated table; line ends may be CRLF or LF, further columns are left out.

    Raises:
        InputError: the text is not UTF-8, is empty, lacks a column, or a row is cut short.
    """
    text = decoded(content, file=place, cure="fetch it again")
    reader = csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
    try:
        lines = list(reader)
    except csv.Error as error:
        row = f"line {reader.line_num}"
        raise InputError(
            f"the table is damaged ({error})", cure="fetch it again", file=place, row=row
        ) from error
    if len(lines) < 2:
        raise InputError("the table is empty", cure="fetch it again from upstream", file=place)
    missing = [column for column in columns if column not in lines[0]]
    if missing:
        raise InputError(
            f"the column '{missing[0]}' is missing",
            cure=f"restore the header: {', '.join(columns)}",
            file=place,
            row="line 1",
        )
    positions = {column: lines[0].index(column) for column in columns}
    rows = []
    for number, cells in enumerate(lines[1:], start=2):
        if len(cells) <= max(positions.values()):
            raise InputError(
                "the row is cut short", cure="fetch it again", file=place, row=f"line {number}"
            )
        rows.append(TableRow(number, {c: cells[position] for c, position in positions.items()}))
    return rows

"""Upstream files: where they are, which bytes they must have, and how they are opened."""

import hashlib
import io
import os
import re
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pronominal.dataset_scripts.tables.tab_separated import TableRow, read_table
from pronominal.dataset_scripts.tables.violations import Violation
from pronominal.errors import InputError, os_errors

DOWNLOADS = "https://raw.githubusercontent.com"

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before a download is tried again that failed for no fault of the request."""

TEMPORARY = (408, 429, 500, 502, 503, 504)
"""Statuses after which the same request may succeed."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """One upstream repository at a pinned commit.

    Attributes:
        repository: ``owner/name`` on GitHub.
        commit: the pinned commit.
        licence: the licence stated upstream, as an SPDX identifier where it is one.
        folder: name of its folder below ``--sources``.
        files: local file name -> its SHA-256.
        paths: local file name -> its path upstream, where that is another.
    """

    repository: str
    commit: str
    licence: str
    folder: str
    files: Mapping[str, str]
    paths: Mapping[str, str] = field(default_factory=dict)

    def path(self, name: str) -> str:
        """Return the path of a file upstream."""
        return self.paths.get(name, name)

    def pins(self, name: str, content: bytes) -> bool:
        """Say whether the bytes of a file are the pinned ones, but for CRLF and LF line ends."""
        unix = content.replace(b"\r\n", b"\n")
        variants = (content, unix, unix.replace(b"\n", b"\r\n"))
        return any(hashlib.sha256(one).hexdigest() == self.files[name] for one in variants)


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
        if self.root:
            path = self.root / upstream.folder / name
            cure = "give --sources a folder that holds it, or leave --sources out to download"
            with os_errors(path, cure):
                content = path.read_bytes()
        else:
            content = _download(upstream, name)
        key = f"{upstream.folder}/{name}"
        if key not in self.changed and not upstream.pins(name, content):
            self.changed.append(key)
        return content

    def table(
        self, upstream: Upstream, name: str, columns: tuple[str, ...], member: str | None = None
    ) -> list[TableRow]:
        """Return the rows of a tab-separated file, or of one in an archive; see `read_table`."""
        if member:
            content = read_zip_member(self, upstream, name, member)
        else:
            content = self.read(upstream, name)
        return read_table(content, columns, self.locate(upstream, name, member))

    def locate(self, upstream: Upstream, name: str, member: str | None = None) -> str:
        """Return the name of a file in errors."""
        if self.root:
            file = str(self.root / upstream.folder / name)
        else:
            file = f"{upstream.repository}/{upstream.path(name)}"
        return f"{file}:{member}" if member else file

    def refuse_changed(self) -> None:
        """Raise `InputError` if a file read so far is not the pinned one."""
        if self.changed and not self.allow_changed:
            cause = "the content is not the pinned upstream version (SHA-256 differs)"
            cure = "fetch the file again, or build with --allow-changed to use it as it is"
            file = ", ".join(str((self.root or Path()) / name) for name in self.changed)
            raise InputError(cause, cure=cure, file=file)

    def changed_files(self) -> Iterator[Violation]:
        """Yield every file read so far that is not the pinned one."""
        for file in self.changed:
            yield Violation(file, None, "not the pinned upstream version (SHA-256 differs)")


def _download(upstream: Upstream, name: str) -> bytes:
    """Fetch a file; again after a while where the connection or the server fails."""
    # only who builds without --sources needs them
    import http.client
    import urllib.error
    import urllib.request

    base = os.environ.get("PRONOMINAL_UPSTREAM_URL", DOWNLOADS)
    url = f"{base}/{upstream.repository}/{upstream.commit}/{upstream.path(name)}"
    for pause in (*PAUSES, None):
        try:
            with urllib.request.urlopen(url, timeout=60) as response:
                content: bytes = response.read()
                return content
        except (OSError, http.client.HTTPException, ValueError) as error:
            refused = isinstance(error, urllib.error.HTTPError) and error.code not in TEMPORARY
            malformed = isinstance(error, ValueError | http.client.InvalidURL)
            if pause is None or refused or malformed:
                cure = "check the connection or give --sources a folder with the upstream files"
                raise InputError(f"cannot be downloaded ({error})", cure=cure, file=url) from error
            time.sleep(pause)
    raise AssertionError("the last attempt returns or raises")


def read_zip_member(sources: Sources, upstream: Upstream, archive: str, member: str) -> bytes:
    """Return one file of a password-protected archive.

    The password is ``PRONOMINAL_ZIP_PASSWORD`` or stands in the upstream README beside the
    archive; it is never part of our code, because it keeps the plain text out of crawls.
    """
    content = sources.read(upstream, archive)

    def refuse(cause: str, cure: str) -> InputError:
        return InputError(cause, cure=cure, file=sources.locate(upstream, archive))

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            return opened.read(member, pwd=_password(sources, upstream, archive).encode())
    except KeyError as error:
        raise refuse(f"there is no {member} in the archive", "fetch the archive again") from error
    except NotImplementedError as error:
        cause = f"its compression or encryption is not supported ({error})"
        raise refuse(cause, "fetch the archive again from upstream") from error
    except RuntimeError as error:
        cure = "set PRONOMINAL_ZIP_PASSWORD to the right one"
        raise refuse("the password is wrong", cure) from error
    # zlib.error: a wrong password may pass the check byte
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        cure = "fetch it again from upstream, or set PRONOMINAL_ZIP_PASSWORD"
        raise refuse("the archive is truncated, damaged, or the password is wrong", cure) from error


def _password(sources: Sources, upstream: Upstream, archive: str) -> str:
    given = os.environ.get("PRONOMINAL_ZIP_PASSWORD")
    if given:
        return given
    readme = sources.read(upstream, "README.md").decode("utf-8", errors="replace")
    named = re.search(r"password\s+`([^`]+)`", readme)
    if named is None:
        cause = "its README names no password"
        cure = "set PRONOMINAL_ZIP_PASSWORD"
        raise InputError(cause, cure=cure, file=sources.locate(upstream, archive))
    return named.group(1)

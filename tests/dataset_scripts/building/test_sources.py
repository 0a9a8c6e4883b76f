"""Upstream files that do not arrive whole, and archives that do not open: one line each."""

import hashlib
import io
import socket
import struct
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pronominal import InputError
from pronominal.dataset_scripts.building import sources
from pronominal.dataset_scripts.building.sources import (
    Sources,
    Upstream,
    read_zip_member,
)

UPSTREAM = Upstream("owner/name", "0" * 40, "MIT", "folder", {"a.zip": ""})
CUT = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"


@contextmanager
def answering(*answers: bytes, reset: bool = False) -> Iterator[str]:
    """Give the address of a server that sends each answer on a connection of its own."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        # who asks less often than expected fails, and does not wait for ever
        server.settimeout(20)

        def serve() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)
                    if reset:
                        linger = struct.pack("ii", 1, 0)
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            thread.join()


def point_to(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """Download from there, and try three times without a pause."""
    monkeypatch.setattr(sources, "PAUSES", (0.0, 0.0))
    monkeypatch.setenv("PRONOMINAL_UPSTREAM_URL", url)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def refuse_download(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    point_to(monkeypatch, url)
    with pytest.raises(InputError, match="cannot be downloaded") as caught:
        Sources().read(UPSTREAM, "a.zip")
    assert str(caught.value.file).startswith(url)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("answer", [CUT, b"", b"nonsense\r\n"], ids=["cut", "empty", "no HTTP"])
def test_a_connection_that_ends_early_is_told(
    monkeypatch: pytest.MonkeyPatch, answer: bytes, reset: bool
) -> None:
    with answering(*[answer] * 3, reset=reset) as url:
        refuse_download(monkeypatch, url)


UNAVAILABLE = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
MISSING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwhole"


@pytest.mark.parametrize("failure", [CUT, UNAVAILABLE], ids=["cut", "a fault of the server"])
def test_a_download_that_fails_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, failure: bytes
) -> None:
    with answering(failure, failure, WHOLE) as url:
        point_to(monkeypatch, url)
        assert Sources().read(UPSTREAM, "a.zip") == b"whole"


def test_a_file_that_is_not_there_is_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(MISSING) as url:
        refuse_download(monkeypatch, url)


@pytest.mark.parametrize("url", ["nonsense", "http://[::1", "http://127.0.0.1:port", "http://a b"])
def test_an_address_that_is_none_is_told(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    refuse_download(monkeypatch, url)


def zipped(method: int | None = None, spoil: bool = False) -> bytes:
    """Return an archive of one file, said to be compressed by `method`, or with spoilt data."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"a sentence " * 50)
    content = bytearray(stream.getvalue())
    if method is not None:
        directory = content.index(b"PK\1\2")
        content[8:10] = content[directory + 10 : directory + 12] = method.to_bytes(2, "little")
    if spoil:
        content[35] = 0xFF
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped(method=99), "not supported"),
        (zipped(spoil=True), "truncated, damaged, or the password is wrong"),
        (zipped()[:60], "truncated, damaged, or the password is wrong"),
    ],
    ids=["an unknown compression", "spoilt data", "a truncated file"],
)
def test_an_archive_that_does_not_open_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.zip").write_bytes(content)
    monkeypatch.setenv("PRONOMINAL_ZIP_PASSWORD", "secret")
    with pytest.raises(InputError, match=message):
        read_zip_member(Sources(tmp_path), UPSTREAM, "a.zip", "a.txt")


def test_an_archive_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.zip").write_bytes(zipped())
    monkeypatch.setenv("PRONOMINAL_ZIP_PASSWORD", "secret")
    content = read_zip_member(Sources(tmp_path), UPSTREAM, "a.zip", "a.txt")
    digest = hashlib.sha256(b"a sentence " * 50).hexdigest()
    assert hashlib.sha256(content).hexdigest() == digest

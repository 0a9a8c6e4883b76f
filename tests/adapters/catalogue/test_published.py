"""Published weights from a server on this machine: resumed, checked, unpacked safely."""

import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue import published
from pronominal.adapters.catalogue.published import Published, fetch, published_of
from pronominal.adapters.checkpoints import downloads
from pronominal.adapters.checkpoints.archives import unpack
from pronominal.adapters.checkpoints.downloads import RemoteFile, download
from pronominal.errors import InputError
from tests.cli.test_main import pronominal

CONTENT = bytes(range(256)) * 40
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server:
    """Serves one file; says what it was asked, and hangs up after so many bytes."""

    def __init__(self) -> None:
        self.content, self.tag, self.kind = CONTENT, '"one"', "application/octet-stream"
        self.asked: list[str | None] = []
        self.ends_after: int | None = None
        self.ranges = True
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                server.asked.append(wanted)
                same = self.headers.get("If-Range") == server.tag and server.ranges
                start = int(wanted[6:-1]) if wanted and same else 0
                if start >= len(server.content):
                    self.send_error(416)
                    return
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(server.content) - start))
                self.send_header("Content-Type", server.kind)
                self.send_header("ETag", server.tag)
                self.end_headers()
                self.wfile.write(server.content[start:][: server.ends_after])

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.http.shutdown()
    one.http.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(published.CACHE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "weights"


def silent(done: int, total: int | None) -> None:
    pass


def test_what_was_cut_off_goes_on_where_it_stopped(server: Server, tmp_path: Path) -> None:
    file = RemoteFile(f"{server.url}/model.bin", "model.bin", SHA256)
    server.ends_after = 1000
    with pytest.raises(InputError, match="ended after 1,000 of 10,240 bytes"):
        download(file, tmp_path, silent)
    assert not (tmp_path / "model.bin").exists()
    server.ends_after = None
    told: list[tuple[int, int | None]] = []
    place = download(file, tmp_path, lambda *counts: told.append(counts))
    assert place.read_bytes() == CONTENT
    assert server.asked == [None, "bytes=1000-"]
    assert told[-1] == (10_240, 10_240)
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["model.bin"]
    download(file, tmp_path, silent)
    assert len(server.asked) == 2  # it is there


@pytest.mark.parametrize("change", ["another file", "no ranges"])
def test_the_rest_of_another_file_is_not_put_behind(
    change: str, server: Server, tmp_path: Path
) -> None:
    file = RemoteFile(f"{server.url}/model.bin", "model.bin")
    server.ends_after = 1000
    with pytest.raises(InputError):
        download(file, tmp_path, silent)
    server.ends_after = None
    if change == "another file":
        server.content, server.tag = CONTENT[::-1], '"two"'
    else:
        server.ranges = False
    assert download(file, tmp_path, silent).read_bytes() == server.content


def test_a_whole_file_that_was_not_moved_yet(server: Server, tmp_path: Path) -> None:
    file = RemoteFile(f"{server.url}/model.bin", "model.bin", SHA256)
    (tmp_path / f"model.bin{downloads.PARTIAL}").write_bytes(CONTENT)
    state = json.dumps({"mark": server.tag, "total": len(CONTENT)})
    (tmp_path / f"model.bin{downloads.STATE}").write_text(state)
    assert download(file, tmp_path, silent).read_bytes() == CONTENT


def test_other_bytes_are_refused_and_removed(server: Server, tmp_path: Path) -> None:
    file = RemoteFile(f"{server.url}/model.bin", "model.bin", "0" * 64)
    with pytest.raises(InputError, match=f"its SHA-256 is {SHA256} and not 0000"):
        download(file, tmp_path, silent)
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


def test_a_web_page_is_no_file(server: Server, tmp_path: Path) -> None:
    server.kind = "text/html"
    with pytest.raises(InputError, match="a web page instead of the file"):
        download(RemoteFile(f"{server.url}/model.bin", "model.bin"), tmp_path, silent)


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be downloaded"):
        download(RemoteFile("http://127.0.0.1:9/model.bin", "model.bin"), tmp_path, silent)


def tar(names: dict[str, bytes], **special: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in names.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, kind in special.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    return out.getvalue()


def zipped(names: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in names.items():
            archive.writestr(name, content)
    return out.getvalue()


@pytest.mark.parametrize("pack", [tar, zipped])
def test_folders_that_all_files_are_in_are_left_out(
    pack: Callable[..., bytes], tmp_path: Path
) -> None:
    (tmp_path / "archive").write_bytes(pack({"a/b/vocab.txt": b"1", "a/b/c/model": b"2"}))
    unpack(tmp_path / "archive", tmp_path / "tree")
    unpack(tmp_path / "archive", tmp_path / "flat", "flat")
    tree = {str(p.relative_to(tmp_path / "tree")) for p in (tmp_path / "tree").rglob("*")}
    assert tree == {"vocab.txt", "c", "c/model"}
    assert {p.name for p in (tmp_path / "flat").iterdir()} == {"vocab.txt", "model"}


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (tar({"../outside": b"1"}), "leads out of the folder"),
        (tar({"/etc/outside": b"1"}), "leads out of the folder"),
        (zipped({"a/../../outside": b"1"}), "leads out of the folder"),
        (zipped({"C:/outside": b"1"}), "leads out of the folder"),
        (tar({"a": b"1"}, link=tarfile.SYMTYPE), "link is a link or a device"),
        (tar({"a": b"1"}, pipe=tarfile.FIFOTYPE), "pipe is a link or a device"),
        (tar({"a/same": b"1", "b/same": b"2"}), "two of its files have one name"),
        (tar({"zeros": bytes(10_000_000)})[:200], "cannot be unpacked"),
        (b"no archive", "cannot be unpacked"),
    ],
)
def test_archives_that_are_refused(content: bytes, cause: str, tmp_path: Path) -> None:
    (tmp_path / "archive").write_bytes(content)
    with pytest.raises(InputError, match=cause):
        unpack(tmp_path / "archive", tmp_path / "out", "flat")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "archive"]


def test_weights_are_fetched_once_and_say_what_came(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.content = tar({"base/vocab.txt": b"words", "base/model.max.ckpt.index": b"index"})
    file = RemoteFile(f"{server.url}/base.tar.gz", "base.tar.gz")
    one = Published("base", "spanbert", 1, "a page", ((file, "tree"),), {"config.json": "{}\n"})
    folder = fetch(one, silent)
    assert folder == cache / "base"
    names = {path.name for path in folder.iterdir()}
    assert names == {"vocab.txt", "model.max.ckpt.index", "config.json", "fetched.json"}
    came = json.loads((folder / "fetched.json").read_text())["files"]["base.tar.gz"]
    assert came["sha256"] == hashlib.sha256(server.content).hexdigest()
    assert fetch(one, silent) == folder
    assert len(server.asked) == 1


def test_a_mirror_has_the_files_under_their_own_names(tmp_path: Path, cache: Path) -> None:
    archive = {"neuralcoref/cfg": b"1", "neuralcoref/static_vectors/vectors": b"2"}
    (tmp_path / "neuralcoref.tar.gz").write_bytes(tar(archive))
    result = pronominal("fetch", "neuralcoref", "--mirror", tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == str(cache / "neuralcoref")
    assert (cache / "neuralcoref" / "static_vectors" / "vectors").read_bytes() == b"2"
    assert "no SHA-256 is known" in result.stderr
    assert "neuralcoref: 1 file, " in result.stderr
    listed = json.loads(pronominal("fetch", "--json").stdout)
    folders = {one["name"]: one["folder"] for one in listed}
    assert folders["neuralcoref"] == str(cache / "neuralcoref")
    assert folders["caw"] is None


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"", "it is empty"),
        (b"no archive", "it is no gz file"),
        (tar({"zeros": bytes(10_000_000)})[:200], "cannot be unpacked"),
        (tar({"../outside": b"1"}), "leads out of the folder"),
    ],
)
def test_what_is_refused_is_removed_and_fetched_anew(
    content: bytes, cause: str, tmp_path: Path, cache: Path
) -> None:
    mirrored = tmp_path / "neuralcoref.tar.gz"
    mirrored.write_bytes(content)
    refused = pronominal("fetch", "neuralcoref", "--mirror", tmp_path)
    assert (refused.returncode, cause in refused.stderr) == (2, True), refused.stderr
    mirrored.write_bytes(tar({"neuralcoref/cfg": b"1"}))
    assert pronominal("fetch", "neuralcoref", "--mirror", tmp_path).returncode == 0
    assert (cache / "neuralcoref" / "cfg").read_bytes() == b"1"


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        ("corenlp-neural", "corenlp"),
        ("corenlp-rule", "corenlp"),
        ("corenlp-statistical", "corenlp"),
        ("cort", "cort-latent"),
    ],
)
def test_a_system_with_one_set_of_weights_names_them(asked: str, name: str) -> None:
    assert published_of(asked).name == name


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("spanbert", "several published weights; fetch one of spanbert-base, spanbert-large"),
        ("lm", "lm has no weights to fetch from outside of the Hub"),
        ("spanbert-bsae", "did you mean 'spanbert-base'"),
    ],
)
def test_what_cannot_be_fetched(asked: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        published_of(asked)


def test_every_published_file_has_an_address_a_source_and_a_system() -> None:
    for name, one in published.published().items():
        assert one.system in SYSTEMS or one.system == "cort", name
        assert one.source, name
        assert all(file.url.startswith("http") and file.name for file, _ in one.files), name
        assert all(file.sha256 is None or len(file.sha256) == 64 for file, _ in one.files), name
    places = {entry.weights for entry in SYSTEMS.values() if str(entry.weights).startswith("http")}
    fetched = {
        SYSTEMS[one.system].weights
        for one in published.published().values()
        if one.system in SYSTEMS
    }
    # stanza downloads its own models
    assert places - fetched == {"https://huggingface.co/stanfordnlp/stanza-en"}

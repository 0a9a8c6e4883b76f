"""Large files over HTTP: resumed where they stopped, and moved into place when they are whole."""

import http.client
import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronominal.checksums import file_sha256
from pronominal.errors import InputError

BLOCK = 1 << 20
PATIENCE = 60
"""Seconds without a byte after which a server is given up."""

PARTIAL, STATE = ".partial", ".partial.json"
"""How the names end of what is there of a file so far, and of what the server called that."""

Progress = Callable[[int, int | None], None]
"""Told how many bytes are there, and of how many if the server says so."""


BEGINNINGS = {
    (".gz", ".tgz"): b"\x1f\x8b",
    (".zip", ".jar"): b"PK",
    (".hdf5",): b"\x89HDF",
}
"""How the names of files end -> the bytes that they begin with."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file to download.

    Attributes:
        url: its address: ``http``, ``https``, or a path on this machine.
        name: what it is called here.
        sha256: of its bytes, where that is known.
    """

    url: str
    name: str
    sha256: str | None = None


def download(file: RemoteFile, folder: Path, progress: Progress) -> Path:
    """Bring a file into a folder, going on where an earlier download stopped; return its place.

    A file that is there already is not asked for again, unless it is not the known one.

    Raises:
        InputError: it cannot be had, ends too early, is empty or no such file as its name says, or
            its SHA-256 is not the known one.
    """
    target = folder / file.name
    if not target.exists():
        partial = target.with_name(f"{file.name}{PARTIAL}")
        if "://" not in file.url:
            _copy(file, partial)
        else:
            _resume(file, partial, progress)
        _refuse_other(file, partial)
        partial.replace(target)
        _state(partial).unlink(missing_ok=True)
    return target


def _copy(file: RemoteFile, partial: Path) -> None:
    if not Path(file.url).is_file():
        raise InputError("there is no such file", cure="check the path", file=file.url)
    shutil.copyfile(file.url, partial)


def _resume(file: RemoteFile, partial: Path, progress: Progress) -> None:
    """Ask for what is missing; a server that sends the whole, or another file, begins anew."""
    there = partial.stat().st_size if partial.exists() else 0
    known = _read_state(partial) if there else {}
    # without a mark of the version the rest may be that of another file
    headers = {"Range": f"bytes={there}-", "If-Range": known["mark"]} if known else {}
    request = urllib.request.Request(file.url, headers={"User-Agent": "pronominal", **headers})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            _refuse_page(file, answer)
            begins = there if answer.status == http.client.PARTIAL_CONTENT else 0
            total = _total(answer, begins)
            _write_state(partial, answer, total)
            with partial.open("ab" if begins else "wb") as out:
                done = begins
                while block := answer.read(BLOCK):
                    out.write(block)
                    done += len(block)
                    progress(done, total)
    except urllib.error.HTTPError as error:
        complete = known.get("total") == there and there
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and complete:
            return
        raise _refused(file, error) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _refused(file, error) from error
    if total is not None and done < total:
        cause = f"the connection ended after {done:,} of {total:,} bytes"
        raise InputError(cause, cure="run the same command again: it goes on there", file=file.url)


def _refused(file: RemoteFile, error: Exception) -> InputError:
    cure = (
        "run the same command again, which goes on where it stopped, or give the folder or address "
        "of a copy with --mirror"
    )
    return InputError(f"cannot be downloaded ({error})", cure=cure, file=file.url)


def _refuse_page(file: RemoteFile, answer: Any) -> None:
    """Refuse a web page in the place of a file: a form to fill in, or that it is gone."""
    kind = answer.headers.get_content_type()
    if kind == "text/html" and not file.name.endswith(".html"):
        cure = "download the file with a browser, and give its folder with --mirror"
        raise InputError("the server sent a web page instead of the file", cure=cure, file=file.url)


def _total(answer: Any, begins: int) -> int | None:
    length = answer.headers.get("Content-Length")
    return None if length is None or not length.isdigit() else begins + int(length)


def _state(partial: Path) -> Path:
    return partial.with_name(partial.name.removesuffix(PARTIAL) + STATE)


def _read_state(partial: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        state = json.loads(_state(partial).read_text(encoding="utf-8"))
        if isinstance(state, dict) and isinstance(state.get("mark"), str):
            return state
    return {}


def _write_state(partial: Path, answer: Any, total: int | None) -> None:
    tag = answer.headers.get("ETag") or ""
    # weak tags do not promise the same bytes
    mark = tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified")
    state = {"mark": mark, "total": total}
    _state(partial).write_text(json.dumps(state) + "\n", encoding="utf-8", newline="\n")


def _refuse_other(file: RemoteFile, partial: Path) -> None:
    if (fault := _fault(file, partial)) is not None:
        partial.unlink()
        _state(partial).unlink(missing_ok=True)
        cure = "run the command again, or look whether its authors have changed it"
        raise InputError(f"{fault}; it was removed", cure=cure, file=file.url)


def _fault(file: RemoteFile, partial: Path) -> str | None:
    """Say why what came is not the file that was asked for; None where it is."""
    with partial.open("rb") as opened:
        begins = opened.read(4)
    if not begins:
        return "it is empty"
    for endings, expected in BEGINNINGS.items():
        if file.name.endswith(endings) and not begins.startswith(expected):
            return f"it is no {file.name.rpartition('.')[2]} file"
    found = file_sha256(partial)
    if file.sha256 is not None and found != file.sha256:
        return f"its SHA-256 is {found} and not {file.sha256}"
    return None

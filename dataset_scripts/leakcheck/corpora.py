"""What `leakcheck` reads: files, folders and every object of a git repository, as byte blocks."""

import bz2
import gzip
import io
import lzma
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pronominal.dataset_scripts.leakcheck.entries import COLUMNS as INDEX
from pronominal.dataset_scripts.leakcheck.git_history import Object, Repository
from pronominal.dataset_scripts.tables.usual_types import in_usual_type
from pronominal.errors import InputError
from pronominal.zip_archives import as_it_lies

BLOCK = 1 << 19
"""Bytes read at a time: what is made of them still fits a core's cache."""
ROWS = 4096
"""Rows of a Parquet file read at a time."""
SPACE = pa.scalar(b" ", pa.large_binary())
STRINGS = (
    *(pa.string(), pa.large_string(), pa.string_view()),
    *(pa.binary(), pa.large_binary(), pa.binary_view()),
)

ZSTANDARD = b"\x28\xb5\x2f\xfd"
PACKED: tuple[tuple[bytes, Callable[[Any], Any]], ...] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ", lzma.open),
    (ZSTANDARD, lambda stream: pa.CompressedInputStream(pa.PythonFile(stream, "r"), "zstd")),
)
"""First bytes of packed files, and what unpacks them; names do not matter."""

ZIP, PARQUET = b"PK\x03\x04", b"PAR1"
NESTED = 4
"""How many archives deep is read: one can be made that holds itself."""
UNSUSPICIOUS, MOST_TIMES = 1 << 28, 100
"""Bytes that any archive may unpack to, and how many times its own size a larger one may."""
SKIPPABLE = tuple(bytes([byte, 0x2A, 0x4D, 0x18]) for byte in range(0x50, 0x60))
"""First bytes of a frame that Zstandard passes over (RFC 8878, section 3.1.2)."""
BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")

DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException, InputError)
"""What reading a damaged or forbidden file, folder or repository raises."""
# zipfile's words for an encrypted member and for an unknown method
DAMAGED_ZIP = (*DAMAGED, zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError)


class Origin(NamedTuple):
    """Where a document is from.

    Attributes:
        path: the file; the repository for an object without one.
        history: the commit that brought the file in, or what else of the history holds it; empty
            for a file that is there now.
    """

    path: str
    history: str = ""


class CorpusText(NamedTuple):
    """One text to look into.

    Attributes:
        origins: gives its origins, which may take a while; none if all of them are excluded.
        blocks: its bytes, unpacked, in pieces of any size; to be read before the next document.
    """

    origins: Callable[[], list[Origin]]
    blocks: Iterator[bytes]


def documents(
    path: str, exclude: Sequence[str], *, history: bool, ignored: bool = False
) -> Iterator[CorpusText]:
    """Yield what a path holds.

    A file is one document. Of a folder, every regular file below it is one; of a repository, the
    files that git does not ignore, then every blob, commit message and tag that it holds.
    Symbolic links are not followed. What cannot be read is a document that raises when it is read.

    Args:
        path: a file or a folder, which exists.
        exclude: patterns of paths to leave out, below `path` if it is a folder; ``*`` matches
            ``/`` too.
        history: whether to read the objects of repositories.
        ignored: whether to read every file of a repository, also those that git ignores.
    """
    top = Path(path)

    def wanted(file: Path) -> bool:
        below = file if file == top else file.relative_to(top)
        return not any(fnmatch(below.as_posix(), pattern) for pattern in exclude)

    if top.is_dir():
        yield from _folder(top, wanted, history, ignored)
    elif wanted(top):
        yield _file(top)


def _folder(
    folder: Path, wanted: Callable[[Path], bool], history: bool, ignored: bool
) -> Iterator[CorpusText]:
    repository: Repository | None = None
    entries: list[Path] = []
    try:
        repository = None if ignored else Repository.at(folder)
        entries = repository.files() if repository else _entries(folder)
    except InputError as error:
        # its files are still there, ignored ones too: git cannot tell
        yield _unreadable(folder, error)
        repository = None
        entries = _entries(folder)
    except OSError as error:
        yield _unreadable(folder, error)
    for entry in entries:
        if wanted(entry):
            yield from _entry(entry, wanted, history, ignored)
    if repository and history:
        try:
            for stored in repository.objects():
                yield _stored(repository, stored, wanted)
        except InputError as error:
            yield _unreadable(folder, error)


def _entries(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.name != ".git")


def _entry(
    path: Path, wanted: Callable[[Path], bool], history: bool, ignored: bool
) -> Iterator[CorpusText]:
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return  # git knows it, but it was deleted
    except OSError as error:
        yield _unreadable(path, error)
        return
    if stat.S_ISDIR(mode):
        yield from _folder(path, wanted, history, ignored)
    elif stat.S_ISREG(mode):
        yield _file(path)


def _unreadable(path: Path, error: Exception) -> CorpusText:
    def blocks() -> Iterator[bytes]:
        raise error
        yield b""

    return CorpusText(lambda: [Origin(str(path))], blocks())


def _file(path: Path) -> CorpusText:
    def blocks() -> Iterator[bytes]:
        with path.open("rb") as stream:
            yield from _bounded(stream, path.stat().st_size)

    return CorpusText(lambda: [Origin(str(path))], blocks())


def _stored(repository: Repository, stored: Object, wanted: Callable[[Path], bool]) -> CorpusText:
    folder = repository.folder

    def origins() -> list[Origin]:
        if stored.kind != "blob":
            return [Origin(str(folder), f"message of {stored.kind} {stored.name[:12]}")]
        try:
            introductions = repository.introductions(stored.name)
        except InputError:
            # damage elsewhere in the history takes no leak away
            return [Origin(str(folder), f"blob {stored.name[:12]}")]
        files = [(commit, folder / name) for commit, name in introductions]
        if not files:
            return [Origin(str(folder), f"blob {stored.name[:12]}, in no commit")]
        return [Origin(str(file), f"commit {c[:12]}") for c, file in files if wanted(file)]

    def message() -> Iterator[bytes]:
        yield stored.content.read().partition(b"\n\n")[2]

    if stored.kind != "blob":
        return CorpusText(origins, message())
    return CorpusText(origins, _bounded(stored.content, stored.size))


def _bounded(stream: io.BufferedReader, packed: int) -> Iterator[bytes]:
    """Yield what a file unpacks to, until it is more than any honest archive of its size does."""
    if stream.peek(4)[:4] == PARQUET:
        # its repeated values take no room, which is no sign of a bomb
        yield from _unpacked(stream)
        return
    left = max(UNSUSPICIOUS, MOST_TIMES * packed)
    for block in _unpacked(stream):
        left -= len(block)
        if left < 0:
            cause = f"it unpacks to more than {MOST_TIMES} times its size, as a zip bomb does"
            raise InputError(cause, cure="unpack it first")
        yield block


def _unpacked_again(content: Any, nested: int) -> Iterator[bytes]:
    """Yield the text of what was packed, which may itself be packed."""
    if nested == NESTED:
        raise InputError("archives lie too deep in archives", cure="unpack them first")
    stream = io.BufferedReader(content, BLOCK)
    if stream.peek(4)[:4] in (ZIP, PARQUET):
        # they are read from their ends, and to get there a bomb would be unpacked
        held = stream.read(UNSUSPICIOUS + 1)
        if len(held) > UNSUSPICIOUS:
            cause = f"an archive holds another of more than {UNSUSPICIOUS >> 20} MiB"
            raise InputError(cause, cure="unpack it first")
        stream = io.BufferedReader(io.BytesIO(held))
    yield from _unpacked(stream, nested + 1)


def _unpacked(stream: io.BufferedReader, nested: int = 0) -> Iterator[bytes]:
    """Yield the text of a file, whose first bytes say how it is packed."""
    while stream.peek(4)[:4] in SKIPPABLE:
        yield from _skippable(stream)
    start = stream.peek(6)[:6]
    if start.startswith(PARQUET):
        yield from _rows(stream)
        return
    if start.startswith(ZIP):
        yield from _members(stream, nested)
        return
    for magic, unpack in PACKED:
        if start.startswith(magic):
            yield from _unpacked_again(unpack(stream), nested)
            return
    utf_16: bool | None = None
    while block := stream.read(BLOCK):
        if utf_16 is None:
            utf_16 = block.startswith(BYTE_ORDER_MARKS)
        # ASCII in UTF-16 is ASCII between NULs
        yield block.replace(b"\0", b"") if utf_16 else block


def _skippable(stream: io.BufferedReader) -> Iterator[bytes]:
    """Yield the bytes of a frame that unpacking would pass over."""
    left = int.from_bytes(stream.read(8)[4:], "little")
    while left and (block := stream.read(min(left, BLOCK))):
        left -= len(block)
        yield block


def _members(stream: io.BufferedReader, nested: int) -> Iterator[bytes]:
    """Yield the text of every member of a zip archive, then raise what went wrong with one."""
    problem: Exception | None = None
    try:
        with zipfile.ZipFile(stream if stream.seekable() else io.BytesIO(stream.read())) as archive:
            for member in archive.infolist():
                try:
                    with archive.open(as_it_lies(member)) as content:
                        yield from _unpacked_again(content, nested)
                except DAMAGED_ZIP as error:
                    problem = error
                yield b"\n"
    except DAMAGED_ZIP as error:
        problem = error
    if problem:
        cause = problem.cause if isinstance(problem, InputError) else "zip: damaged or encrypted"
        raise InputError(cause, cure="unpack it first") from problem


def _rows(stream: io.BufferedReader) -> Iterator[bytes]:
    """Yield every string of a Parquet file, one line for each row.

    The names of columns and the file's metadata stand before the first. The index of a leak check
    tells of nothing: the canaries in it are what is looked for, no leak.
    """
    source = stream if stream.seekable() else io.BytesIO(stream.read())
    table = pq.ParquetFile(source, pre_buffer=False)
    if table.schema_arrow.remove_metadata().equals(INDEX):
        return
    told = [name.encode() for name in table.schema_arrow.names]
    told += (table.schema_arrow.metadata or {}).values()
    yield b"".join(text.replace(b"\n", b" ") + b" " for text in told)
    for batch in table.iter_batches(batch_size=ROWS):
        strings = [found for column in batch.columns for found in _strings(column)]
        if strings:
            rows = pc.binary_join_element_wise(*strings, SPACE, null_handling="replace")
            yield b"".join(row.replace(b"\n", b" ") + b"\n" for row in rows.to_pylist())
        else:
            yield b"\n" * len(batch)


def _strings(values: pa.Array) -> Iterator[pa.Array]:
    """Yield arrays with one byte string for each value: all strings in it, however deep."""
    values = in_usual_type(values)
    if pa.types.is_struct(values.type):
        for field in values.flatten():
            yield from _strings(field)
    elif pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        lengths = pc.list_value_length(values).fill_null(0)
        borders = pa.array(np.cumsum([0, *lengths.to_pylist()]), pa.int64())
        for inner in _strings(values.flatten()):
            yield pc.binary_join(pa.LargeListArray.from_arrays(borders, inner), SPACE)
    elif values.type in STRINGS or pa.types.is_fixed_size_binary(values.type):
        yield values.cast(pa.large_binary())

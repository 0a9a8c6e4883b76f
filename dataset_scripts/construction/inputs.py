"""Corpora as documents: text, JSONL, MediaWiki dumps and subtitles, packed or not, streamed."""

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from pronominal.dataset_scripts.construction.xml_inputs import (
    PlacedText,
    without_speaker_dash,
    xml_documents,
)
from pronominal.dataset_scripts.leakcheck.corpora import DAMAGED, PACKED, SKIPPABLE, ZSTANDARD
from pronominal.errors import InputError

LONGEST_LINE = 8 << 20
"""Bytes; a longer line is passed over, and never in memory as a whole."""
PIECE = 64 << 20
"""Bytes of an unpacked file of lines that are one shard."""

PACKED_SUFFIXES = (".gz", ".bz2", ".zst", ".xz")
KINDS = {"jsonl": (".jsonl", ".ndjson", ".json"), "xml": (".xml",), "subtitles": (".srt",)}
"""What a file holds -> how its name ends."""
CUE = re.compile(r"\d+|\d\d:\d\d:\d\d[,.]\d{3} --> .*|\{\d+\}\{\d+\}")
SENTENCE_END = re.compile(r"""[.!?]["')\]]*(?:</\w+>)*$""")
CUES = 4
"""Cues that are joined at most until one ends a sentence: lyrics and titles never do."""


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a corpus that is read from beginning to end.

    Attributes:
        number: its place among the shards.
        path: the file.
        start: first byte; a line that begins before it belongs to the shard before.
        stop: one after the last byte at which a line may begin; None for the whole file.
    """

    number: int
    path: Path
    start: int = 0
    stop: int | None = None


def shards(paths: Sequence[Path], piece: int = PIECE) -> list[Shard]:
    """Return the shards of files and folders, in an order that depends on their names only.

    `InputError` if a path does not exist, or there is no file.
    """
    found: list[tuple[Path, int, int | None]] = []
    for path in paths:
        if not path.exists():
            raise InputError("there is no such file or folder", cure="check --input", file=path)
        below = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else []
        for file in below or [path]:
            size = file.stat().st_size if file.is_file() else 0
            if size > piece and kind_of(file) in ("text", "jsonl") and _can_be_cut(file):
                found += [(file, begin, begin + piece) for begin in range(0, size, piece)]
            elif file.is_file():
                found.append((file, 0, None))
    if not found:
        raise InputError("there is no file in it", cure="check --input", file=paths[0])
    return [Shard(number, *shard) for number, shard in enumerate(found)]


def _can_be_cut(file: Path) -> bool:
    """Say whether a file holds plain lines; packed files are told by their first bytes."""
    try:
        with file.open("rb") as stream:
            start = stream.read(6)
    except OSError:
        return False
    return not start.startswith((*(magic for magic, _ in PACKED), *SKIPPABLE))


def kind_of(path: Path) -> str:
    """Return what a file holds by its name: text, jsonl, xml or subtitles."""
    name = path.name.lower()
    for suffix in PACKED_SUFFIXES:
        name = name.removesuffix(suffix)
    return next((kind for kind, ends in KINDS.items() if name.endswith(ends)), "text")


def documents(shard: Shard, field: str, damage: Counter[str]) -> Iterator[PlacedText]:
    """Yield the documents of a shard.

    In a text every line is one, in JSONL the field's text, in a MediaWiki dump every page, in
    subtitles the cues up to the end of a sentence. What cannot be read is passed over and counted
    in `damage`, by the file's name.
    """
    empty = True
    found: Counter[str] = Counter()
    try:
        with shard.path.open("rb") as stream:
            reader = _Reader(_unpacked(stream), shard, field, found)
            for document in reader.documents():
                empty = False
                yield document
    except DAMAGED as error:
        reason = "ends too early" if isinstance(error, EOFError) else "damaged or unreadable"
        found[f"{reason}; read up to there"] += 1
    if empty and shard.start == 0:
        found["holds no document"] += 1
    damage.update({f"file {shard.path.name}: {what}": number for what, number in found.items()})


class _Unpacked(io.RawIOBase):
    """A packed file as it is unpacked: what came before a damage is given before it is raised."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._source.read1(len(buffer))
        buffer[: len(content)] = content
        return len(content)


def _unpacked(stream: io.BufferedReader) -> io.BufferedReader:
    start = stream.peek(6)[:6]
    if start.startswith(SKIPPABLE):
        start = ZSTANDARD
    for magic, unpack in PACKED:
        if start.startswith(magic):
            return io.BufferedReader(_Unpacked(unpack(stream)), buffer_size=1 << 17)
    return stream


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the documents of one shard from its file, unpacked; see `documents`."""

    source: io.BufferedReader
    shard: Shard
    field: str
    damage: Counter[str]

    def documents(self) -> Iterator[PlacedText]:
        """Yield the documents of a file of its kind."""
        kind = kind_of(self.shard.path)
        if kind == "xml":
            return xml_documents(self.source, self.damage)
        kinds = {"jsonl": self._json_lines, "text": self._text_lines, "subtitles": self._cues}
        return kinds[kind]()

    def _lines(self) -> Iterator[tuple[int, str]]:
        """Yield (byte offset, line) of the lines in UTF-8 that begin in the shard."""
        offset, stop = self.shard.start, self.shard.stop
        if offset:
            self.source.seek(offset - 1)
            if self.source.read(1) != b"\n":
                offset += _line(self.source)[1]
        while stop is None or offset < stop:
            line, length = _line(self.source)
            if not length:
                return
            if length > LONGEST_LINE:
                self.damage[f"lines longer than {LONGEST_LINE >> 20} MB"] += 1
            else:
                try:
                    yield offset, line.decode("utf-8-sig" if offset == 0 else "utf-8")
                except UnicodeDecodeError:
                    self.damage["lines that are not UTF-8"] += 1
            offset += length

    def _text_lines(self) -> Iterator[PlacedText]:
        return ((f"byte {offset}", line) for offset, line in self._lines() if not line.isspace())

    def _json_lines(self) -> Iterator[PlacedText]:
        for place, line in self._text_lines():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                self.damage["lines that are no JSON object"] += 1
            elif not isinstance(record.get(self.field), str):
                self.damage[f"objects without text in the field '{self.field}'"] += 1
            else:
                # half a surrogate pair is no character, and no file in UTF-8 could hold it
                yield place, record[self.field].encode("utf-8", "replace").decode()

    def _cues(self) -> Iterator[PlacedText]:
        """Yield the lines of a SubRip file, joined up to a cue that ends a sentence."""
        joined: list[str] = []
        first = 1
        for last, cue in enumerate(self._each_cue(), start=1):
            joined.append(cue)
            if SENTENCE_END.search(cue) or len(joined) == CUES:
                yield f"cue {first}", " ".join(joined)
                joined, first = [], last + 1
        if joined:
            yield f"cue {first}", " ".join(joined)

    def _each_cue(self) -> Iterator[str]:
        cue: list[str] = []
        for _, line in chain(self._lines(), [(0, "")]):
            text = without_speaker_dash(line.strip())
            if text and not CUE.fullmatch(text):
                cue.append(text)
            elif not text and cue:
                yield " ".join(cue)
                cue = []


def _line(source: io.BufferedReader) -> tuple[bytes, int]:
    """Return the next line, or its beginning if it is too long, and its length."""
    line = source.readline(LONGEST_LINE + 1)
    length = len(line)
    while length > LONGEST_LINE and line and not line.endswith(b"\n"):
        line = source.readline(LONGEST_LINE)
        length += len(line)
    return line, length

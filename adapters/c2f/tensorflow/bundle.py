"""TensorFlow's checkpoint format (the tensor bundle, "V2"), read without TensorFlow.

``PREFIX.index`` is a LevelDB-style table: blocks of sorted keys, each followed by a checksum, and
a footer that says where the block of block handles is. Its values are protobuf messages that give
each variable's type, shape, place and checksum in ``PREFIX.data-SSSSS-of-NNNNN``, where the
tensors lie as they do in memory (tensorflow/core/util/tensor_bundle, tensorflow/core/lib/io/table).
Of protobuf's wire format there is just enough here to read these messages.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from crc32c import crc32c

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.errors import InputError

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
_WIDTHS = {FIXED64: 8, FIXED32: 4}
_LONGEST = 10
"""Bytes of the longest varint, which holds 64 bits."""


class MalformedError(ValueError):
    """Bytes that do not follow the format; the message says what is wrong with them."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of one message, as pairs of number and value in the order of the bytes."""

    pairs: Sequence[tuple[int, int | bytes]]

    def number(self, field: int) -> int:
        """Return a number's last value; 0 where the field is left out, as protobuf has it."""
        values = [value for number, value in self.pairs if number == field]
        if not values:
            return 0
        if isinstance(values[-1], bytes):
            raise MalformedError(f"field {field} of a message is no number")
        return values[-1]

    def messages(self, field: int) -> list[bytes]:
        """Return the bytes of every message in a repeated field."""
        values = [value for number, value in self.pairs if number == field]
        messages = [value for value in values if isinstance(value, bytes)]
        if len(messages) != len(values):
            raise MalformedError(f"field {field} of a message is no message")
        return messages


def parse_message(content: bytes) -> Fields:
    """Split a message into its fields; `MalformedError` where that is not possible."""
    pairs: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(content):
        tag, at = read_varint(content, at)
        kind = tag & 7
        if kind == VARINT:
            value, at = read_varint(content, at)
            pairs.append((tag >> 3, value))
            continue
        if kind == BYTES:
            size, at = read_varint(content, at)
        elif kind in _WIDTHS:
            size = _WIDTHS[kind]
        else:
            raise MalformedError(f"a message has a field of wire type {kind}")
        field = content[at : at + size]
        if len(field) < size:
            raise MalformedError("a message is cut off")
        pairs.append((tag >> 3, field if kind == BYTES else int.from_bytes(field, "little")))
        at += size
    return Fields(pairs)


def read_varint(content: bytes, start: int) -> tuple[int, int]:
    """Return the number that begins at `start`, and where the next thing begins."""
    value = 0
    for at in range(start, min(start + _LONGEST, len(content))):
        value |= (content[at] & 0x7F) << 7 * (at - start)
        if content[at] < 0x80:
            return value, at + 1
    raise MalformedError("a number is cut off")


FOOTER = 48
MAGIC = 0xDB4775248B80FB57.to_bytes(8, "little")
TRAILER = 5
"""A block's compression type (one byte) and its masked checksum (four)."""

DTYPES: dict[int, str] = {
    1: "<f4",
    2: "<f8",
    3: "<i4",
    4: "|u1",
    5: "<i2",
    6: "|i1",
    9: "<i8",
    10: "|b1",
    17: "<u2",
    19: "<f2",
    22: "<u4",
    23: "<u8",
}
"""NumPy's names for the members of TensorFlow's DataType that have one and a fixed size."""

REPLACE = "download or copy the checkpoint again"


class Handle(NamedTuple):
    """Where a block lies in the index file, without its trailer."""

    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Entry:
    """What the index says of one variable (BundleEntryProto)."""

    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    checksum: int


def read_bundle(prefix: Path) -> dict[str, np.ndarray]:
    """Read every variable of a checkpoint, with all checksums verified.

    Args:
        prefix: the checkpoint's path without ``.index``, such as ``logs/best/model.max.ckpt``.

    Returns:
        The variables by name, in the order of their names, as read-only arrays that are mapped
        from the data files, so that only what is used takes memory.
    """
    index = prefix.with_name(f"{prefix.name}.index")
    try:
        header, entries = _read_index(_content(index))
    except MalformedError as error:
        raise InputError(str(error), cure=REPLACE, file=index) from error
    files = [
        prefix.with_name(f"{prefix.name}.data-{shard:05}-of-{header:05}") for shard in range(header)
    ]
    shards = [_mapped(file) for file in files]
    variables = {}
    for name, entry in entries.items():
        if entry.shard >= len(shards):
            raise InputError("it names a shard that does not exist", cure=REPLACE, file=index)
        try:
            variables[name] = _tensor(shards[entry.shard], entry)
        except MalformedError as error:
            file = files[entry.shard]
            raise InputError(str(error), cure=REPLACE, file=file, row=f"variable {name}") from error
    return variables


def unmasked(checksum: int) -> int:
    """Undo LevelDB's masking, which keeps checksums of checksums from being regular."""
    rotated = (checksum - 0xA282EAD8) & 0xFFFFFFFF
    return (rotated << 15 | rotated >> 17) & 0xFFFFFFFF


def _content(file: Path) -> bytes:
    cause = "there is no such index of a TensorFlow checkpoint"
    cure = "give the path without .index and .data-00000-of-00001"
    with input_error_on(OSError, cause=cause, cure=cure, file=file, quoted=False):
        return file.read_bytes()


def _mapped(file: Path) -> np.ndarray:
    cause, cure = "the data file is missing", "put it next to the .index file"
    with input_error_on(OSError, cause=cause, cure=cure, file=file, quoted=False):
        # an empty file cannot be mapped
        empty = file.stat().st_size == 0
        return np.empty(0, np.uint8) if empty else np.memmap(file, np.uint8, mode="r")


def _tensor(shard: np.ndarray, entry: Entry) -> np.ndarray:
    content = shard[entry.offset : entry.offset + entry.size]
    if len(content) < entry.size:
        raise MalformedError("the file is cut off")
    if crc32c(content.data) != entry.checksum:
        raise MalformedError("its checksum is wrong, so the file is damaged")
    return np.frombuffer(content, entry.dtype).reshape(entry.shape)


def _read_index(content: bytes) -> tuple[int, dict[str, Entry]]:
    """Return the number of data files, and what the index says of each variable."""
    metaindex, index = _footer(content)
    handles = [_handle(value, 0)[0] for _, value in _block(content, index)]
    _require_seamless([*handles, metaindex, index], len(content))
    _block(content, metaindex)
    rows = [row for handle in handles for row in _block(content, handle)]
    if not rows or rows[0][0] != b"":
        raise MalformedError("the index has no header")
    if any(earlier >= later for (earlier, _), (later, _) in pairwise(rows)):
        raise MalformedError("the index is not sorted")
    header = parse_message(rows[0][1])
    if header.number(2):
        raise MalformedError("the checkpoint was written on a big-endian machine")
    return header.number(1), {_text(key): _entry(key, value) for key, value in rows[1:]}


def _footer(content: bytes) -> tuple[Handle, Handle]:
    if len(content) < FOOTER or content[-len(MAGIC) :] != MAGIC:
        raise MalformedError("the index is cut off, or is no index of a TensorFlow checkpoint")
    footer = content[-FOOTER : -len(MAGIC)]
    metaindex, end = _handle(footer, 0)
    index, end = _handle(footer, end)
    if any(footer[end:]):
        raise MalformedError("the footer of the index is damaged")
    return metaindex, index


def _handle(content: bytes, start: int) -> tuple[Handle, int]:
    offset, start = read_varint(content, start)
    size, start = read_varint(content, start)
    return Handle(offset, size), start


def _require_seamless(handles: list[Handle], length: int) -> None:
    """Refuse a table whose blocks leave bytes that no checksum covers."""
    end = 0
    for offset, size in sorted(handles):
        if offset != end:
            raise MalformedError("the blocks of the index do not follow each other")
        end = offset + size + TRAILER
    if end != length - FOOTER:
        raise MalformedError("the blocks of the index do not fill it")


def _block(content: bytes, handle: Handle) -> list[tuple[bytes, bytes]]:
    """Verify a block and return its keys and values; a key shares its start with the last one."""
    end = handle.offset + handle.size
    if end + TRAILER > len(content) - FOOTER or handle.size < 4:
        raise MalformedError("a block of the index lies outside of it")
    stored = int.from_bytes(content[end + 1 : end + TRAILER], "little")
    if crc32c(content[handle.offset : end + 1]) != unmasked(stored):
        raise MalformedError("the checksum of a block is wrong, so the index is damaged")
    if content[end] != 0:
        raise MalformedError("the index is compressed, which TensorFlow's checkpoints are not")
    return list(_rows(content[handle.offset : end]))


def _rows(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 - 4 * restarts
    at, key = 0, b""
    while at < end:
        shared, at = read_varint(block, at)
        unshared, at = read_varint(block, at)
        size, at = read_varint(block, at)
        key = key[:shared] + block[at : at + unshared]
        at += unshared + size
        if at > end:
            raise MalformedError("a block of the index is cut off")
        yield key, block[at - size : at]


def _entry(key: bytes, value: bytes) -> Entry:
    fields = parse_message(value)
    name, kind = _text(key), fields.number(1)
    if fields.messages(7):
        raise MalformedError(f"{name} is a partitioned variable, which these models do not have")
    if kind not in DTYPES:
        raise MalformedError(f"{name} has TensorFlow's type {kind}, which no weights have")
    dtype, shape = np.dtype(DTYPES[kind]), _shape(fields)
    shard, offset, size = map(fields.number, (3, 4, 5))
    if size != math.prod(shape) * dtype.itemsize:
        raise MalformedError(f"{name} has another size than its shape says")
    return Entry(dtype, shape, shard, offset, size, checksum=unmasked(fields.number(6)))


def _shape(fields: Fields) -> tuple[int, ...]:
    dimensions = [
        dimension for shape in fields.messages(2) for dimension in parse_message(shape).messages(2)
    ]
    return tuple(parse_message(dimension).number(1) for dimension in dimensions)


def _text(key: bytes) -> str:
    try:
        return key.decode()
    except UnicodeDecodeError as error:
        raise MalformedError("a variable has a name that is no text") from error

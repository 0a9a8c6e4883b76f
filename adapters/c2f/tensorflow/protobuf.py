"""Just enough of protobuf's wire format to read the messages of a tensor bundle."""

from collections.abc import Sequence
from dataclasses import dataclass

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

"""Damage to files, seeded: bits, lines, values, encodings, nesting, and Parquet from the inside."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

VALUE = re.compile(rb'-?\d+(?:\.\d+)?|"(?:[^"\\\n]|\\.)*"|\btrue\b|\bfalse\b|\bnull\b')
LONG = b"x" * 10_000_000
VALUES = [
    *(b"NaN", b"-Infinity", b"1e999", b"null", b"true", b"[]", b"{}", b"-1", b"0", b"2.5"),
    *(b'""', b'"x"', b'"\\ud800"', b'"\\u0000\\u001b[31m"', b'"../../../x"', b'"/tmp/x"'),
    *(b"1" + b"0" * 30, b"9" * 5_000, b"[[1, 2, 3]]", b'{"a": {"b": [null]}}', b'[["a", 1]]'),
    b"[" * 100_000 + b"]" * 100_000,
]
"""What a value of a JSON, TOML, CSV or other text is replaced by."""

Mutation = Callable[[bytes, Random], bytes]


def flipped_bits(content: bytes, chance: Random) -> bytes:
    changed = bytearray(content or b"\0")
    for _ in range(chance.randint(1, 8)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def truncated(content: bytes, chance: Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _lines(
    content: bytes, chance: Random, change: Callable[[list[bytes], int, int], None]
) -> bytes:
    lines = content.splitlines(keepends=True) or [b"\n"]
    change(lines, chance.randrange(len(lines)), chance.randrange(len(lines)))
    return b"".join(lines)


def duplicated_line(content: bytes, chance: Random) -> bytes:
    return _lines(content, chance, lambda lines, one, other: lines.insert(other, lines[one]))


def swapped_lines(content: bytes, chance: Random) -> bytes:
    def swap(lines: list[bytes], one: int, other: int) -> None:
        lines[one], lines[other] = lines[other], lines[one]

    return _lines(content, chance, swap)


def lost_line(content: bytes, chance: Random) -> bytes:
    return _lines(content, chance, lambda lines, one, _: lines.pop(one) and None)


def other_value(content: bytes, chance: Random) -> bytes:
    found = [*VALUE.finditer(content[:500_000])]
    if not found:
        return content + chance.choice(VALUES)
    place = chance.choice(found)
    return content[: place.start()] + chance.choice(VALUES) + content[place.end() :]


def swapped_values(content: bytes, chance: Random) -> bytes:
    found = [*VALUE.finditer(content[:500_000])]
    if len(found) < 2:
        return content[::-1]
    first, second = sorted(chance.sample(found, 2), key=lambda match: match.start())
    middle = content[first.end() : second.start()]
    return b"".join(
        (content[: first.start()], second[0], middle, first[0], content[second.end() :])
    )


def with_mark(content: bytes, _: Random) -> bytes:
    return b"\xef\xbb\xbf" + content


def in_utf16(content: bytes, _: Random) -> bytes:
    return content.decode("utf-8", "replace").encode("utf-16")


def nested(_: bytes, chance: Random) -> bytes:
    opening, closing = chance.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")])
    return opening * 100_000 + b"1" + closing * 100_000 + b"\n"


def long_line(content: bytes, chance: Random) -> bytes:
    return _lines(content, chance, lambda lines, one, _: lines.insert(one, LONG + b"\n"))


def long_value(content: bytes, chance: Random) -> bytes:
    found = [*VALUE.finditer(content[:500_000])]
    if not found:
        return content + LONG
    place = chance.choice(found)
    return content[: place.start()] + b'"' + LONG + b'"' + content[place.end() :]


def noise(content: bytes, chance: Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.randbytes(chance.randint(1, 40)) + content[at:]


def empty(_: bytes, chance: Random) -> bytes:
    return b"\n" * chance.randrange(2)


MUTATIONS: Sequence[Mutation] = (
    *(flipped_bits, truncated, duplicated_line, swapped_lines, lost_line, swapped_values),
    *(other_value, other_value, other_value, other_value, other_value, with_mark, in_utf16),
    *(nested, long_line, long_value, noise, empty),
)


def mutate(file: Path, chance: Random) -> str:
    """Damage a file, and say how."""
    if file.suffix == ".parquet" and chance.random() < 0.7:
        return _mutate_table(file, chance)
    mutation = chance.choice(MUTATIONS)
    file.write_bytes(mutation(file.read_bytes(), chance))
    return mutation.__name__


def _mutate_table(file: Path, chance: Random) -> str:
    """Write a Parquet file again with other metadata, types, columns or rows."""
    table = pq.read_table(file)
    name = chance.choice(table.column_names)
    change = chance.choice([_metadata, _retyped, _dropped, _nulls, _repeated, _renamed, _values])
    try:
        pq.write_table(change(table, name, chance), file)
    except pa.ArrowException:  # that kind of column does not go
        pq.write_table(table.drop_columns([name]), file)
    return f"{change.__name__} {name}"


def _metadata(table: pa.Table, _: str, chance: Random) -> pa.Table:
    told = dict(table.schema.metadata or {b"pronominal": b'{"dataset": "sample"}'})
    key = chance.choice([*told])
    told[key] = chance.choice(MUTATIONS)(told[key], chance)[:200_000]
    return table.replace_schema_metadata(told)


def _retyped(table: pa.Table, name: str, chance: Random) -> pa.Table:
    kind = chance.choice([pa.string(), pa.int64(), pa.float32(), pa.bool_(), pa.list_(pa.int64())])
    values = [None] * table.num_rows if chance.random() < 0.3 else None
    column = pa.array(values, kind) if values else table[name].cast(kind)
    return table.set_column(table.column_names.index(name), name, column)


def _dropped(table: pa.Table, name: str, _: Random) -> pa.Table:
    return table.drop_columns([name])


def _nulls(table: pa.Table, name: str, chance: Random) -> pa.Table:
    values = table[name].to_pylist()
    values[chance.randrange(len(values))] = None
    column = pa.array(values, table.schema.field(name).type)
    return table.set_column(table.column_names.index(name), name, column)


def _repeated(table: pa.Table, _: str, chance: Random) -> pa.Table:
    row = table.slice(chance.randrange(table.num_rows), 1)
    return pa.concat_tables([table, *[row] * chance.randint(1, 3)])


def _renamed(table: pa.Table, name: str, chance: Random) -> pa.Table:
    other = chance.choice([*table.column_names, "", "\x1b[31m"])
    return table.rename_columns([other if one == name else one for one in table.column_names])


def _values(table: pa.Table, name: str, chance: Random) -> pa.Table:
    """Swap two values of a column, or change one inside."""
    values = table[name].to_pylist()
    one, other = chance.randrange(len(values)), chance.randrange(len(values))
    values[one], values[other] = values[other], values[one]
    kept, kind = values[one], table.schema.field(name).type
    try:
        values[one] = json.loads(other_value(json.dumps(kept, default=str).encode(), chance))
        column = pa.array(values, kind)
    except (ValueError, TypeError, OverflowError, RecursionError):  # not JSON, or not for Parquet
        values[one] = kept
        column = pa.array(values, kind)
    return table.set_column(table.column_names.index(name), name, column)

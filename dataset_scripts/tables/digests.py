"""Content digests: what a table holds, whatever wrote it and however it is chunked."""

import hashlib
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pronominal.arrow_numbers import nulls, numbers
from pronominal.dataset_scripts.tables.usual_types import in_usual_type

BLOCK = 50_000
"""Rows in one block of a digest and in one row group of a Parquet file."""

EMPTY = pa.Array.from_buffers(pa.large_binary(), 1, [None, *map(pa.py_buffer, (bytes(16), b""))])[0]
"""No bytes; `pa.scalar` would import pandas."""


class ContentDigest:
    """SHA-256 over the values of a table, fed in blocks of `BLOCK` rows.

    For each block and, in it, each column in order, the hash takes: the number of nulls (8 bytes)
    and, if there are any, one byte for each row (1 = null); then for strings the byte lengths
    (int32) and the UTF-8 bytes, for integers int64 values, for lists the lengths (int32) and the
    digest input of all elements, for structs that of each field. Numbers are little endian; the
    value under a null is empty or 0. No part depends on pyarrow's version, on chunks or slices.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def update(self, block: pa.Table) -> None:
        """Take the next block; every block but the last one has `BLOCK` rows."""
        for column in block.columns:
            # combining a single chunk would copy it
            self._take(column.chunk(0) if column.num_chunks == 1 else column.combine_chunks())

    def hexdigest(self) -> str:
        """Return the digest of everything taken so far, 64 hexadecimal digits."""
        return self._hash.hexdigest()

    def _take(self, values: pa.Array) -> None:
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks)
        values = _plain(values)
        self._hash.update(np.int64(values.null_count).tobytes())
        if values.null_count:
            self._hash.update(nulls(values).astype(np.uint8).tobytes())
        if pa.types.is_struct(values.type):
            for field in values.flatten():
                self._take(field)
        elif pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
            self._hash.update(numbers(values.value_lengths()).astype("<i4").tobytes())
            self._take(values.flatten())
        elif pa.types.is_integer(values.type):
            self._hash.update(numbers(values).astype("<i8").tobytes())
        elif pa.types.is_floating(values.type):
            self._hash.update(numbers(values).astype("<f8").tobytes())
        else:
            self._strings(values)

    def _strings(self, values: pa.Array) -> None:
        values = pc.coalesce(values.cast(pa.large_binary()), EMPTY)
        if not len(values):
            return
        _, borders, content = values.buffers()
        offsets = np.frombuffer(borders, dtype="<i8")[values.offset :][: len(values) + 1]
        self._hash.update(np.diff(offsets).astype("<i4").tobytes())
        if content is not None:
            self._hash.update(memoryview(content)[offsets[0] : offsets[-1]])


def _plain(values: pa.Array) -> pa.Array:
    """Return values as the digest takes them: lists and structs, strings and numbers."""
    # before nulls are counted: a null may also be an entry of a dictionary
    values = in_usual_type(values)
    if pa.types.is_boolean(values.type):
        return values.cast(pa.int8())
    written = pa.types.is_temporal(values.type) or pa.types.is_decimal(values.type)
    return values.cast(pa.string()) if written else values


def blocks(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Cut a stream of tables into contiguous blocks of exactly `BLOCK` rows, the last one less."""
    waiting: list[pa.Table] = []
    rows = 0
    for table in tables:
        if not rows and table.num_rows == BLOCK and all(c.num_chunks == 1 for c in table.columns):
            yield table  # as it was written: copying it would take its memory twice
            del table  # nor is it kept beside the next one
            continue
        waiting.append(table)
        rows += table.num_rows
        while rows >= BLOCK:
            joined = pa.concat_tables(waiting)
            yield joined.slice(0, BLOCK).combine_chunks()
            waiting = [joined.slice(BLOCK)]
            rows -= BLOCK
    if rows:
        yield pa.concat_tables(waiting).combine_chunks()


def content_digest(table: pa.Table) -> str:
    """Return the content digest of a whole table."""
    digest = ContentDigest()
    for block in blocks([table]):
        digest.update(block)
    return digest.hexdigest()

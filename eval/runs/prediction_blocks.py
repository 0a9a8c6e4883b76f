"""Predictions as columns: what millions of lines say, without an object for each of them.

What Arrow reads here is what `read_predictions` reads line by line. A file with anything else in
it, such as clusters, an unusual line or a wrong one, is not `PLAIN`: whoever reads it goes through
its lines, and says what is wrong with which.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from pronominal.arrow_numbers import nulls, numbers
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import Abstention, Decision
from pronominal.errors import os_errors
from pronominal.eval.runs.predictions import predictions_file, refuse_incomplete
from pronominal.eval.statistics.groups import distinct
from pronominal.eval.statistics.outcomes import FloatArray

BLOCK = 1 << 20
"""Bytes of a file that are columns at a time."""

PLAIN = pa.schema([
    ("id", pa.string()),
    ("choice", pa.int64()),
    ("abstained", pa.string()),
    ("scores", pa.list_(pa.float64())),
])  # fmt: skip
"""The fields of a plain line; those after the id may be null or missing."""

ABSTENTIONS = get_args(Abstention)


class NotPlainError(Exception):
    """A file has to be read line by line."""


def prediction_blocks(path: Path) -> Iterator[pa.Table]:
    """Yield the predictions of a file, or of a run's folder, as tables with the columns `PLAIN`.

    Each has an id, and either a choice or an abstention.

    Raises:
        NotPlainError: the file has other lines; nothing that was yielded holds then.
        InputError: it cannot be read, or is not what its run ended with.
    """
    file = predictions_file(path)
    refuse_incomplete(file)
    rest = b""
    with os_errors(file, "give a predictions file"), file.open("rb") as lines:
        while read := lines.read(BLOCK):
            whole, end, begun = read.rpartition(b"\n")
            if not end:
                rest += read
                continue
            yield _columns(rest + whole)
            pa.default_memory_pool().release_unused()  # else every block before stays, too
            rest = begun
    if rest:
        yield _columns(rest)


def _columns(lines: bytes) -> pa.Table:
    """Return the columns of whole lines, which are given without the last one's end."""
    options = pj.ParseOptions(explicit_schema=PLAIN, unexpected_field_behavior="error")
    whole = pj.ReadOptions(use_threads=False, block_size=len(lines) + 1)
    try:
        table = pj.read_json(pa.BufferReader(lines), read_options=whole, parse_options=options)
        table.validate(full=True)  # that its words are UTF-8
    except pa.ArrowException as error:
        raise NotPlainError from error
    # objects that share a line, or are spread over several, are no predictions
    borders = lines.count(b"\n")
    alone = lines.startswith(b"{") and lines.endswith(b"}") and lines.count(b"}\n{") == borders
    chosen, abstained = table["choice"].is_valid(), table["abstained"].is_valid()
    if (
        not alone
        or table.num_rows != borders + 1
        or table["id"].null_count
        or not pc.all(pc.xor(chosen, abstained)).as_py()
        or not {*table["abstained"].drop_null().unique().to_pylist()} <= {*ABSTENTIONS}
    ):
        raise NotPlainError
    return table


def decisions_in_order(path: Path, split: Split) -> list[Decision] | None:
    """Return the decisions of a file that has every row of a split, in order; None of another."""
    found: list[Decision] = []
    rows = split.column_blocks(["id", split.choices_column])
    asked = pa.table({})
    with suppress(NotPlainError):
        for block in prediction_blocks(path):
            while asked.num_rows < block.num_rows and (more := next(rows, None)) is not None:
                asked = pa.concat_tables([asked, more]) if asked.num_rows else more
            answered, asked = asked.slice(0, block.num_rows), asked.slice(block.num_rows)
            if not answered["id"].equals(block["id"]):
                return None
            most = pc.list_value_length(answered[split.choices_column])
            choices = block["choice"].combine_chunks()
            outside = (numbers(choices) < 0) | (numbers(choices) >= numbers(most))
            if (outside & ~nulls(choices)).any():  # nulls are abstentions
                return None
            found += _decisions(block)
        return found if len(found) == split.num_rows else None
    return None


def _decisions(block: pa.Table) -> Iterator[Decision]:
    """Yield the decisions of a block; equal ones are one object."""
    choices, (words, codes) = numbers(block["choice"]), distinct(block["abstained"])
    known = [Decision(choice) for choice in range(int(choices.max(initial=-1)) + 1)]
    first = len(known)
    known += [Decision(None, why) for why in ABSTENTIONS]
    places = np.array([-1 if why is None else first + ABSTENTIONS.index(why) for why in words])
    abstained = places[codes]
    return map(known.__getitem__, np.where(abstained < 0, choices, abstained).tolist())


def plain_counts(path: Path) -> dict[str, int] | None:
    """Return how many predictions a plain file has, as ``rows``, and how many of each abstention.

    None of a file that has to be read line by line.
    """
    counts = dict.fromkeys(("rows", *ABSTENTIONS), 0)
    try:
        for block in prediction_blocks(path):
            counts["rows"] += block.num_rows
            for found in block["abstained"].drop_null().value_counts().to_pylist():
                counts[found["values"]] += found["counts"]
    except NotPlainError:
        return None
    return counts


def score_blocks(path: Path) -> Iterator[FloatArray]:
    """Yield the scores of a file, shape ``[rows, options]``; see `prediction_blocks`.

    Raises:
        NotPlainError: also where lines have no scores, or not all as many in a block.
    """
    for block in prediction_blocks(path):
        scores = block["scores"].combine_chunks()
        lengths = np.unique(numbers(pc.list_value_length(scores)))
        values = scores.flatten()
        if len(lengths) != 1 or lengths[0] < 1 or values.null_count:
            raise NotPlainError
        yield numbers(values).reshape(-1, lengths[0])

"""What may be wrong with a dataset's table, by row: columns, offsets, labels."""

from collections import Counter
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from pronominal.arrow_numbers import numbers
from pronominal.dataset_scripts.tables.columns import Columns
from pronominal.spans import Mention

Fault = tuple[int | None, str]
"""A row, or None for the table as a whole, and what is wrong."""

NEVER_NULL = (
    *("id", "text", "pronoun", "candidates", "label"),
    *("case", "pronoun_set", "template_id", "pair_id", "occupation"),
)


def schema_faults(schema: pa.Schema, columns: Columns) -> Iterator[str]:
    """Yield what is wrong with columns: one is missing, there twice, or of another type."""
    twice = {name for name, times in Counter(schema.names).items() if times > 1}
    yield from (f"the column '{name}' is there twice" for name in sorted(twice))
    for column in columns:
        if column.name not in schema.names:
            yield f"the column '{column.name}' is missing"
        elif column.name not in twice and schema.field(column.name).type != column.type:
            held = schema.field(column.name).type
            yield f"the column '{column.name}' holds {held}, not {column.type}"


def column_faults(table: pa.Table, columns: Columns) -> Iterator[Fault]:
    """Yield (row or None, what is wrong) where a table has not the columns of its dataset."""
    wrong = [*schema_faults(table.schema, columns)]
    yield from ((None, fault) for fault in wrong)
    if wrong:
        return
    for column in columns:
        values = table[column.name]
        if column.name in NEVER_NULL and values.null_count:
            yield values.to_pylist().index(None), f"the column '{column.name}' has no value"
        elif column.labels:
            known = range(len(column.labels))
            for row, label in enumerate(values.to_pylist()):
                if label not in known:
                    yield row, f"the {column.name} {label} is not one of {', '.join(column.labels)}"


def mention_faults(table: pa.Table) -> Iterator[tuple[int, str]]:
    """Yield (row, what is wrong) for offsets that miss their mention."""
    if not {"pronoun", "candidates"} <= set(table.column_names):
        return
    if _all_stand(table):
        return
    columns = (table[name].to_pylist() for name in ("text", "pronoun", "candidates"))
    for row, (text, pronoun, candidates) in enumerate(zip(*columns, strict=True)):
        if len(candidates) != 2:
            yield row, f"{len(candidates)} candidates instead of two"
        for mention in map(Mention._make, map(dict.values, (pronoun, *candidates))):
            if mention.span != (-1, -1) and not mention.stands_in(text):
                yield row, f"the offsets {mention.start}:{mention.end} do not hold their mention"


def _all_stand(table: pa.Table) -> bool:
    """Whether every row has two candidates, and the text each mention at its offsets."""
    candidates = table["candidates"]
    if (numbers(pc.list_value_length(candidates)) != 2).any():
        return False
    texts, both = table["text"].to_pylist(), pc.list_flatten(candidates)
    if len(both) != 2 * len(texts):  # there are nulls
        return False
    return _stand(texts, table["pronoun"]) and _stand([t for t in texts for _ in "12"], both)


def _stand(texts: Sequence[str], mentions: pa.ChunkedArray) -> bool:
    if mentions.null_count or any(field.null_count for field in mentions.flatten()):
        return False
    fields = (pc.struct_field(mentions, name).to_pylist() for name in ("text", "start", "end"))
    return all(
        (start, end) == (-1, -1)
        or (start >= 0 and text[start:end] == word and start + len(word) == end)
        for text, word, start, end in zip(texts, *fields, strict=True)
    )

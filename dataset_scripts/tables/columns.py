"""Columns of the published tables: one definition for Parquet, `datasets` features and card."""

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

MENTION = pa.struct([("text", pa.string()), ("start", pa.int32()), ("end", pa.int32())])
"""A mention: its string and its half-open offsets in ``text``, -1 and -1 when not located."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a published table.

    Attributes:
        name: as users see it.
        type: Arrow type; `int64` for class labels.
        meaning: one sentence for the card.
        labels: the class names of a ClassLabel, in index order; None for any other column.
    """

    name: str
    type: pa.DataType
    meaning: str
    labels: tuple[str, ...] | None = None


Columns = tuple[Column, ...]

CANARY = Column("canary", pa.string(), "the same in every row: find it in a corpus, and it leaked")
"""Closes every published table; its value is the GUID of the dataset's card."""


def resolution_columns(candidates: str, labels: tuple[str, ...]) -> Columns:
    """Return the columns that every resolution dataset begins with.

    `candidates` says for the card what candidates 0 and 1 are; `labels` are the class names of the
    label, of which a third one means that neither candidate is right.
    """
    return (
        Column("id", pa.string(), "unique in its config, the same in every version"),
        Column("text", pa.string(), "the sentence or passage, as upstream has it"),
        Column("pronoun", MENTION, "the pronoun to resolve and its offsets in `text`"),
        Column("candidates", pa.list_(MENTION), candidates),
        Column("label", pa.int64(), "index of the right candidate", labels),
    )


def arrow_schema(columns: Columns, facts: dict[str, str]) -> pa.Schema:
    """Return the Arrow schema with the metadata that `datasets` and we read back.

    `facts` are what the file says of itself (dataset, config, split), kept under ``pronominal``.
    """
    features = {column.name: _feature(column.type, column.labels) for column in columns}
    metadata = {
        "huggingface": json.dumps({"info": {"features": features}}),
        "pronominal": json.dumps(facts, sort_keys=True),
    }
    fields = [pa.field(column.name, column.type) for column in columns]
    return pa.schema(fields, metadata=metadata)


def card_features(columns: Columns) -> list[dict[str, Any]]:
    """Return the ``dataset_info.features`` list of a card's YAML header."""
    return [_yaml_feature(column.name, column.type, column.labels) for column in columns]


def _feature(kind: pa.DataType, labels: tuple[str, ...] | None = None) -> dict[str, Any]:
    if labels is not None:
        return {"names": list(labels), "_type": "ClassLabel"}
    if pa.types.is_struct(kind):
        return {field.name: _feature(field.type) for field in kind}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    return {"dtype": str(kind), "_type": "Value"}


def _yaml_feature(name: str, kind: pa.DataType, labels: tuple[str, ...] | None) -> dict[str, Any]:
    if labels is not None:
        names = {str(index): label for index, label in enumerate(labels)}
        return {"name": name, "dtype": {"class_label": {"names": names}}}
    if pa.types.is_struct(kind):
        return {"name": name, "struct": [_yaml_feature(f.name, f.type, None) for f in kind]}
    if pa.types.is_list(kind):
        element = _yaml_feature(name, kind.value_type, None)
        return {"name": name, "list": element.get("struct") or element["dtype"]}
    return {"name": name, "dtype": str(kind)}

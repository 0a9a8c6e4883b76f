"""JSON on disk: written whole, and read into objects and typed records."""

import json
import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from pronominal.atomic import new_file
from pronominal.errors import InputError, os_errors
from pronominal.text_files import decoded

Record = TypeVar("Record")

SURROGATE = re.compile(r"\\u[dD][89abcdefABCDEF]")
"""How JSON writes the halves of characters beyond U+FFFF."""

KINDS: dict[Any, tuple[tuple[type, ...], str]] = {
    str: ((str,), "a string"),
    bool: ((bool,), "true or false"),
    int: ((int,), "an integer"),
    float: ((int, float), "a number"),
}
"""A field's type -> the types that JSON may have for it, and how an error names them."""


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write one JSON object, whole or not at all."""
    with new_file(path) as beside:
        beside.write_text(
            json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8", newline="\n"
        )


def read_object(path: Path, *, cure: str) -> dict[str, Any]:
    """Return the object that a file holds; `InputError` as in `parse_object`, or if it is gone."""
    with os_errors(path, cure, "it cannot be read"):
        content = path.read_bytes()
    return parse_object(content, file=path, cure=cure)


def parse_object(
    content: bytes, *, file: str | Path, cure: str, row: str | None = None
) -> dict[str, Any]:
    """Return the object of a JSON text in UTF-8, which is one line of its file if `row` names it.

    Raises:
        InputError: as in `parse_json`, or it is no object.
    """
    parsed = parse_json(content, file=file, cure=cure, row=row)
    if not isinstance(parsed, dict):
        subject = "it" if row is None else "the line"
        raise InputError(f"{subject} is not a JSON object", cure=cure, file=file, row=row)
    return parsed


def parse_json(content: bytes, *, file: str | Path, cure: str, row: str | None = None) -> Any:
    """Return the value of a JSON text in UTF-8, which is one line of its file if `row` names it.

    Raises:
        InputError: it is no JSON in UTF-8, is nested too deeply to be read, or holds half a
            surrogate pair, which is no character and which no file could hold.
    """
    subject = "it" if row is None else "the line"
    text = decoded(content, file=file, row=row, cure=cure)
    try:
        parsed = json.loads(text)
        if SURROGATE.search(text):
            json.dumps(parsed, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        cause = f"{subject} holds half a character"
        raise InputError(cause, cure=cure, file=file, row=row) from error
    except json.JSONDecodeError as error:
        where = row or f"line {error.lineno}"
        raise InputError(f"{subject} is not valid JSON", cure=cure, file=file, row=where) from error
    except (ValueError, RecursionError) as error:
        # numbers of thousands of digits, and nesting
        raise InputError(f"{subject} is not valid JSON", cure=cure, file=file, row=row) from error
    return parsed


def as_record(
    kind: type[Record], content: Mapping[str, Any], *, file: Path, cure: str, row: str | None = None
) -> Record:
    """Return a JSON object as a dataclass, whose type hints say what each field may hold.

    They may be strings, numbers, truth values, other dataclasses, ``tuple[X, ...]`` for lists,
    ``Mapping[str, X]`` for objects, ``X | None`` and ``Any``. Fields with a default may be left
    out; names that the dataclass does not have are ignored.

    Raises:
        InputError: a field is missing or holds something else; it is named as ``dataset.rows``.
    """
    try:
        return _record(kind, content, "")
    except _MismatchError as error:
        raise InputError(str(error), cure=cure, file=file, row=row) from None
    except InputError as error:
        # what the dataclass itself refuses
        raise InputError(error.cause, cure=error.cure, file=file, row=row) from None


class _MismatchError(Exception):
    """A value that its field cannot hold."""


def _record(kind: type[Record], content: Any, path: str) -> Record:
    if not isinstance(content, Mapping):
        raise _MismatchError(f"the field {path} is not an object")
    hints, values = get_type_hints(kind), {}
    for field in fields(kind):  # type: ignore[arg-type]
        name = f"{path}.{field.name}" if path else field.name
        if field.name in content:
            values[field.name] = _value(hints[field.name], content[field.name], name)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise _MismatchError(f"the field {name} is missing")
    return kind(**values)


def _value(kind: Any, content: Any, path: str) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any or (content is None and type(None) in inner):
        return content
    if origin is types.UnionType:
        return _value(inner[0], content, path)
    if origin is tuple and isinstance(content, list):
        return tuple(_value(inner[0], value, f"{path}[{i}]") for i, value in enumerate(content))
    if origin is Mapping and isinstance(content, dict):
        return {key: _value(inner[1], value, f"{path}.{key}") for key, value in content.items()}
    if is_dataclass(kind):
        return _record(kind, content, path)  # type: ignore[arg-type]
    allowed, words = KINDS.get(kind, ((), "a list" if origin is tuple else "an object"))
    if not isinstance(content, allowed) or (isinstance(content, bool) and kind is not bool):
        raise _MismatchError(f"the field {path} is not {words}")
    return content

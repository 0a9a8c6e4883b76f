"""JSON that anybody may have written becomes typed records, or one line that names the field."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from pronominal.errors import InputError
from pronominal.json_files import as_record, parse_object, read_object, write_json

FILE = Path("box.json")


@dataclass(frozen=True, slots=True)
class Lid:
    colour: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    name: str
    litres: float
    apples: int
    lid: Lid
    owner: str | None
    layers: tuple[tuple[int, ...], ...]
    lids: tuple[Lid, ...]
    weights: Mapping[str, int]
    notes: Mapping[str, Any]
    spare: Lid | None = None

    def __post_init__(self) -> None:
        if not self.name:
            raise InputError("a box has a name", cure="give it one")


BOX = Box("a", 2.5, 3, Lid("red"), None, ((1, 2), ()), (Lid("blue", True),), {"x": 1}, {"y": [{}]})
CONTENT = json.loads(json.dumps(asdict(BOX)))


def record(content: Mapping[str, Any]) -> Box:
    return as_record(Box, content, file=FILE, cure="mend it")


def test_what_was_written_is_read(tmp_path: Path) -> None:
    write_json(tmp_path / "box.json", asdict(BOX))
    read = record(read_object(tmp_path / "box.json", cure="mend it"))
    assert record(CONTENT) == BOX
    assert asdict(read) | {"layers": (), "lids": ()} == asdict(BOX) | {"layers": (), "lids": ()}
    assert (read.layers, read.lids) == (BOX.layers, BOX.lids)


def test_defaults_may_be_left_out_and_other_names_are_ignored() -> None:
    content = {key: value for key, value in CONTENT.items() if key != "spare"}
    assert record({**content, "later": 1}) == BOX
    assert record({**CONTENT, "litres": 2}).litres == 2


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"name": 1}, "the field name is not a string"),
        ({"name": None}, "the field name is not a string"),
        ({"name": ""}, "a box has a name; give it one"),
        ({"litres": "2"}, "the field litres is not a number"),
        ({"litres": True}, "the field litres is not a number"),
        ({"apples": 1.0}, "the field apples is not an integer"),
        ({"apples": False}, "the field apples is not an integer"),
        ({"owner": 1}, "the field owner is not a string"),
        ({"lid": None}, "the field lid is not an object"),
        ({"lid": []}, "the field lid is not an object"),
        ({"lid": {}}, "the field lid.colour is missing"),
        ({"lid": {"colour": "red", "open": 1}}, "the field lid.open is not true or false"),
        ({"layers": {}}, "the field layers is not a list"),
        ({"layers": [[1], [2, "3"]]}, r"the field layers\[1\]\[1\] is not an integer"),
        ({"lids": [{"colour": "red"}, 1]}, r"the field lids\[1\] is not an object"),
        ({"weights": {"x": None}}, r"the field weights.x is not an integer"),
        ({"weights": [1]}, r"the field weights is not an object"),
        ({"notes": "n"}, r"the field notes is not an object"),
        ({"spare": {"colour": 1}}, r"the field spare.colour is not a string"),
    ],
)
def test_what_does_not_fit_is_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=rf"^box.json: {message}"):
        record({**CONTENT, **changed})


@pytest.mark.parametrize("field", [key for key in CONTENT if key != "spare"])
def test_what_is_missing_is_named(field: str) -> None:
    with pytest.raises(InputError, match=rf"^box.json: the field {field} is missing; mend it$"):
        record({key: value for key, value in CONTENT.items() if key != field})


DEPTH = 200_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "valid JSON"),
        (b"{", "valid JSON"),
        (b"\xff{}", "UTF-8"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b"[" * DEPTH + b"]" * DEPTH, "valid JSON"),
        (b'{"a":' * DEPTH + b"1" + b"}" * DEPTH, "valid JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "valid JSON"),
        (b"[]", "a JSON object"),
        (b"null", "a JSON object"),
    ],
    ids=range(9),
)
def test_damaged_json_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=rf"^box.json(, line 1)?: (it|the text) is not {message}; mend it$"
    ):
        parse_object(content, file=FILE, cure="mend it")
    with pytest.raises(
        InputError, match=rf"^box.json, line 3: the (line|text) is not {message}; mend"
    ):
        parse_object(content, file=FILE, cure="mend it", row="line 3")
    (tmp_path / "box.json").write_bytes(content)
    with pytest.raises(InputError, match=r"(it|the text) is not"):
        read_object(tmp_path / "box.json", cure="mend it")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "gone.json"):
        with pytest.raises(InputError, match="it cannot be read"):
            read_object(path, cure="mend it")

"""What every built folder promises: it loads, its card tells the truth, its bytes repeat.

The datasets' own tests say whether the rows are right. A failing assert prints what stands in it,
so rows are compared before it.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import SplitRows, dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.tables import digests
from pronominal.dataset_scripts.tables.columns import MENTION, Column, arrow_schema, card_features
from pronominal.dataset_scripts.tables.digests import content_digest

datasets = pytest.importorskip("datasets")


@pytest.fixture(scope="module", params=DATASETS)
def folder(request: pytest.FixtureRequest, built: Callable[[str], Path]) -> Path:
    return built(str(request.param))


def header(folder: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((folder / "README.md").read_text().split("---\n")[1]))


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_every_config_and_split_loads_as_the_card_says(folder: Path, tmp_path: Path) -> None:
    card = header(folder)
    paths = {
        (config["config_name"], entry["split"]): entry["path"]
        for config in card["configs"]
        for entry in config["data_files"]
    }
    loaded = set()
    for info in card["dataset_info"]:
        config = info["config_name"]
        found = datasets.load_dataset(str(folder), config, cache_dir=str(tmp_path))
        declared = {split["name"]: split["num_examples"] for split in info["splits"]}
        assert {name: len(rows) for name, rows in found.items()} == declared
        loaded |= {(config, name) for name in found}
        features = datasets.Features._from_yaml_list(info["features"])
        for name, rows in found.items():
            # the file's own schema, which the card's features would otherwise override
            schema = pq.read_schema(folder / paths[config, name])
            assert rows.features == features == datasets.Features.from_arrow_schema(schema)
            assert info["features"] == features._to_yaml_list()
    assert loaded == set(paths)
    described = {*paths.values(), "README.md", "SHA256SUMS", "croissant.json"}
    assert described == files(folder) - {"eval.yaml"}


def test_the_default_config_is_the_cards_first(folder: Path) -> None:
    card = header(folder)
    split = card["configs"][0]["data_files"][0]["split"]
    found = read_split(str(folder), split=split)
    assert found.config == card["configs"][0]["config_name"]
    assert found.dataset_name == folder.name


def test_sizes_and_digests_in_the_card_are_those_of_the_files(folder: Path) -> None:
    card, text = header(folder), (folder / "README.md").read_text()
    for info in card["dataset_info"]:
        sizes = [
            (folder / info["config_name"] / f"{split['name']}.parquet").stat().st_size
            for split in info["splits"]
        ]
        assert info["download_size"] == sum(sizes)
        for split in info["splits"]:
            digest = read_split(str(folder), info["config_name"], split["name"]).digest
            assert f"| {info['config_name']} | {split['name']} |" in text
            assert f"`{digest}`" in text


def test_checksums_hold(folder: Path) -> None:
    listed = dict(
        reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines()
    )
    assert listed.keys() == files(folder) - {"SHA256SUMS"}
    for name, digest in listed.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest


def test_a_second_build_gives_the_same_bytes(
    folder: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    root = None if folder.name == "sample" else request.getfixturevalue("upstream")
    write_dataset(dataset_script(folder.name), Sources(root), BuildOptions(), tmp_path)
    sums = [(path / "SHA256SUMS").read_text() for path in (folder, tmp_path / folder.name)]
    assert sums[0] == sums[1]


# tables of any shape that the columns of this package can have

WORDS = st.text("aé\N{GRINNING FACE} ", max_size=4)
MENTIONS = st.fixed_dictionaries(
    {"text": st.none() | WORDS, "start": st.none() | st.integers(-1, 99), "end": st.integers(-1, 9)}
)
COLUMNS = (
    (Column("word", pa.string(), "a string"), st.none() | WORDS),
    (Column("label", pa.int64(), "a class", ("a", "b")), st.integers(0, 1)),
    (Column("number", pa.int32(), "a number"), st.none() | st.integers(-(2**31), 2**31 - 1)),
    (Column("mention", MENTION, "a struct"), st.none() | MENTIONS),
    (Column("places", pa.list_(MENTION), "structs"), st.none() | st.lists(MENTIONS, max_size=3)),
    (Column("words", pa.list_(pa.string()), "strings"), st.lists(st.none() | WORDS, max_size=3)),
)
ROWS = st.lists(
    st.fixed_dictionaries({column.name: values for column, values in COLUMNS}), max_size=12
)
SCHEMA = pa.schema([(column.name, column.type) for column, _ in COLUMNS])


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def in_pieces(whole: pa.Table, cuts: Iterable[int]) -> Iterator[pa.Table]:
    """Cut a table at these rows, in any order and with repeats."""
    places = [0, *sorted(min(cut, whole.num_rows) for cut in cuts), whole.num_rows]
    for start, end in pairwise(places):
        yield whole.slice(start, end - start)


CUTS = st.lists(st.integers(0, 12), max_size=4)


@given(ROWS, ROWS, CUTS)
def test_the_digest_does_not_see_chunks_and_slices(
    rows: list[dict[str, Any]], before: list[dict[str, Any]], cuts: list[int]
) -> None:
    plain = table(rows)
    sliced = table([*before, *rows, *before]).slice(len(before), len(rows))
    chunked = pa.concat_tables(in_pieces(sliced, cuts))
    assert content_digest(sliced) == content_digest(plain)
    assert content_digest(chunked) == content_digest(plain)


@given(ROWS, CUTS, st.integers(1, 5))
def test_blocks_are_cut_by_rows_alone(
    rows: list[dict[str, Any]], cuts: list[int], block: int
) -> None:
    pieces = list(in_pieces(table(rows), cuts))
    with patch.object(digests, "BLOCK", block):
        sizes = [found.num_rows for found in digests.blocks(pieces)]
        expected = content_digest(table(rows))
        assert content_digest(pa.concat_tables(pieces)) == expected
    assert sizes == [block] * (len(rows) // block) + [len(rows) % block] * (len(rows) % block > 0)


@given(st.lists(st.none() | WORDS, max_size=8))
def test_the_digest_does_not_see_how_strings_are_kept(words: list[str | None]) -> None:
    plain = pa.array(words, pa.string())
    # a null may be an index without an entry, or an entry of the dictionary
    entries = list(dict.fromkeys(words))
    by_entry = pa.DictionaryArray.from_arrays(
        pa.array([entries.index(word) for word in words], pa.int32()),
        pa.array(entries, pa.string()),
    )
    found = {
        content_digest(pa.table({"word": kept}))
        for kept in (plain, plain.dictionary_encode(), by_entry, plain.cast(pa.large_string()))
    }
    assert len(found) == 1


@given(ROWS, ROWS)
def test_other_rows_have_another_digest(
    rows: list[dict[str, Any]], others: list[dict[str, Any]]
) -> None:
    same = table(rows).to_pylist() == table(others).to_pylist()
    assert (content_digest(table(rows)) == content_digest(table(others))) == same


def written_out(kind: pa.DataType, values: list[Any]) -> bytes:
    """The bytes of a column as `ContentDigest` defines them, without pyarrow."""
    nulls = [value is None for value in values]
    start = sum(nulls).to_bytes(8, "little") + bytes(nulls) * any(nulls)
    if pa.types.is_struct(kind):
        fields = [(f.type, [value and value[f.name] for value in values]) for f in kind]
        return start + b"".join(written_out(*field) for field in fields)
    if pa.types.is_list(kind):
        lengths = b"".join(len(value or ()).to_bytes(4, "little") for value in values)
        elements = [element for value in values for element in value or ()]
        return start + lengths + written_out(kind.value_type, elements)
    if pa.types.is_integer(kind):
        return start + b"".join((value or 0).to_bytes(8, "little", signed=True) for value in values)
    texts = [(value or "").encode() for value in values]
    return start + b"".join(len(text).to_bytes(4, "little") for text in texts) + b"".join(texts)


@given(ROWS)
def test_the_digest_is_what_its_definition_says(rows: list[dict[str, Any]]) -> None:
    columns = [written_out(field.type, [row[field.name] for row in rows]) for field in SCHEMA]
    content = b"".join(columns) if rows else b""
    assert content_digest(table(rows)) == hashlib.sha256(content).hexdigest()


@settings(max_examples=25)
@given(st.permutations(COLUMNS))
def test_card_and_file_declare_the_same_features(order: list[Any]) -> None:
    columns = tuple(column for column, _ in order)
    features = datasets.Features.from_arrow_schema(arrow_schema(columns, {}))
    assert features._to_yaml_list() == card_features(columns)
    assert list(features) == [column.name for column in columns]


def test_bytes_do_not_depend_on_how_rows_are_streamed(tmp_path: Path) -> None:
    # more rows than one block, so that blocks are cut across the pieces
    columns = tuple(column for column, _ in COLUMNS if column.name in ("word", "places"))
    identified = (Column("id", pa.string(), "a key"), *columns)
    place = {"text": "a", "start": 0, "end": 1}
    rows = [
        {"id": str(number), "word": "ab" * (number % 5), "places": [place] * (number % 3)}
        for number in range(digests.BLOCK + 700)
    ]
    (whole,) = SplitRows.from_rows("only", "test", identified, rows).tables
    sums = set()
    for cuts in ([], [1, 2, 30_000], range(0, len(rows), 7_001)):
        pieces = list(in_pieces(whole, cuts))
        script = SimpleNamespace(
            NAME="sample",
            OPTIONS=(),
            UNPUBLISHABLE=(),
            UPSTREAM=(),
            splits=lambda *_, pieces=pieces: [SplitRows("only", "test", identified, pieces)],
        )
        write_dataset(script, Sources(), BuildOptions(), tmp_path)  # type: ignore[arg-type]
        sums.add((tmp_path / "sample" / "SHA256SUMS").read_text())
    assert len(sums) == 1


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        pa.array([["a", "b"], None], pa.list_(pa.string(), 2)),
        pa.array([["a"], None], pa.list_view(pa.string())),
        pa.array(["a", None], pa.string_view()),
        pa.array([b"ab", None], pa.binary(2)),
        pa.array([Decimal("1.5"), None], pa.decimal128(5, 2)),
        pa.ExtensionArray.from_storage(pa.json_(), pa.array(["[]", None])),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_of_any_type_have_a_digest(column: pa.Array) -> None:
    one, other = (content_digest(pa.table({"own": part})) for part in (column[:1], column[1:]))
    assert one != other

"""GAP: upstream's rows to the letter, three labels, and names that change places.

A failing assert prints what stands in it, so rows are compared before it.
"""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.dataset_scripts import gap
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.tables.parquet_files import read_parquet
from pronominal.switching import occurrences, switch_row

Row = dict[str, Any]
UPSTREAM_NAMES = {"train": "development", "validation": "validation", "test": "test"}
LABELS = {"train": (874, 925, 201), "validation": (187, 205, 62), "test": (918, 855, 227)}


@pytest.fixture(scope="module")
def published(built: Callable[[str], Path]) -> dict[tuple[str, str], list[Row]]:
    files = built("gap").glob("*/*.parquet")
    return {(file.parent.name, file.stem): read_parquet([file]).to_pylist() for file in files}


def upstream_line(row: Row) -> str:
    """The row as upstream writes it, from the published columns alone."""
    first, second = row["candidates"]
    cells = (
        *(row["id"], row["text"], row["pronoun"]["text"], row["pronoun"]["start"]),
        *(first["text"], first["start"], str(row["label"] == 0).upper()),
        *(second["text"], second["start"], str(row["label"] == 1).upper()),
        row["url"],
    )
    return "\t".join(map(str, cells))


@pytest.mark.parametrize("split", UPSTREAM_NAMES)
def test_rows_are_upstreams(
    published: dict[tuple[str, str], list[Row]], goldens: Path, split: str
) -> None:
    digests = json.loads((goldens / "data" / "digests.json").read_text())
    lines = sorted(map(upstream_line, published["original", split]))
    found = hashlib.sha256(("\n".join(lines) + "\n").encode()).hexdigest()
    assert found == digests[f"gap_{UPSTREAM_NAMES[split]}"]["sha256"]


@pytest.mark.parametrize("split", UPSTREAM_NAMES)
def test_counts_are_upstreams(published: dict[tuple[str, str], list[Row]], split: str) -> None:
    rows = published["original", split]
    labels = Counter(row["label"] for row in rows)
    genders = Counter(row["gender"] for row in rows)
    assert tuple(labels[index] for index in range(3)) == LABELS[split]
    assert genders["masculine"] == genders["feminine"] == sum(LABELS[split]) / 2
    ids = [row["id"] for row in rows]
    assert ids == [f"{UPSTREAM_NAMES[split]}-{number}" for number in range(1, len(ids) + 1)]


def test_columns_are_the_contracts(published: dict[tuple[str, str], list[Row]]) -> None:
    columns = ["id", "text", "pronoun", "candidates", "label", "gender", "url"]
    assert {config for config, _ in published} == {"original", "switched"}
    assert [list(rows[0]) != columns for rows in published.values()] == [False] * 6
    assert {column.name: column.labels for column in gap.COLUMNS}["label"] == ("A", "B", "neither")


@pytest.mark.parametrize("split", UPSTREAM_NAMES)
def test_names_change_places(published: dict[tuple[str, str], list[Row]], split: str) -> None:
    original, switched = (published[config, split] for config in ("original", "switched"))
    wrong = Counter[str]()
    for before, after in zip(original, switched, strict=True):
        for mention in (after["pronoun"], *after["candidates"]):
            held = after["text"][mention["start"] : mention["end"]]
            wrong["offset"] += held != mention["text"]
        wrong["id"] += before["id"] != after["id"]
        names = [[c["text"] for c in row["candidates"]] for row in (before, after)]
        wrong["names"] += names[0] != names[1]
        wrong["order"] += after["candidates"][0]["start"] < after["candidates"][1]["start"]
        wrong["label"] += after["label"] != {0: 1, 1: 0, 2: 2}[before["label"]]
        wrong["text"] += before["text"] == after["text"]
        wrong["inverse"] += switch_row(after) != before
    assert +wrong == {}


def test_the_card_counts_passages_with_parts_of_names(
    published: dict[tuple[str, str], list[Row]],
) -> None:
    def part_elsewhere(row: Row) -> bool:
        rest, names = row["text"], [candidate["text"] for candidate in row["candidates"]]
        for place in reversed(occurrences(rest, names)):
            rest = rest[: place.start] + "\0" + rest[place.end :]
        words = {w for w in re.findall(r"\w+", " ".join(names)) if w[0].isupper() and len(w) > 1}
        return not words.isdisjoint(re.findall(r"\w+", rest))

    counts = {
        name: sum(map(part_elsewhere, published["original", split]))
        for split, name in UPSTREAM_NAMES.items()
    }
    card = (Path(gap.__file__).parent.parent / "cards" / "gap.md").read_text(encoding="utf-8")
    assert ", ".join(f"{count} {name}" for name, count in counts.items()) in card


def test_the_cards_orders_are_right(published: dict[tuple[str, str], list[Row]]) -> None:
    orders = Counter(
        sum(candidate["start"] < row["pronoun"]["start"] for candidate in row["candidates"])
        for split in UPSTREAM_NAMES
        for row in published["original", split]
    )
    assert orders == {2: 3355, 0: 607, 1: 492}


def test_validate_passes_on_the_real_data(upstream: Path) -> None:
    assert [str(violation) for violation in gap.violations(Sources(upstream))] == []


# from here on: passages of our own

OWN = "Ada Lark met Bea Finch. Later she wrote to Bea Finch."


def cells(**changes: str) -> dict[str, str]:
    row = {"ID": "development-1", "Text": OWN, "URL": "http://localhost/Lark"}
    row |= {"Pronoun": "she", "Pronoun-offset": str(OWN.index("she"))}
    row |= {"A": "Ada Lark", "A-offset": "0", "A-coref": "TRUE"}
    row |= {"B": "Bea Finch", "B-offset": str(OWN.index("Bea")), "B-coref": "FALSE"}
    return row | changes


def own(folder: Path, *development: dict[str, str]) -> Sources:
    """Sources with these development rows, and one row in each other file."""
    (folder / "gap").mkdir()
    for name in UPSTREAM_NAMES.values():
        rows = development if name == "development" else (cells(ID=f"{name}-1"),)
        lines = ["\t".join(gap.TABLE), *("\t".join(row[c] for c in gap.TABLE) for row in rows)]
        (folder / "gap" / f"gap-{name}.tsv").write_text("\n".join(lines) + "\n")
    return Sources(folder, allow_changed=True)


def test_a_passage_is_switched_everywhere(tmp_path: Path) -> None:
    neither = cells(ID="development-2", **{"A-coref": "FALSE"})
    write_dataset(gap, own(tmp_path, cells(), neither), BuildOptions(), tmp_path / "out")
    folder = str(tmp_path / "out/gap")
    before, after = (
        read_split(folder, config, "train").table.to_pylist() for config in ("original", "switched")
    )
    assert [row["label"] for row in before] == [0, 2]
    assert [row["label"] for row in after] == [1, 2]
    assert after[0]["text"] == "Bea Finch met Ada Lark. Later she wrote to Ada Lark."
    assert [candidate["start"] for candidate in after[0]["candidates"]] == [14, 0]
    assert before[0]["gender"] == "feminine"


def test_repair_case_is_an_option(tmp_path: Path) -> None:
    text = OWN.replace("Ada Lark", "The Kid")
    places = {"Pronoun-offset": str(text.index("she")), "B-offset": str(text.index("Bea"))}
    sources = own(tmp_path, cells(Text=text, A="The Kid", **places))
    first_words = {}
    for repair_case in (False, True):
        found = {
            (s.config, s.name): s
            for s in gap.splits(sources, BuildOptions(repair_case=repair_case))
        }
        (table,) = found["switched", "train"].tables
        first_words[repair_case] = table["text"][0].as_py().split(".")[0]
    assert first_words == {False: "Bea Finch met The Kid", True: "Bea Finch met the Kid"}


# changed cells of a row, and the cause that build and validate name
FAULTS: dict[str, tuple[dict[str, str], str]] = {
    "an offset too far": ({"A-offset": "1"}, "the offset of A does not hold its mention"),
    "an offset before the text": ({"B-offset": "-9"}, "the offset of B is not a number"),
    "an empty pronoun": ({"Pronoun": ""}, "the offset of Pronoun does not hold its mention"),
    "both names right": ({"B-coref": "TRUE"}, "not TRUE or FALSE, or both TRUE"),
    "another truth value": ({"A-coref": "true"}, "not TRUE or FALSE, or both TRUE"),
    "a pronoun without gender": (
        {"Pronoun": "to", "Pronoun-offset": str(OWN.index("to"))},
        "neither masculine nor feminine",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_with_its_line(tmp_path: Path, fault: str) -> None:
    changes, message = FAULTS[fault]
    sources = own(tmp_path, cells(), cells(ID="development-2", **changes))
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        write_dataset(gap, sources, BuildOptions(), tmp_path / "out")
    assert caught.value.row == "line 3"
    assert str(caught.value.file).endswith("gap-development.tsv")
    assert not list(tmp_path.glob("out/*"))
    named = [v.message for v in gap.violations(sources) if v.row == "line 3"]
    assert any(message in text for text in named)


def test_names_that_cannot_change_places_are_named(tmp_path: Path) -> None:
    same = {"B": "Ada Lark", "B-offset": "0"}
    with pytest.raises(InputError, match=r"id development-1: .*the same name"):
        write_dataset(gap, own(tmp_path, cells(**same)), BuildOptions(), tmp_path / "out")


def test_validate_checks_ids_order_and_balance(tmp_path: Path) -> None:
    swapped = {
        "ID": "development-7",
        **{"A": "Bea Finch", "A-offset": str(OWN.index("Bea")), "B": "Ada Lark", "B-offset": "0"},
    }
    found = list(gap.violations(own(tmp_path, cells(), cells(**swapped))))
    messages = {(v.row, v.message) for v in found if "development" in str(v.file)}
    assert messages == {
        (None, "2 rows instead of 2000"),
        ("line 3", "the id is not development-2"),
        ("line 3", "B does not follow A"),
        (None, "0 masculine and 2 feminine pronouns are not balanced"),
        (None, "not the pinned upstream version (SHA-256 differs)"),
    }


def test_validate_tells_a_fault_of_every_row_once(tmp_path: Path) -> None:
    # one row too many: every later one has the id before it
    numbers = [1, 2, 2, *range(3, 40)]
    sources = own(tmp_path, *(cells(ID=f"development-{number}") for number in numbers))
    found = [v for v in gap.violations(sources) if "the id is not" in v.message]
    assert [(v.row, v.message) for v in found] == [
        ("line 4", "the id is not development-3 (the first of 38 rows like it)")
    ]


def repeated(content: bytes) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join((*lines[:9], *lines[8:]))


@pytest.mark.parametrize("name", UPSTREAM_NAMES.values())
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-40], r"cut short|SHA-256 differs"),
        (lambda content: content[: len(content) // 2], r"cut short|SHA-256|offset|TRUE"),
        (lambda content: content.replace(b"Pronoun\t", b"pron\t", 1), "the column 'Pronoun' is"),
        (lambda content: content.replace(b"e", b"\xe9", 9), "the text is not UTF-8"),
        (repeated, "line 10: the id is that of line 9"),
    ],
    ids=["cut", "half", "renamed", "latin1", "repeated"],
)
def test_damaged_sources_are_named(
    upstream: Path, tmp_path: Path, name: str, damage: Callable[[bytes], bytes], message: str
) -> None:
    damaged(upstream, tmp_path, f"gap-{name}.tsv", damage)
    with pytest.raises(InputError, match=message):
        write_dataset(gap, Sources(tmp_path), BuildOptions(), tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))


def damaged(upstream: Path, out: Path, file: str, damage: Callable[[bytes], bytes]) -> None:
    (out / "gap").mkdir()
    for name in UPSTREAM_NAMES.values():
        shutil.copyfile(upstream / f"gap/gap-{name}.tsv", out / f"gap/gap-{name}.tsv")
    path = out / "gap" / file
    path.write_bytes(damage(path.read_bytes()))


def test_a_repeated_row_is_named_when_changes_are_allowed(upstream: Path, tmp_path: Path) -> None:
    damaged(upstream, tmp_path, "gap-test.tsv", repeated)
    with pytest.raises(InputError, match=r"gap-test.tsv, line 10: the id is that of line 9"):
        write_dataset(gap, Sources(tmp_path, allow_changed=True), BuildOptions(), tmp_path / "out")


def test_line_ends_do_not_matter(upstream: Path, tmp_path: Path) -> None:
    damaged(upstream, tmp_path, "gap-test.tsv", lambda content: content.replace(b"\n", b"\r\n"))
    assert [str(violation) for violation in gap.violations(Sources(tmp_path))] == []

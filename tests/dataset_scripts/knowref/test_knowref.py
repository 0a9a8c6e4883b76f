"""KnowRef: every row of upstream, every known fault named, and text that is never passed on."""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pronominal import InputError
from pronominal.dataset_scripts import knowref
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.knowref.files import LOST, parse_record, unbracketed
from pronominal.dataset_scripts.knowref.upstream import KNOWREF, KNOWREF60K
from pronominal.dataset_scripts.tables.parquet_files import read_parquet
from pronominal.dataset_scripts.tables.violations import RowLocation
from tests.conftest import ROOT

Row = dict[str, Any]
Damage = Callable[[bytes], bytes]
UPSTREAM_NAMES = {"test": "test", "train": "dev", "validation": "val"}
SPLITS = pytest.mark.parametrize("split", UPSTREAM_NAMES)


class Tables(dict[tuple[str, str], list[Row]]):
    """Rows by config and split; a failing test does not print them."""

    def __repr__(self) -> str:
        return f"<rows of {list(self)}>"


def tables(sources: Sources, options: BuildOptions | None = None) -> Tables:
    return Tables(
        ((split.config, split.name), [row for table in split.tables for row in table.to_pylist()])
        for split in knowref.splits(sources, options or BuildOptions())
    )


@pytest.fixture(scope="module")
def published(built: Callable[[str], Path]) -> Tables:
    files = built("knowref").glob("*/*.parquet")
    return Tables(
        ((file.parent.name, file.stem), read_parquet([file]).to_pylist()) for file in files
    )


@pytest.fixture(scope="module")
def facts(goldens: Path) -> dict[str, Any]:
    return dict(json.loads((goldens / "data" / "digests.json").read_text()))


def digest(rows: list[Row]) -> str:
    lines = []
    for row in rows:
        text, start, end = row["text"], row["pronoun"]["start"], row["pronoun"]["end"]
        if row["id"].startswith("validation"):
            text = text[:start] + LOST + text[end:]
        names = [candidate["text"] for candidate in row["candidates"]]
        lines.append("\t".join((str(row["upstream_row"]), text, *names, names[row["label"]])))
    return hashlib.sha256(("\n".join(sorted(lines)) + "\n").encode()).hexdigest()


@SPLITS
def test_rows_are_upstreams(published: Tables, facts: dict[str, Any], split: str) -> None:
    expected = facts[f"knowref_{UPSTREAM_NAMES[split]}"]["text_only"]
    rows = published["original", split]
    assert digest(rows) == expected["sha256"]
    assert [row["upstream_row"] for row in rows] == list(range(expected["rows"]))


def test_counts_are_the_contracts(published: Tables) -> None:
    assert {key: len(rows) for key, rows in published.items()} == {
        ("original", "test"): 1269,
        ("original", "train"): 5219,
        ("original", "validation"): 2236,
        ("switched", "test"): 1265,
        ("switched", "train"): 5200,
        ("switched", "validation"): 2228,
    }


def test_columns_are_the_contracts(published: Tables) -> None:
    assert list(published["original", "test"][0]) == [
        *("id", "text", "pronoun", "candidates", "label"),
        *("upstream_row", "duplicate_of", "note"),
    ]


@pytest.mark.parametrize("config", ["original", "switched"])
def test_mentions_and_ids_hold(published: Tables, config: str) -> None:
    wrong = Counter[str]()
    for split in UPSTREAM_NAMES:
        rows = published[config, split]
        known = {row["id"] for row in rows}
        wrong["id"] += len(known) != len(rows)
        for row in rows:
            for mention in (row["pronoun"], *row["candidates"]):
                start, end = mention["start"], mention["end"]
                wrong["offset"] += start >= 0 and row["text"][start:end] != mention["text"]
            wrong["bracket"] += "[" in row["text"] or "]" in row["text"]
            wrong["duplicate"] += row["duplicate_of"] not in (None, *known)
            wrong["absent"] += config == "switched" and row["candidates"][0]["start"] < 0
    assert +wrong == {}


@SPLITS
def test_only_the_unswitchable_rows_are_missing_in_switched(
    published: Tables, facts: dict[str, Any], split: str
) -> None:
    original, switched = published["original", split], published["switched", split]
    kept = {row["id"] for row in switched}
    missing = [row["upstream_row"] for row in original if row["id"] not in kept]
    assert missing == facts["knowref_unswitchable"][UPSTREAM_NAMES[split]]
    assert [row["id"] for row in switched] == [row["id"] for row in original if row["id"] in kept]


@SPLITS
def test_switched_rows_are_the_originals_with_the_other_answer(
    published: Tables, split: str
) -> None:
    originals = {row["id"]: row for row in published["original", split]}
    wrong = Counter[str]()
    for row in published["switched", split]:
        before = originals[row["id"]]
        names = [[c["text"] for c in one["candidates"]] for one in (before, row)]
        wrong["names"] += names[0] != names[1]
        wrong["label"] += row["label"] != 1 - before["label"]
        wrong["pronoun"] += row["pronoun"]["text"] != before["pronoun"]["text"]
        wrong["columns"] += [row[c] for c in ("upstream_row", "duplicate_of", "note")] != [
            before[c] for c in ("upstream_row", "duplicate_of", "note")
        ]
        # the sentence but for its names is the same: sorted words do not change
        wrong["words"] += sorted(row["text"].split()) != sorted(before["text"].split()) and (
            Counter(before["text"].split())[names[0][0]]
            == Counter(before["text"].split())[names[0][1]]
        )
    assert +wrong == {}


def test_the_index_field_is_not_used(upstream: Path, published: Tables) -> None:
    path = upstream / KNOWREF.folder / "knowref_test.json"
    theirs = [record["correct_candidate_idx"] for record in json.loads(path.read_text())]
    ours = [row["label"] for row in published["original", "test"]]
    assert sum(map(int.__ne__, ours, theirs)) == 299


@SPLITS
def test_notes_name_what_is_odd(published: Tables, split: str) -> None:
    counts = Counter(
        re.sub(r"\w+-\d+|candidate \d", "*", phrase)
        for row in published["original", split]
        for phrase in set((row["note"] or "").split("; "))
    )
    del counts[""]
    several = "a candidate's name occurs more than once, its first place is given"
    longer = "the name of * is also part of a longer word"
    expected = {
        "test": {
            several: 14,
            "* is not in the text": 3,
            "the name of * is also part of the other name": 3,
            "both candidates have the same name, the label means nothing": 1,
            "upstream marks two pronouns, the first one is the target": 1,
            "contradicts *: the same sentence, the other answer": 2,
            "the sentence of * with another candidate": 1,
        },
        "train": {several: 260, longer: 15, "* is not in the text": 19},
        "validation": {several: 93, longer: 11, "* is not in the text": 8},
    }
    assert counts == expected[split]


def test_repeated_and_contradicting_rows_are_marked(published: Tables) -> None:
    rows = published["original", "test"]
    repeats = {305: 216, 1104: 1103} | {406 + k: 54 + k for k in range(20)}
    assert {r["upstream_row"]: r["duplicate_of"] for r in rows if r["duplicate_of"]} == {
        row: f"test-{first}" for row, first in repeats.items()
    }
    assert "contradicts test-629" in rows[628]["note"]
    assert "contradicts test-628" in rows[629]["note"]
    assert rows[628]["label"] != rows[629]["label"]
    assert "test-842" in rows[848]["note"]
    assert [c["start"] for c in rows[237]["candidates"]] == [
        rows[237]["candidates"][0]["start"]
    ] * 2
    assert rows[237]["label"] == 0


def test_places_are_those_of_the_facts(published: Tables) -> None:
    later = {
        split: sum(
            0 <= row["candidates"][1]["start"] < row["candidates"][0]["start"]
            for row in published["original", split]
        )
        for split in UPSTREAM_NAMES
    }
    assert later == {"test": 244, "train": 1536, "validation": 661}
    # the name stands inside the other candidate, too: its own mention is the later one
    assert published["original", "test"][733]["candidates"][0]["start"] == 50
    forms = Counter(row["pronoun"]["text"] for row in published["original", "test"])
    assert forms == {
        **{"she": 463, "he": 449, "her": 115, "his": 107, "him": 86},
        **{"they": 38, "them": 6, "their": 5},
    }
    assert {row["pronoun"]["text"] for row in published["original", "validation"]} == {LOST}


def test_repaired_case_changes_the_test_only(upstream: Path, published: Tables) -> None:
    repaired = tables(Sources(upstream), BuildOptions(repair_case=True))
    changed = {
        split: sum(
            one["text"] != other["text"]
            for one, other in zip(
                repaired["switched", split], published["switched", split], strict=True
            )
        )
        for split in UPSTREAM_NAMES
    }
    assert changed == {"test": 125, "train": 0, "validation": 0}
    starts = [
        sum(r["text"][0].islower() for r in t["switched", "test"]) for t in (published, repaired)
    ]
    assert starts[0] >= 100
    assert starts[1] <= starts[0] - 100


# what a folder holds decides which splits are built


def some(upstream: Path, folder: Path, *names: str) -> Path:
    """Lay out a sources folder with some of upstream's files."""
    for name in names:
        repository = KNOWREF60K if name.startswith("data") else KNOWREF
        path = folder / repository.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(upstream / repository.folder / name, path)
    return folder


TEST, TRAIN, VALIDATION = "knowref_test.json", "data/val.json", "data/dev.tsv"


@pytest.mark.parametrize(
    ("files", "splits"),
    [
        ([TEST], ["test"]),
        ([TEST, TRAIN], ["test", "train"]),
        ([TEST, VALIDATION], ["test", "validation"]),
    ],
)
def test_splits_follow_from_the_sources(
    upstream: Path, tmp_path: Path, files: list[str], splits: list[str]
) -> None:
    found = tables(Sources(some(upstream, tmp_path, *files)))
    assert list(found) == [(c, s) for c in ("original", "switched") for s in splits]
    assert list(knowref.violations(Sources(tmp_path))) == []


def header(folder: Path) -> dict[str, Any]:
    return dict(yaml.safe_load((folder / "README.md").read_text().split("---\n")[1]))


def test_a_folder_with_reddit_text_says_that_it_may_not_be_published(
    upstream: Path, built: Callable[[str], Path], tmp_path: Path
) -> None:
    write_dataset(
        knowref, Sources(some(upstream, tmp_path / "a", TEST)), BuildOptions(), tmp_path / "b"
    )
    page = (tmp_path / "b" / "knowref" / "README.md").read_text()
    assert "unpublishable" not in header(tmp_path / "b" / "knowref")
    assert "must not be published" not in page
    whole = built("knowref")
    page = (whole / "README.md").read_text()
    assert header(whole)["unpublishable"] == [
        *("original/train", "original/validation", "switched/train", "switched/validation"),
    ]
    assert "must not be published" in page


def test_the_card_names_the_rows_that_cannot_be_switched(facts: dict[str, Any]) -> None:
    page = (ROOT / "cards" / "knowref.md").read_text()
    section = page.split("### Rows that are not in `switched`")[1].split("\n\n")[1]
    named: dict[str, list[int]] = {}
    for line in section.splitlines()[2:]:
        split, rows, _ = (cell.strip() for cell in line.strip("|").split("|"))
        named[UPSTREAM_NAMES[split]] = sorted(
            named.get(UPSTREAM_NAMES[split], []) + [int(row) for row in rows.split(",")]
        )
    assert named == facts["knowref_unswitchable"]


def test_the_built_folder_loads(
    built: Callable[[str], Path], published: Tables, tmp_path: Path
) -> None:
    datasets = pytest.importorskip("datasets")
    for config in ("original", "switched"):
        loaded = datasets.load_dataset(
            str(built("knowref")), config, cache_dir=str(tmp_path / "cache")
        )
        counts = {name: len(rows) for (of, name), rows in published.items() if of == config}
        assert {name: split.num_rows for name, split in loaded.items()} == counts
        assert loaded["test"].features["label"].names == ["candidate0", "candidate1"]


# damaged files


def damaged(upstream: Path, folder: Path, name: str, damage: Damage) -> Path:
    """Damage one file of a folder that holds it and the test, which is read first."""
    some(upstream, folder, TEST, name)
    path = folder / (KNOWREF60K if name.startswith("data") else KNOWREF).folder / name
    path.write_bytes(damage(path.read_bytes()))
    return path


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


def repeat_line(content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(lines[:9] + lines[8:])


def latin_1(content: bytes) -> bytes:
    return content.replace(b"er", b"\xe9r", 30)


def field(key: str, edit: Callable[[Any], Any]) -> Damage:
    """Change a field of the first record."""

    def damage(content: bytes) -> bytes:
        records = json.loads(content)
        records[0][key] = edit(records[0].pop(key))
        return json.dumps(records).encode()

    return damage


def cell(column: int, edit: Callable[[str], str], lines: tuple[int, ...] = (1,)) -> Damage:
    """Change a cell in some lines of a table, the header being line 0."""

    def damage(content: bytes) -> bytes:
        table = [line.split("\t") for line in content.decode().splitlines()]
        for line in lines:
            table[line][column] = edit(table[line][column])
        return "".join("\t".join(cells) + "\n" for cells in table).encode()

    return damage


def bare(marked: str) -> str:
    return re.sub(r"[\[\]]", "", marked)


MARKED = "sentence_with_pronoun"


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        (TEST, half, "not valid JSON"),
        (TRAIN, half, "not valid JSON"),
        (VALIDATION, half, "cut short"),
        (TEST, lambda c: c.replace(b'"candidate1"', b'"candidate_b"'), "row 0: the field 'candid"),
        (TRAIN, lambda c: c.replace(b'"correct_can', b'"right_can'), "row 0: the field 'correct"),
        (VALIDATION, lambda c: c.replace(b"sentence2", b"rest"), "column 'sentence2' is missing"),
        (TEST, latin_1, "not UTF-8"),
        (TRAIN, latin_1, "not UTF-8"),
        (VALIDATION, latin_1, "not UTF-8"),
        (TEST, repeat_line, "SHA-256 differs"),
        (TRAIN, repeat_line, "SHA-256 differs"),
        (VALIDATION, repeat_line, "row 3: 3 substitutions of index '3'"),
        (TEST, lambda c: c + b" ", "SHA-256 differs"),
        (TEST, lambda c: b"[]", "no array of sentences"),
        (TEST, lambda c: b"{}", "no array of sentences"),
        (TEST, field(MARKED, bare), "row 0: no pronoun"),
        (TEST, field(MARKED, lambda s: s.replace("]", "")), "row 0: no pronoun, or half of one"),
        (TEST, field("correct_candidate", lambda _: "Nobody"), "row 0: the correct candidate"),
        (TEST, field("candidate1", lambda names: names * 2), "row 0: the field 'candidate1'"),
        (VALIDATION, cell(3, lambda _: "1", (1, 2)), "row 0: not exactly one substitution"),
        (VALIDATION, cell(4, lambda _: "Nobody"), "row 0: the substitutions do not hold"),
        (VALIDATION, cell(2, lambda s: f"{s} ."), "row 0: the substitutions do not differ"),
        (VALIDATION, cell(0, lambda _: "1", (1, 2)), "row 0: 4 substitutions of index '1'"),
    ],
)
def test_a_damaged_file_is_one_error_and_no_folder(
    upstream: Path, tmp_path: Path, name: str, damage: Damage, message: str
) -> None:
    path = damaged(upstream, tmp_path / "in", name, damage)
    with pytest.raises(InputError) as error:
        write_dataset(knowref, Sources(tmp_path / "in"), BuildOptions(), tmp_path / "out")
    assert message in str(error.value)
    assert str(path) in str(error.value)
    assert not (tmp_path / "out" / "knowref").exists()


@pytest.mark.parametrize("name", [TEST, TRAIN, VALIDATION])
def test_line_ends_do_not_matter(upstream: Path, tmp_path: Path, published: Tables, name) -> None:
    damaged(upstream, tmp_path, name, lambda c: c.replace(b"\n", b"\r\n"))
    found = tables(Sources(tmp_path))
    assert len(found) == (2 if name == TEST else 4)
    assert all(published[key] == rows for key, rows in found.items())


def test_a_changed_file_is_used_when_asked_and_named(upstream: Path, tmp_path: Path) -> None:
    damaged(upstream, tmp_path / "in", TEST, repeat_line)
    sources = Sources(tmp_path / "in", allow_changed=True)
    built = write_dataset(knowref, sources, BuildOptions(), tmp_path / "out")
    assert built[0].rows == 1270
    page = (tmp_path / "out" / "knowref" / "README.md").read_text()
    assert "**Not the pinned upstream version:** knowref/knowref_release/knowref_test.json" in page
    found = [str(violation) for violation in knowref.violations(Sources(tmp_path / "in"))]
    assert any("1270 rows instead of 1269" in line for line in found)
    assert any("row 8: the sentence of row 7" in line for line in found)


def test_a_missing_test_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"knowref_test\.json: cannot be read"):
        list(knowref.splits(Sources(tmp_path), BuildOptions()))


# validate


def test_upstream_passes_every_check(upstream: Path) -> None:
    assert list(knowref.violations(Sources(upstream))) == []


def beginning(path: Path) -> bytes:
    """The first 20 sentences of a file, or what is made from them."""
    if path.suffix == ".json":
        return json.dumps(json.loads(path.read_bytes())[:20]).encode()
    return b"".join(path.read_bytes().splitlines(keepends=True)[:41])


PAIRS, SWITCHED = "data/train.tsv", "data_switched/train.tsv"
SHEET, IDS = "knowref_dev_val_info.xlsx", "redditID_dev_final.txt"


@pytest.mark.parametrize(
    ("others", "name", "damage", "message"),
    [
        ([], TEST, field(MARKED, lambda s: s.replace("[", "[so] [")), "row 0: 2 pronouns are"),
        ([], TEST, field(MARKED, lambda s: f"[so] {bare(s)}"), "row 0: the word in brackets"),
        ([], TEST, field(MARKED, lambda s: f"[he] {bare(s)}"), "row 0: a candidate stands after"),
        ([], TEST, field(MARKED, bare), "row 0: no pronoun"),
        ([], TEST, field("candidate0", lambda _: "Nobody"), "row 0: cannot be switched: candidat"),
        ([TEST], "data/test.tsv", cell(3, lambda _: "1"), "row 0: the labels are"),
        ([TEST], "data_switched/test.tsv", cell(4, lambda _: "1"), "row 0: not the sentence and"),
        ([], TRAIN, field(MARKED, lambda s: f"{s} ."), "row 0: not the sentence of our finger"),
        ([TRAIN], PAIRS, cell(2, lambda s: f"{s} ."), "row 0: the substitutions are not"),
        ([TRAIN], PAIRS, cell(3, lambda s: str(1 - int(s)), (1, 2)), "row 0: the labels are"),
        ([TRAIN], SWITCHED, cell(2, lambda s: f"{s} .", (2,)), "row 0: not the switched sentence"),
        ([TRAIN], SWITCHED, cell(4, lambda s: str(1 - int(s)), (2,)), "row 0: not the switched"),
        ([TRAIN], SWITCHED, half, "cut short"),
        ([], VALIDATION, cell(2, lambda s: f"{s} .", (1, 2)), "row 0: not the sentence of our"),
        ([VALIDATION], "data_switched/val.tsv", cell(4, lambda _: "x"), "row 0: not the sentence"),
        ([TRAIN], IDS, lambda c: c[:-16], "5218 rows instead of 5219"),
        ([TRAIN], IDS, lambda c: c.replace(b" ", b"", 1), "line 1: no post id"),
        ([TRAIN], SHEET, half, "truncated or damaged"),
    ],
)
def test_validate_names_file_and_row(
    upstream: Path, tmp_path: Path, others: list[str], name: str, damage: Damage, message: str
) -> None:
    some(upstream, tmp_path, TEST, *others, name)
    for table in (*tmp_path.rglob("*.json"), *tmp_path.rglob("*.tsv")):
        table.write_bytes(beginning(table))
    path = tmp_path / (KNOWREF60K if name.startswith("data") else KNOWREF).folder / name
    content = path.read_bytes()
    faults = list(map(str, knowref.violations(Sources(tmp_path))))
    assert not any(message in line and path.name in line for line in faults)
    path.write_bytes(damage(content))
    found = [str(violation) for violation in knowref.violations(Sources(tmp_path))]
    assert any(message in line and path.name in line for line in found)
    assert any("SHA-256 differs" in line and path.name in line for line in found)
    assert all(len(line) < len(str(tmp_path)) + 150 for line in found)


def twice(content: bytes) -> bytes:
    records = json.loads(content)
    return json.dumps([*records[:9], *records[8:]]).encode()


def renamed(content: bytes) -> bytes:
    return content.replace(b'"correct_candidate":', b'"right_candidate":')


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (twice, "1270 rows instead of 1269"),
        (renamed, "row 0: the field 'correct_candidate' is missing or no text (the first of 1269"),
    ],
)
def test_validate_tells_a_fault_of_every_row_once(
    upstream: Path, tmp_path: Path, damage: Damage, message: str
) -> None:
    some(upstream, tmp_path, TEST, "data/test.tsv", "data_switched/test.tsv")
    path = tmp_path / KNOWREF.folder / TEST
    path.write_bytes(damage(path.read_bytes()))
    found = [str(violation) for violation in knowref.violations(Sources(tmp_path))]
    assert any(message in line for line in found)
    assert len(found) < 20


# files in our own words


def record(**changes: Any) -> Row:
    plain = {
        "sentence_with_pronoun": "Ida thanked Oda because [she] had kept the seat .",
        "candidate0": ["Oda"],
        "candidate1": "Ida",
        "correct_candidate": ["Oda"],
        "correct_candidate_idx": 1,
    }
    return plain | changes


def test_a_record_is_read_by_its_correct_candidate() -> None:
    sentence = parse_record(4, record(), RowLocation("x", "row 4"))
    assert (sentence.row, sentence.names, sentence.label) == (4, ("Oda", "Ida"), 0)
    assert sentence.text == "Ida thanked Oda because she had kept the seat ."
    assert sentence.filled("Oda") == "Ida thanked Oda because Oda had kept the seat ."
    found = sentence.instance("test")
    assert found.id == "test-4"
    assert [tuple(c) for c in found.candidates] == [("Oda", 12, 15), ("Ida", 0, 3)]


def test_brackets_are_taken_out_and_counted() -> None:
    text, pronouns = unbracketed(" Ida let [him]  in , [he] sat", RowLocation("x", "row 0"))
    assert text == " Ida let him  in , he sat"
    assert [tuple(pronoun) for pronoun in pronouns] == [("him", 9, 12), ("he", 19, 21)]


@pytest.mark.parametrize(
    "record_", [None, [], "x", {}, record(candidate0=[]), record(candidate1=7)]
)
def test_a_record_of_another_kind_is_refused(record_: Any) -> None:
    with pytest.raises(InputError, match="row 7: the field"):
        parse_record(7, record_, RowLocation("x", "row 7"))


def test_answers_are_those_of_the_facts(published: Tables) -> None:
    labels = {s: Counter(row["label"] for row in published["original", s]) for s in UPSTREAM_NAMES}
    assert labels == {
        "test": {0: 631, 1: 638},
        "train": {0: 2792, 1: 2427},
        "validation": {0: 1190, 1: 1046},
    }

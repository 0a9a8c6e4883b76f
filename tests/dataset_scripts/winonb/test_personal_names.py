"""The user's own names in WinoNB: what a file may hold, what is built, and each refusal."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from pronominal import InputError
from pronominal.dataset_scripts import winonb
from pronominal.dataset_scripts.building.build import build, write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.winonb.personal_names import FIFTEEN_NAMES, NAMES, load_names

HEADER = "name,association"
SENTENCES = (
    ("plumbers.someone.1.someone.txt", "The plumbers told someone that they will leave."),
    ("plumbers.someone.0.someone.txt", "Someone's cat hid from May while the plumbers ate theirs."),
)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    lines = ["source\tsentid\tsentence", *("\t".join(("wsc", *row)) for row in SENTENCES)]
    for version in ("v0", "v1"):
        path = tmp_path / "winonb" / version / "winonb_someone.tsv"
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(lines))
    return Sources(tmp_path, allow_changed=True)


def written(folder: Path, *lines: str, name: str = "names.csv") -> Path:
    path = folder / name
    path.write_bytes("\n".join(lines).encode())
    return path


def rows_of(sources: Sources, options: BuildOptions) -> dict[str, list[dict[str, Any]]]:
    found = winonb.splits(sources, options)
    return {split.config: [row for t in split.tables for row in t.to_pylist()] for split in found}


def test_the_fifteen_are_the_papers() -> None:
    assert FIFTEEN_NAMES.counts == {"fem": 5, "masc": 5, "neutral": 5}
    assert BuildOptions()[NAMES] == FIFTEEN_NAMES


@pytest.mark.parametrize(
    "lines",
    [
        (HEADER, "Zed,neutral", "Mary Ann,fem"),
        ("name\tassociation", "Zed\tneutral", "Mary Ann\tfem"),
        ("\ufeffassociation,note,name", "neutral,x, Zed", "", 'fem,"a, b","Mary Ann"', ""),
        (f"{HEADER}\r", "Zed,neutral\r", "Mary Ann,fem\r", "\r"),
    ],
    ids=["csv", "tsv", "further columns and blanks", "crlf"],
)
def test_a_file_of_names_is_csv_or_tsv(tmp_path: Path, lines: tuple[str, ...]) -> None:
    names = load_names(written(tmp_path, *lines)).names
    assert [(n.name, n.association) for n in names] == [("Zed", "neutral"), ("Mary Ann", "fem")]


def test_own_names_take_the_place_of_the_fifteen(sources: Sources, tmp_path: Path) -> None:
    names = load_names(written(tmp_path, HEADER, "Zed,neutral", "D'Arcy,masc", "Mary Ann,fem"))
    before, after = (rows_of(sources, o) for o in (BuildOptions(), BuildOptions(names=names)))
    assert after["generic"] == before["generic"]
    assert len(before["personal"]) == 2 * 15
    personal = after["personal"]
    assert [row["individual"] for row in personal] == ["Zed", "D'Arcy", "Mary Ann"] * 2
    assert [row["association"] for row in personal] == ["neutral", "masc", "fem"] * 2
    assert personal[5]["text"].startswith("Mary Ann's cat")
    for row in personal:
        for mention in (row["pronoun"], *row["candidates"]):
            assert row["text"][mention["start"] : mention["end"]] == mention["text"]


def test_the_card_says_whose_names_and_how_many(sources: Sources, tmp_path: Path) -> None:
    names = load_names(written(tmp_path, HEADER, "Zed,neutral", "Ida,fem", "Uma,fem"))
    for options, out in ((BuildOptions(), "fifteen"), (BuildOptions(names=names), "own")):
        write_dataset(dataset_script("winonb"), sources, options, tmp_path / out)
    cards = [(tmp_path / out / "winonb/README.md").read_text() for out in ("fifteen", "own")]
    assert ["own names (`--names`)" in card for card in cards] == [False, True]
    assert "own names (`--names`) in `personal`: 3 (2 fem, 0 masc, 1 neutral)" in cards[1]
    assert ["fifteen names (Table 1)" in card for card in cards] == [True, False]
    rows = [
        {i["config_name"]: i["splits"][0]["num_examples"] for i in header["dataset_info"]}
        for header in (yaml.safe_load(card.split("---\n")[1]) for card in cards)
    ]
    assert rows == [{"generic": 2, "personal": 30}, {"generic": 2, "personal": 6}]
    digests = [re.findall(r"`([0-9a-f]{64})`", card) for card in cards]
    assert digests[0][0] == digests[1][0]
    assert digests[0][1] != digests[1][1]


@pytest.mark.parametrize(
    "name",
    ["Will", "WILL", "May", "Someone", "They", "Ann Plumbers", "Theirs", "Cat"],
)
def test_a_word_of_a_sentence_is_no_name(sources: Sources, tmp_path: Path, name: str) -> None:
    names = load_names(written(tmp_path, HEADER, "Zed,neutral", f"{name},neutral"))
    with pytest.raises(InputError, match="is a word of a sentence") as caught:
        write_dataset(
            dataset_script("winonb"), sources, BuildOptions(names=names), tmp_path / "out"
        )
    assert (caught.value.file, caught.value.row) == (tmp_path / "names.csv", "line 3")
    assert not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize("name", ["Wil", "Mayer", "S", "Plumber", "O'May"])
def test_a_part_of_a_word_is_a_name(sources: Sources, tmp_path: Path, name: str) -> None:
    names = load_names(written(tmp_path, HEADER, f"{name},neutral"))
    assert len(rows_of(sources, BuildOptions(names=names))["personal"]) == 2


FAULTS = {
    "an empty name": ((HEADER, "Zed,masc", " ,fem"), "line 3", "the name is empty"),
    "no letter": ((HEADER, "42,fem"), "line 2", "has no letters"),
    "two lines": ((HEADER, '"Mary\nAnn",fem'), "line 2", "a control sign"),
    "two lines, short": ((HEADER, "Zed,masc", '"Mary\nAnn"'), "line 3", "1 cells where"),
    "two lines, open": ((HEADER, '"Zed\nIda,masc'), "line 2", "the table is damaged"),
    "a repeated name": ((HEADER, "Zed,masc", "Ida,fem", "Zed,fem"), "line 4", "that of line 2"),
    "another case": ((HEADER, "Zed,masc", "ZED,fem"), "line 3", "also that of line 2"),
    "an association": ((HEADER, "Zed,mask"), "line 2", "no association 'mask'; did you mean"),
    "none": ((HEADER, "Zed,"), "line 2", "no association"),
    "no header": (("Zed,masc",), "line 1", "the column 'name' is missing"),
    "half a header": (("name,gender", "Zed,masc"), "line 1", "the column 'association' is missing"),
    "a header twice": (("name,name,association", "a,b,masc"), "line 1", "there twice"),
    "a short row": ((HEADER, "Zed"), "line 2", "1 cells where the header has 2"),
    "a long row": ((HEADER, "Zed,masc,x"), "line 2", "3 cells where the header has 2"),
    "an open quote": ((HEADER, '"Zed,masc'), "line 2", "the table is damaged"),
    "no names": ((HEADER,), None, "there is no name in the file"),
    "nothing": ((), "line 1", "the column 'name' is missing"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_row_is_named_of(tmp_path: Path, fault: str) -> None:
    lines, row, message = FAULTS[fault]
    path = written(tmp_path, *lines)
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        load_names(path)
    assert (caught.value.file, caught.value.row) == (path, row)
    assert len(str(caught.value).splitlines()) == 1


def test_other_encodings_and_missing_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_bytes(f"{HEADER}\nZed,masc\nZo\xeb,fem\n".encode("latin-1"))
    with pytest.raises(InputError, match="line 3: the text is not UTF-8"):
        load_names(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_names(tmp_path / "nothing.csv")


@pytest.mark.parametrize("dataset", ["sample", "winopron", "gap"])
def test_datasets_without_names_refuse_them(tmp_path: Path, dataset: str) -> None:
    names = written(tmp_path, HEADER, "Zed,neutral")
    with pytest.raises(InputError, match=f"{dataset} has no option 'names'; leave it out"):
        build(dataset, tmp_path, names=names)


def test_counts_follow_on_the_real_data(upstream: Path, tmp_path: Path) -> None:
    names = load_names(written(tmp_path, HEADER, "Zed,neutral", "Ida,fem"))
    found = winonb.splits(Sources(upstream), BuildOptions(names=names))
    counts = Counter({split.config: sum(t.num_rows for t in split.tables) for split in found})
    assert counts == {"generic": 4077, "personal": 2 * 4077}

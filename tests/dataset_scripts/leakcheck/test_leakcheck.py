"""`leakcheck` finds every sentence however it is laid out, and nothing else, and tells no text.

Sentences are those of our own sample; filler words never make one.
"""

import json
import random
import re
import sysconfig
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal.dataset_scripts.leakcheck.finder import Survey, find_leaks, leakcheck
from pronominal.dataset_scripts.leakcheck.index import COLUMNS, LeakIndex, sealed
from pronominal.dataset_scripts.leakcheck.sentences import RUN
from pronominal.errors import InputError
from tests.cli.test_main import pronominal
from tests.conftest import ROOT

FILLER = ("amber", "basil", "cedar", "dune", "ember", "fjord", "grove", "heath", "iris", "jade")
FILLER += ("kelp", "lagoon", "moss", "nectar")


@pytest.fixture(scope="module")
def rows(sample: Path) -> list[dict]:
    return pq.read_table(sample / "double" / "test.parquet").to_pylist()


@pytest.fixture(scope="module")
def index(sample: Path) -> LeakIndex:
    return LeakIndex.of([sample])


@pytest.fixture(scope="module")
def sentence(rows: list[dict]) -> str:
    return rows[100]["text"]


def lines_of(content: str | bytes, index: LeakIndex) -> list[int]:
    content = content.encode() if isinstance(content, str) else content
    return [line for line, _ in find_leaks([content], index)]


def found(paths: object, index: LeakIndex, **options) -> list[tuple[str, int, str]]:
    leaks = leakcheck([str(paths)], index, **options)
    return [(Path(leak.origin.path).name, leak.line, leak.origin.history) for leak in leaks]


# what a user relies on first: every sentence is found, at its line, whatever was done to it


def test_every_row_of_every_config_is_found(sample: Path, index: LeakIndex) -> None:
    for file in sorted(sample.glob("*/*.parquet")):
        texts = pq.read_table(file)["text"].to_pylist()
        assert lines_of("\n".join(texts), index) == list(range(1, len(texts) + 1))


def test_the_command_names_file_line_and_row_and_not_the_sentence(
    sample: Path, rows: list[dict], tmp_path: Path
) -> None:
    (tmp_path / "notes.md").write_text(f"Notes\n\n> {rows[8]['text']}\n")
    result = pronominal("leakcheck", "notes.md", "--dataset", sample, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout == "notes.md:3: sentence of sample double/test, row 8\n"
    assert result.stderr.startswith("1 found in 1 documents")


def test_a_clean_file_exits_with_0(sample: Path, tmp_path: Path) -> None:
    (tmp_path / "clean.txt").write_text("Nothing of the kind stands here.\n")
    result = pronominal("leakcheck", tmp_path, "--dataset", sample)
    assert (result.returncode, result.stdout) == (0, "")


layouts: dict[str, Callable[[str], str | bytes]] = {
    "capitals": str.upper,
    "no punctuation": lambda text: re.sub(r"[^\w\s]", "", text),
    "one word a line": lambda text: "\n".join(text.split()),
    "windows line ends": lambda text: "\r\n".join(text.split()),
    "typographic quotes": lambda text: f"\u201c{text}\u201d".replace(" the ", " \u2018the\u2019 "),
    "utf-16": lambda text: text.encode("utf-16"),
    "undecodable bytes": lambda text: b"\xff\xfa" + text.replace(" ", "\xa0").encode("latin-1"),
    "markdown": lambda text: " ".join(f"**{word}**" for word in text.split()),
    "html": lambda text: text.replace(" the ", "&nbsp;<b>the</b> <i><br/></i> "),
    "zero-width characters": lambda text: text.replace("e", "e\u200b").replace("a", "\u00ada"),
    "latex": lambda text: text.replace(" the ", r" \textit{the} \emph{}"),
    "json": lambda text: json.dumps({"text": f"x\n{text}\n\u2019".replace(" ", "\n")}),
    "json, twice": lambda text: json.dumps(json.dumps({"text": f"\u00e9{text}"})),
    "url": lambda text: text.replace(" ", "%20"),
    "behind other words": lambda text: " ".join((*FILLER, text, *FILLER)),
    "a longer beginning": lambda text: "Yesterday or so, " + text,
    "another beginning": lambda text: "Somebody " + text.split(maxsplit=3)[3],
    "another pronoun": lambda text: re.sub(r"\b(he|him|his)\b", "zir", text),
    "a slot": lambda text: re.sub(r"\b(he|him|his)\b", "$NOM_PRONOUN", text),
    "a blank": lambda text: re.sub(r"\b(he|him|his)\b", "___", text),
    "entities": lambda text: "".join(f"&#{ord(c)};" for c in text),
    "hexadecimal entities, escaped": lambda text: "".join(f"&amp;#x{ord(c):X};" for c in text),
    "json codes": lambda text: "".join(f"\\u{ord(c):04x}" for c in text),
    "zero-width characters, escaped": lambda text: json.dumps(text.replace("e", "e\u200b")),
    "a mask": lambda text: re.sub(r"\b(he|him|his)\b", "[MASK]", text),
}


@pytest.mark.parametrize("layout", layouts)
def test_layout_does_not_hide_a_sentence(
    layout: str, rows: list[dict], index: LeakIndex, tmp_path: Path
) -> None:
    missed = []
    for row in rows[::20]:
        content = layouts[layout](row["text"])
        (tmp_path / "x").write_bytes(content.encode() if isinstance(content, str) else content)
        if len(found(tmp_path / "x", index)) != 1:
            missed.append(row["id"])
    assert missed == []


def test_the_table_of_templates_is_found(index: LeakIndex) -> None:
    table = (ROOT / "dataset_scripts" / "sample_templates.tsv").read_bytes()
    lines = set(lines_of(table, index))
    assert lines == set(range(2, 146))


def test_another_ending_is_another_sentence(rows: list[dict], index: LeakIndex) -> None:
    beginnings = ["".join(row["text"][: row["pronoun"]["end"]]) for row in rows]
    assert lines_of("\n".join(f"{one} slept until noon." for one in beginnings), index) == []


words = st.sampled_from(FILLER)
separators = st.sampled_from([" ", "\n", "  ", "\t", ", ", " - ", "\r\n", "\u2019 ", " *"])


@settings(max_examples=150)
@given(data=st.data())
def test_a_sentence_is_found_at_its_line_across_any_borders(
    data: st.DataObject, rows: list[dict], index: LeakIndex
) -> None:
    row = data.draw(st.integers(0, len(rows) - 1))
    pieces = re.findall(r"\w+|[^\w\s]+", rows[row]["text"])
    laid_out = ""
    for piece in pieces:
        changed = data.draw(st.sampled_from([str.upper, str.lower, str.title]))(piece)
        laid_out += (changed if piece.isalnum() else "") + data.draw(separators)
    before = " ".join(data.draw(st.lists(words, max_size=60)))
    before = before.replace("moss", "\n")
    after = " ".join(data.draw(st.lists(words, max_size=30)))
    text = f"{before} {laid_out} {after}".encode()
    size = data.draw(st.integers(1, 80))
    blocks = [text[start : start + size] for start in range(0, len(text), size)]
    leaks = list(find_leaks(blocks, index))
    assert len(leaks) == 1
    first = 1 + before.count("\n")
    assert first <= leaks[0][0] <= first + laid_out.count("\n")
    reported = rows[int(leaks[0][1].rsplit(" ", 1)[1])]
    assert reported["pair_id"] == rows[row]["pair_id"]
    assert reported["label"] == rows[row]["label"]


@settings(max_examples=50)
@given(
    pieces=st.lists(
        st.sampled_from(["x", " ", "\n", "\\", "\\u", "\0", "\xff", "the "]), max_size=200
    )
)
def test_any_bytes_can_be_read(index: LeakIndex, pieces: list[str]) -> None:
    content = "".join(pieces).encode("latin-1")
    assert [*find_leaks([content[:7], content[7:]], index)] == []


# copies with one change

OTHER = "walnut"
PASSED = "he|him|his|zir"


def counted(text: str) -> list[re.Match[str]]:
    """The words that count: two letters and more, no pronoun."""
    return [w for w in re.finditer("[A-Za-z]{2,}", text) if not re.fullmatch(PASSED, w[0])]


@pytest.mark.parametrize(
    "other",
    [OTHER, "", f"{OTHER} {{}}", f"{OTHER} harbour"],
    ids=["changed", "lost", "added", "replaced by two"],
)
def test_a_copy_with_any_one_word_changed_is_found(
    other: str, rows: list[dict], index: LeakIndex
) -> None:
    he = [row["text"] for row in rows[::12] if row["pronoun"]["text"] in ("he", "him", "his")]
    texts = [re.sub(r"\b(he|him|his)\b", "zir", text) for text in he]
    copies = [
        text[: word.start()] + other.format(word[0]) + text[word.end() :]
        for text in texts
        for word in counted(text)
    ]
    assert len(copies) > 400
    content = "\n\n".join(f"Amber basil.\n{copy}\nCedar dune." for copy in copies)
    lines = set(lines_of(content, index))
    missed = [
        number for number in range(len(copies)) if not lines & {4 * number + 2, 4 * number + 3}
    ]
    assert missed == []


def test_names_that_changed_places_are_found(rows: list[dict], index: LeakIndex) -> None:
    for row in rows[::7]:
        first, second = (candidate["text"] for candidate in row["candidates"])
        swapped = row["text"].replace(first, "#").replace(second, first).replace("#", second)
        assert lines_of(swapped, index) == [1], row["id"]


def test_two_changed_words_hide_a_short_sentence(tmp_path: Path) -> None:
    text = "Amber basil cedar dune ember fjord grove heath iris jade."
    index = LeakIndex.of([dataset(tmp_path / "own", [text])])
    assert lines_of(text.replace("ember", OTHER), index) == [1]
    assert lines_of(text.replace("ember", OTHER).replace("heath", OTHER), index) == []


def test_of_one_copy_one_sentence_is_told(tmp_path: Path) -> None:
    """The one that it is, where others of the dataset are nearly the same."""
    texts = [f"Amber {word} cedar dune ember fjord grove heath iris." for word in FILLER[9:]]
    index = LeakIndex.of([dataset(tmp_path / "own", texts)])
    for row, text in enumerate(texts):
        told = [source for _, source in find_leaks([f"{text}\n".encode()], index)]
        assert told == [f"sentence of own own/test, row {row}"]


# precision


def test_a_long_sentence_without_its_last_words_is_not_reported(
    rows: list[dict], index: LeakIndex
) -> None:
    texts = [row["text"] for row in rows if row["pronoun"]["text"] in ("he", "him", "his")]
    cut = [text[: counted(text)[-3].start()] for text in texts]
    whole = [" ".join(row["text"].split()[-11:]) for row in rows]
    assert lines_of("\n\n".join(f"{one} amber basil" for one in cut), index) == []
    assert len(lines_of("\n".join(f"{one} amber basil" for one in whole), index)) == len(whole)


def test_text_of_our_own_making_holds_nothing(sample: Path, index: LeakIndex) -> None:
    """The standard library without its tests, its documentation strings and the licences."""
    survey = Survey()
    folder = sysconfig.get_path("stdlib")
    exclude = ["site-packages/*", "test/*", "*.pyc"]
    assert found(folder, index, exclude=exclude, history=False, survey=survey) == []
    assert survey.size > 10_000_000
    assert survey.unreadable == []


def test_shuffled_sentences_hold_nothing(rows: list[dict], index: LeakIndex) -> None:
    vocabulary = [word for row in rows for word in row["text"].split()]
    random.Random(0).shuffle(vocabulary)
    assert lines_of(" ".join(vocabulary * 10), index) == []


# canaries


def test_canaries_are_found_by_line(sample: Path, index: LeakIndex, tmp_path: Path) -> None:
    canary = index.canaries["sample"].encode()
    content = b"x\n" * 50 + b"y" + canary + b"\n" + canary
    for size in (1, 7, 1000):
        blocks = [content[start : start + size] for start in range(0, len(content), size)]
        assert list(find_leaks(blocks, index)) == [
            (51, "canary of sample"),
            (52, "canary of sample"),
        ]


# the index


def test_the_index_holds_numbers_only(sample: Path, index: LeakIndex, tmp_path: Path) -> None:
    index.write(tmp_path / "leak.index")
    table = pq.read_table(tmp_path / "leak.index")
    assert table.schema.remove_metadata() == COLUMNS
    assert not any(pa.types.is_string(kind) or pa.types.is_binary(kind) for kind in COLUMNS.types)
    facts = json.loads(table.schema.metadata[b"pronominal"])
    named = {"format", "tag_bits", "halves", "splits", "canaries", "sentences", "too_short"}
    assert facts.keys() == named
    assert facts["splits"] == ["sample double/test", "sample single/test"]


def test_no_two_runs_of_a_sentence_share_a_word(index: LeakIndex) -> None:
    """Or else whoever knows one run could find its neighbours word by word."""
    offsets: dict[int, list[int]] = {}
    for row in index.table.to_pylist():
        if row["remainder"]:
            continue
        offsets.setdefault(row["sentence"], []).append(row["offset"])
    distances = {b - a for one in map(sorted, offsets.values()) for a, b in pairwise(one)}
    assert distances == {RUN}


def test_tags_keep_few_bits_of_the_quick_hash(index: LeakIndex) -> None:
    assert 2**index.tag_bits <= len(index.table) * 2**11


def test_an_index_is_the_same_bytes_and_the_same_finds_when_read_again(
    sample: Path, index: LeakIndex, sentence: str, tmp_path: Path
) -> None:
    result = pronominal("leakcheck", "--write-index", tmp_path / "a", "--dataset", sample)
    assert result.returncode == 0
    index.write(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert lines_of(sentence, LeakIndex.read(tmp_path / "a")) == [1]
    result = pronominal("leakcheck", "--write-index", tmp_path / "a", "--dataset", sample)
    assert result.stderr.startswith(f"pronominal: {tmp_path / 'a'}: there is a file already")


def dataset(folder: Path, texts: list[str]) -> Path:
    (folder / "own").mkdir(parents=True)
    facts = {"dataset": "own", "config": "own", "split": "test"}
    table = pa.table({"text": texts}).replace_schema_metadata({"pronominal": json.dumps(facts)})
    pq.write_table(table, folder / "own" / "test.parquet")
    return folder


def test_short_rows_are_looked_for_whole_or_counted(tmp_path: Path) -> None:
    texts = [
        "Amber basil cedar dune.",
        "Amber basil cedar dune ember.",
        "Fjord grove. Heath iris! Jade kelp? Lagoon moss nectar amber cedar fjord.",
    ]
    index = LeakIndex.of([dataset(tmp_path / "own", texts)])
    assert (index.sentences, index.too_short) == (2, 1)
    assert lines_of("\n".join(texts), index) == [2, 3]
    assert lines_of("basil cedar dune ember", index) == []
    assert lines_of(f"{texts[1]}\n{texts[1]}\n", index) == [1, 2]


def test_passages_are_looked_for_sentence_by_sentence(tmp_path: Path) -> None:
    first = "Amber basil cedar dune ember fjord grove heath iris."
    second = "Jade kelp lagoon moss nectar iris heath grove fjord."
    index = LeakIndex.of([dataset(tmp_path / "own", [f"{first} {second}"])])
    assert index.sentences == 2
    assert lines_of(f"{second}\n\n{first}", index) == [1, 3]


def test_one_phrase_of_a_long_sentence_is_no_leak_and_its_ending_is(tmp_path: Path) -> None:
    one, two = (" ".join(f"{word}{letter}q" for word in FILLER[:8]) for letter in "ab")
    index = LeakIndex.of([dataset(tmp_path / "own", [f"{one} {two}"])])
    assert lines_of(f"{one} {' '.join(FILLER[:8])}", index) == []
    assert lines_of(f"{' '.join(FILLER[:8])} {two}", index) == [1]


def test_of_three_runs_the_last_one_or_two_are_needed_in_place(tmp_path: Path) -> None:
    one, two, three = (" ".join(f"{word}{letter}q" for word in FILLER[:8]) for letter in "abc")
    index = LeakIndex.of([dataset(tmp_path / "own", [f"{one} {two} {three}"])])
    for text, lines in {
        one: [],
        two: [],
        three: [1],
        f"{one} {two}": [],
        f"{two} xx yy zz {three}": [1],
        f"{one} {' '.join(FILLER[:7])} {three}": [1],
        f"{three} {two}": [1],
        f"{two} {' '.join(FILLER * 2)}": [],
        f"{one} {two} {three}": [1],
    }.items():
        assert lines_of(text, index) == lines


# wrong input


def test_json_is_printed_for_wrong_input_too(index: LeakIndex, tmp_path: Path) -> None:
    """And nothing is read before all paths are known to exist."""
    index.write(tmp_path / "leak.index")
    (tmp_path / "kept.txt").write_text("kept")
    arguments = ("kept.txt", "nowhere", "--index", "leak.index", "--json")
    result = pronominal("leakcheck", *arguments, cwd=tmp_path)
    told = json.loads(result.stdout)
    assert (result.returncode, told["documents"], told["leaks"]) == (2, 0, [])
    assert told["unreadable"][0].startswith("nowhere: there is no such file")


def test_names_of_files_cannot_steer_a_terminal(index: LeakIndex, tmp_path: Path) -> None:
    index.write(tmp_path / "leak.index")
    canary = next(iter(index.canaries.values()))
    (tmp_path / "a\x1b[2J\nb.txt").write_text(canary)
    (tmp_path / "c\x1b[2J.gz").write_bytes(b"\x1f\x8b and no more")
    result = pronominal("leakcheck", ".", "--index", "leak.index", cwd=tmp_path)
    assert result.returncode == 1
    assert r"a\x1b[2J\nb.txt:1: canary of sample" in result.stdout.splitlines()
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("halves", "é"),
        ("halves", ""),
        ("halves", None),
        ("tag_bits", 0),
        ("tag_bits", 10**30),
        ("tag_bits", "8"),
        ("splits", []),
        ("splits", [1]),
        ("canaries", ["x"]),
        ("canaries", {"x": None}),
    ],
)
def test_a_damaged_index_is_named(
    field: str, value: object, index: LeakIndex, tmp_path: Path
) -> None:
    index.write(tmp_path / "leak.index")
    table = pq.read_table(tmp_path / "leak.index")
    facts = json.loads(table.schema.metadata[b"pronominal"]) | {field: value}
    told = table.replace_schema_metadata({"pronominal": json.dumps(facts)})
    pq.write_table(told, tmp_path / "leak.index")
    (tmp_path / "leak.index").write_bytes(sealed((tmp_path / "leak.index").read_bytes()))
    with pytest.raises(InputError, match=r"leak\.index.*metadata.*--write-index|is damaged"):
        LeakIndex.read(tmp_path / "leak.index")


def test_an_index_of_which_one_bit_is_another_is_named(index: LeakIndex, tmp_path: Path) -> None:
    index.write(tmp_path / "leak.index")
    content, chance = (tmp_path / "leak.index").read_bytes(), random.Random(0)
    assert LeakIndex.read(tmp_path / "leak.index").table == index.table
    places = [*range(0, len(content), len(content) // 60), *range(len(content) - 60, len(content))]
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.randrange(8)
        (tmp_path / "leak.index").write_bytes(damaged)
        with pytest.raises(InputError, match=r"leak\.index.*--write-index"):
            LeakIndex.read(tmp_path / "leak.index")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--index", "leak.index"], "nowhere: there is no such file or folder"),
        (["kept.txt"], "give either --dataset FOLDER or --index FILE"),
        (["kept.txt", "--index", "a", "--dataset", "b"], "give either"),
        (["--index", "leak.index"], "there is nothing to look into"),
        (["kept.txt", "--index", "kept.txt"], "kept.txt: no index can be read"),
        (["kept.txt", "--index", "other.parquet"], "not an index of this version"),
        (["kept.txt", "--dataset", "."], "the folder holds no built dataset"),
        (["kept.txt", "--dataset", "nowhere"], "there is no such folder"),
        (["kept.txt", "--dataset", "foreign"], "not a file of a built dataset"),
        (["kept.txt", "--dataset", "short"], "no sentence is long enough"),
    ],
)
def test_wrong_input_is_one_line(
    arguments: list[str], message: str, index: LeakIndex, tmp_path: Path
) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    index.write(tmp_path / "leak.index")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    (tmp_path / "foreign" / "x").mkdir(parents=True)
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "foreign" / "x" / "test.parquet")
    dataset(tmp_path / "short", ["Too short."])
    result = pronominal("leakcheck", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1

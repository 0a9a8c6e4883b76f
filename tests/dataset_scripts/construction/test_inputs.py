"""What a corpus may look like: every format, packed or not, and what may be wrong with it."""

import bz2
import gzip
import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from pronominal.dataset_scripts.construction import inputs
from pronominal.dataset_scripts.construction.inputs import documents, kind_of, shards
from pronominal.errors import InputError

WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">
<page><title>A</title><ns>0</ns><id>7</id><revision><id>1</id><text>{first}</text></revision></page>
<page><title>B</title><ns>1</ns><id>8</id><revision><id>2</id><text>talk</text></revision></page>
<page><title>C</title><ns>0</ns><id>9</id><redirect title="A"/></page>
<page><title>D</title><ns>0</ns><id>10</id><revision><text>last</text></revision></page>
</mediawiki>
"""
OPUS = """<?xml version="1.0"?><document><s id="1"><time id="T1" value="00:01"/>
<w id="1.1">Ann</w> <w id="1.2">left</w> <w>.</w></s>
<s id="2">- Bert <b>stayed</b>.</s></document>"""
SUBTITLES = """1
00:00:01,000 --> 00:00:02,000
Ann left
and came.

2
00:00:03,000 --> 00:00:04,000
<i>Bert</i> stayed."""

CONTENTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    "a.txt": (
        "Ann left.\n\nBert stayed.\r\n",
        [("byte 0", "Ann left."), ("byte 11", "Bert stayed.")],
    ),
    "a.jsonl": ('{"text": "Ann\\nleft."}\n', [("byte 0", "Ann\nleft.")]),
    "a.xml": (WIKI.format(first="one"), [("page 7", "one"), ("page 10", "last")]),
    "b.xml": (OPUS, [("sentence 1", "Ann left."), ("sentence 2", "Bert stayed.")]),
    "a.srt": (SUBTITLES, [("cue 1", "Ann left and came."), ("cue 2", "<i>Bert</i> stayed.")]),
}


def read(path: Path, **options: str) -> tuple[list[tuple[str, str]], Counter[str]]:
    damage: Counter[str] = Counter()
    found = []
    for shard in shards([path]):
        for place, body in documents(shard, options.get("field", "text"), damage):
            found.append((place, body.strip()))
    return found, +damage


@pytest.mark.parametrize("packing", ["", ".gz", ".bz2", ".zst", ".ZST"])
@pytest.mark.parametrize("name", list(CONTENTS))
def test_every_format_packed_or_not(tmp_path: Path, name: str, packing: str) -> None:
    text, expected = CONTENTS[name]
    pack = {
        "": bytes,
        ".gz": gzip.compress,
        ".bz2": bz2.compress,
        ".zst": lambda content: pa.compress(content, codec="zstd", asbytes=True),
        # pzstd writes a frame before each frame, which is to be passed over
        ".ZST": lambda content: (
            b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + pa.compress(content, "zstd", asbytes=True)
        ),
    }
    path = tmp_path / (name + packing)
    path.write_bytes(pack[packing](text.encode()))
    assert read(path) == (expected, Counter())


def test_several_streams_in_one_bz2_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.bz2"
    path.write_bytes(bz2.compress(b"Ann left.\n") + bz2.compress(b"Bert stayed.\n"))
    assert len(read(path)[0]) == 2


MANY = "".join(f"line {number} is here\n" for number in range(200_000)).encode()


@pytest.mark.parametrize(
    ("name", "content", "whole", "damage"),
    [
        ("a.txt", b"good\n\xff\xfe bad\ngood\n", 2, {"file a.txt: lines that are not": 1}),
        ("a.jsonl", b'{"text": "a"}\n{"text": \n[1]\n', 1, {"file a.jsonl: lines that are no": 2}),
        (
            "a.jsonl",
            b'{"text": "a"}\n{"body": "a"}\n{"text": null}\n',
            1,
            {"file a.jsonl: objects without text in the field 'text'": 2},
        ),
        ("a.txt", b"", 0, {"file a.txt: holds no document": 1}),
        ("a.txt", b"\n \n", 0, {"file a.txt: holds no document": 1}),
        ("a.txt.gz", gzip.compress(MANY)[:-99], None, {"file a.txt.gz: ends too early": 1}),
        ("a.txt.bz2", bz2.compress(MANY)[:-99], None, {"file a.txt.bz2: ends too early": 1}),
        (
            "a.txt.bz2",
            b"BZh9" + b"no" * 90,
            0,
            {"file a.txt.bz2: damaged": 1, "file a.txt.bz2: holds": 1},
        ),
        (
            "a.txt.zst",
            pa.compress(MANY, codec="zstd", asbytes=True)[:-99],
            None,
            {"file a.txt.zst: ": 1},
        ),
        ("a.xml", WIKI.format(first="a\x01b").encode(), 2, {"file a.xml: control char": 1}),
        (
            "a.xml",
            WIKI.format(first="a&b").encode(),
            0,
            {"file a.xml: XML that is not well-formed": 1, "file a.xml: holds": 1},
        ),
        ("a.xml", WIKI.format(first="one").encode()[:-60], 1, {"file a.xml: XML that is": 1}),
        (
            "a.xml",
            WIKI.encode().replace(b"{first}", b"\xff"),
            1,
            {"file a.xml: XML documents that are not UTF-8": 1},
        ),
    ],
)
def test_what_cannot_be_read_is_counted_and_the_rest_is_read(
    tmp_path: Path, name: str, content: bytes, whole: int | None, damage: dict[str, int]
) -> None:
    (tmp_path / name).write_bytes(content)
    found, counted = read(tmp_path / name)
    assert len(found) == whole if whole is not None else 0 < len(found) < 200_000
    assert len(counted) == len(damage)
    for start, number in damage.items():
        assert [n for reason, n in counted.items() if reason.startswith(start)] == [number]


def test_a_line_that_is_too_long_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "a.txt"
    path.write_bytes(b"before\n" + b"x" * (50 << 20) + b"\nafter\n" + b"y" * (2 << 20))
    found, damage = read(path)
    assert [body for _, body in found] == ["before", "after"]
    assert damage == {"file a.txt: lines longer than 1 MB": 2}


@pytest.mark.parametrize(
    ("cues", "expected"),
    [
        (["Ann saw", "Bert leave.", "She slept."], ["Ann saw Bert leave.", "She slept."]),
        (["<i>Ann left.</i>", 'She said "no!"', "Why?"], 3),
        (["- Who left?\n- Ann left."], ["Who left? Ann left."]),
        (["\u2013 Ann is well-known."], ["Ann is well-known."]),
        # lyrics never end a sentence
        (["la la"] * 9, ["la la la la la la la la"] * 2 + ["la la"]),
    ],
)
def test_a_sentence_over_several_cues_is_one(
    tmp_path: Path, cues: list[str], expected: list[str] | int
) -> None:
    path = tmp_path / "a.srt"
    times = "00:00:01,000 --> 00:00:02,000"
    path.write_text("\n\n".join(f"{n}\n{times}\n{cue}" for n, cue in enumerate(cues, start=1)))
    found = [body for _, body in read(path)[0]]
    assert (len(found) if isinstance(expected, int) else found) == expected


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("Ann 's dog , which barked , left .", "Ann's dog, which barked, left."),
        ("I 'll say it is n't so ; why ?", "I'll say it isn't so; why?"),
        ("Ann said 'stay ' .", "Ann said 'stay '."),
    ],
)
def test_opus_words_are_joined_as_people_write(tmp_path: Path, words: str, text: str) -> None:
    path = tmp_path / "a.xml"
    elements = "".join(f"<w>{word}</w>" for word in words.split(" "))
    path.write_text(f"<document><s id='1'>{elements}</s></document>")
    assert read(path)[0] == [("sentence 1", text)]


@pytest.mark.parametrize("piece", [1, 7, 10, 11, 12, 1000])
def test_pieces_of_a_file_hold_each_line_once(tmp_path: Path, piece: int) -> None:
    path = tmp_path / "a.txt"
    lines = [f"line {number}" + "x" * (number % 13) for number in range(40)]
    path.write_text("\n".join(lines))
    whole, _ = read(path)
    damage: Counter[str] = Counter()
    found = [
        document for shard in shards([path], piece) for document in documents(shard, "text", damage)
    ]
    assert [(place, body.strip()) for place, body in found] == whole
    assert not damage


@pytest.mark.parametrize("name", ["a.txt", "a.txt.GZ", "a.txt.gz"])
def test_what_is_packed_is_not_cut_into_pieces(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(MANY))
    (shard,) = shards([path], 1000)
    assert len(list(documents(shard, "text", Counter()))) == 200_000


def test_folders_are_read_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b/1.txt", "a.jsonl", "b/0.txt", "c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps({"text": name}) + "\n")
    found = shards([tmp_path])
    assert [str(shard.path.relative_to(tmp_path)) for shard in found] == [
        *("a.jsonl", "b/0.txt", "b/1.txt", "c.txt")
    ]
    assert [shard.number for shard in found] == [0, 1, 2, 3]


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        shards([tmp_path / "no"])
    with pytest.raises(InputError, match="no file in it"):
        shards([tmp_path])


def test_kinds_are_told_by_names() -> None:
    names = {"A.XML.bz2": "xml", "a.json.gz": "jsonl", "a": "text", "a.srt": "subtitles"}
    assert {name: kind_of(Path(name)) for name in names} == names


def test_half_a_surrogate_pair_is_no_character(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"body": "Ann \\ud800 left."}\n')
    assert read(path, field="body")[0] == [("byte 0", "Ann ? left.")]

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal import Document, InputError, Span
from pronominal.eval.exchange.gold_conll2012 import merged, read_conll
from pronominal.eval.exchange.gold_coref_jsonl import read_coref_jsonl
from pronominal.spans import AnnotatedDocument

Row = tuple[str, str, str]
"""A word, its speaker, and its coreference column."""


def conll(sentences: list[list[Row]], name: str = "bc/own/00/own_0000", part: int = 0) -> str:
    """Lay sentences out as the shared task does, with one predicate's column in the second."""
    lines = [f"#begin document ({name}); part {part:03}"]
    for number, sentence in enumerate(sentences):
        for index, (word, speaker, coref) in enumerate(sentence):
            columns = [name, str(part), str(index), word, "NN", "*", "-", "-", "-", speaker, "*"]
            columns += ["(V*)"] * (number % 2)
            lines.append("   ".join([*columns, coref]))
        lines.append("")
    return "\n".join([*lines, "#end document", ""])


DIALOGUE = [
    [
        ("Ann", "Speaker#1", "(0)"),
        ("told", "Speaker#1", "-"),
        ("her", "Speaker#1", "(1|(0)"),
        ("oldest", "Speaker#1", "-"),
        ("friend", "Speaker#1", "1)"),
        ("everything", "Speaker#1", "-"),
        ("/.", "Speaker#1", "-"),
    ],
    [("She", "Speaker#2", "(1)"), ("listened", "Speaker#2", "-"), ("/?", "Speaker#2", "-")],
]


def written(folder: Path, content: str, name: str = "own.v4_gold_conll") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content, encoding="utf-8")
    return folder / name


def test_a_document_has_words_speakers_genre_key_and_clusters(tmp_path: Path) -> None:
    (found,) = read_conll(written(tmp_path, conll(DIALOGUE)))
    assert found.document == Document(
        words=[[word for word, _, _ in sentence] for sentence in DIALOGUE],
        speakers=[["Speaker#1"] * 7, ["Speaker#2"] * 3],
        genre="bc",
        key="bc/own/00/own_0000_0",
    )
    assert found.clusters == [[Span(0, 1), Span(2, 3)], [Span(2, 5), Span(7, 8)]]


def column(*corefs: str) -> list[list[Row]]:
    return [[(f"w{i}", "-", coref) for i, coref in enumerate(corefs)]]


@pytest.mark.parametrize(
    ("corefs", "clusters"),
    [
        (["-", "-"], []),
        (["(3)", "-", "(3)"], [[(0, 1), (2, 3)]]),
        (["(3", "3)", "(3)"], [[(0, 2), (2, 3)]]),
        # a mention inside another of its own cluster: the last one opened closes first
        (["(3", "(3", "3)", "3)"], [[(0, 4), (1, 3)]]),
        (["(3", "(3)|3)"], [[(0, 2), (1, 2)]]),
        (["(3|(3", "3)", "3)"], [[(0, 2), (0, 3)]]),
        # mentions that cross
        (["(1", "(2", "1)", "2)", "(1)|(2)"], [[(0, 3), (4, 5), (1, 4)]]),
        (["(1", "(2", "1)", "2)", "(1)", "(2)"], [[(0, 3), (4, 5)], [(1, 4), (5, 6)]]),
        # one ends where the next begins
        (["(1", "1)|(2", "2)"], [[(0, 2)], [(1, 3)]]),
        (["(10)", "(1)", "(10)", "(1)"], [[(0, 1), (2, 3)], [(1, 2), (3, 4)]]),
        # twice the same mention, and one that is in two clusters
        (["(1)|(1)", "(1)"], [[(0, 1), (1, 2)]]),
        (["(1)|(2)", "(1)", "(2)"], [[(0, 1), (1, 2), (2, 3)]]),
        (["(5)"], [[(0, 1)]]),
    ],
)
def test_brackets(tmp_path: Path, corefs: list[str], clusters: list[list[Any]]) -> None:
    (found,) = read_conll(written(tmp_path, conll(column(*corefs))))
    wanted = [sorted(Span(*span) for span in cluster) for cluster in clusters]
    assert found.clusters == sorted(wanted)


def test_parts_are_documents_of_their_own(tmp_path: Path) -> None:
    """Cluster numbers begin again in each part."""
    content = conll(column("(0)", "(0)")) + conll(column("(0)", "-", "(0)"), part=12)
    found = read_conll(written(tmp_path, content))
    assert [one.document.key for one in found] == ["bc/own/00/own_0000_0", "bc/own/00/own_0000_12"]
    assert [one.clusters for one in found] == [
        [[Span(0, 1), Span(1, 2)]],
        [[Span(0, 1), Span(2, 3)]],
    ]


def test_a_folder_is_read_in_the_order_of_its_names(tmp_path: Path) -> None:
    for name in ("nw/b", "bc/a", "wb/deep/er/c"):
        written(tmp_path, conll(column("-"), name=name), f"{name}.gold_conll")
    written(tmp_path, "not conll", "bc/a.gold_parse")
    found = read_conll(tmp_path)
    assert [one.document.genre for one in found] == ["bc", "nw", "wb"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no file is named \*_conll; give the folder of them"):
        read_conll(tmp_path / "empty")


def test_odd_names_and_words(tmp_path: Path) -> None:
    rows = [[("a\u00a0b", "-", "-"), ("-LRB-", "-", "-"), ("#end", "-", "-"), ("(1)", "-", "-")]]
    (found,) = read_conll(written(tmp_path, "\n\n" + conll(rows, name="own(2);part-1")))
    assert found.document.words == [["a\u00a0b", "-LRB-", "#end", "(1)"]]
    assert (found.document.genre, found.document.key) == (None, "own(2);part-1_0")
    (none,) = read_conll(written(tmp_path, conll([[], []])))
    assert none == AnnotatedDocument(Document([], [], "bc", "bc/own/00/own_0000_0"), [])


WHOLE = conll(DIALOGUE).splitlines()


def replaced(number: int, old: str, new: str) -> str:
    """Change one line, counted from 1."""
    lines = [*WHOLE]
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("\n".join(WHOLE[:-1]), r"line 1: the document that begins here has no #end document"),
        ("\n".join(WHOLE[:-1] + WHOLE), r"line 14: the document of line 1 has no #end document"),
        ("\n".join(WHOLE[1:]), r"line 1: a word outside of a document"),
        (replaced(4, "(1|(0)", "(1|0"), r"line 4: '0' is no bracket of a mention"),
        (replaced(4, "(1|(0)", "(1||(0)"), r"line 4: a text of 0 characters is no bracket"),
        (replaced(4, "(1|(0)", "(x)"), r"line 4: '\(x\)' is no bracket of a mention"),
        (replaced(4, "(1|(0)", "(1|(0))"), r"line 4: '\(0\)\)' is no bracket"),
        (replaced(4, "(1|(0)", "(0)"), r"line 6: 1\) closes a mention that is not open"),
        (replaced(6, "1)", "-"), r"line 4: \(1 opens a mention that is not closed"),
        (replaced(8, "-   -   -   ", ""), r"line 8: 9 columns, not 12 or more"),
    ],
)
def test_what_is_not_in_the_format_is_named_by_line(
    tmp_path: Path, content: str, said: str
) -> None:
    with pytest.raises(InputError, match=r"own\.v4_gold_conll, " + said):
        read_conll(written(tmp_path, content))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin_conll").write_bytes("Käse".encode("latin-1"))
    for name, said in (
        ("latin", "line 1: the text is not UTF-8; give a file in UTF-8"),
        ("none", "cannot be read"),
    ):
        with pytest.raises(InputError, match=f"{name}_conll.*{said}"):
            read_conll(tmp_path / f"{name}_conll")


MENTIONS = st.tuples(st.integers(0, 6), st.integers(1, 3)).map(lambda m: Span(m[0], m[0] + m[1]))


@given(st.lists(st.lists(MENTIONS, min_size=1, max_size=4), max_size=5))
def test_merged_clusters_are_the_connected_ones(clusters: list[list[Span]]) -> None:
    found = merged(clusters)
    every = [span for cluster in found for span in cluster]
    assert len(every) == len(set(every))
    assert set(every) == {span for cluster in clusters for span in cluster}
    assert all(any(set(cluster) <= set(one) for one in found) for cluster in clusters)
    assert found == sorted(sorted(cluster) for cluster in found)
    # none that could be split
    for cluster in found:
        parts = [set(part) for part in clusters if set(part) <= set(cluster)]
        reached = parts[0]
        for _ in parts:
            reached = reached.union(*(part for part in parts if part & reached))
        assert reached == set(cluster)


@given(st.lists(st.lists(MENTIONS, min_size=1, max_size=4, unique=True), max_size=4))
def test_what_is_written_in_brackets_is_read(
    tmp_path_factory: pytest.TempPathFactory, clusters: list[list[Span]]
) -> None:
    """Each mention is a cluster number of its own cluster; closing ones stand first."""
    corefs = []
    for at in range(9):
        closing = [f"{n})" for n, c in enumerate(clusters) for s, e in c if s < at == e - 1]
        opening = [f"({n}" for n, c in enumerate(clusters) for s, e in c if s == at < e - 1]
        alone = [f"({n})" for n, c in enumerate(clusters) for s, e in c if s == at == e - 1]
        corefs.append("|".join([*closing, *opening, *alone]) or "-")
    file = written(tmp_path_factory.mktemp("conll"), conll(column(*corefs)))
    (found,) = read_conll(file)
    nested = [[*cluster] for cluster in clusters]
    if all(not crossing(a, b) for cluster in clusters for a in cluster for b in cluster):
        assert found.clusters == merged(nested)
    else:  # brackets of one number nest, so that crossing mentions of one cluster swap their ends
        assert sum(map(len, found.clusters)) <= sum(map(len, nested))


def crossing(one: Span, other: Span) -> bool:
    return one.start < other.start < one.end < other.end


# upstream's JSON lines


WORDS_RECORD = {
    "doc_key": "bc/own/00/own_0000_0",
    "sentences": [["Ann", "left", "."], ["She", "was", "late", "."]],
    "speakers": [["a", "a", "a"], ["b", "b", "b", "b"]],
    "clusters": [[[3, 3], [0, 0]]],
}
PIECES_RECORD = {
    "doc_key": "bc/own/00/own_0000_0",
    "sentences": [
        ["[CLS]", "An", "##n", "left", ".", "[SEP]"],
        ["[CLS]", "She", "was", "late", ".", "[SEP]"],
    ],
    "speakers": [["[SPL]", "a", "a", "a", "a", "[SPL]"], ["[SPL]", "b", "b", "b", "b", "[SPL]"]],
    "sentence_map": [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2],
    "subtoken_map": [0, 0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 6],
    "clusters": [[[7, 7], [1, 2]]],
}


def lines(folder: Path, *records: Any) -> Path:
    return written(folder, "".join(f"{json.dumps(record)}\n" for record in records), "own.jsonl")


@pytest.mark.parametrize("record", [WORDS_RECORD, PIECES_RECORD], ids=["words", "pieces"])
def test_both_forms_say_the_same(tmp_path: Path, record: dict[str, Any]) -> None:
    (found,) = read_coref_jsonl(lines(tmp_path, record))
    assert found == AnnotatedDocument(
        Document(
            WORDS_RECORD["sentences"],  # type: ignore[arg-type]
            WORDS_RECORD["speakers"],  # type: ignore[arg-type]
            "bc",
            "bc/own/00/own_0000_0",
        ),
        [[Span(3, 4), Span(0, 1)]],
    )


def test_a_sentence_may_go_over_segments(tmp_path: Path) -> None:
    record = {
        "doc_key": "own",
        "sentences": [["[CLS]", "Ann", "[SEP]"], ["[CLS]", "le", "##ft", "[SEP]"]],
        "speakers": [["[SPL]", "a", "[SPL]"], ["[SPL]", "a", "a", "[SPL]"]],
        "sentence_map": [0, 0, 0, 0, 0, 0, 1],
        "subtoken_map": [0, 0, 0, 0, 1, 1, 1],
        "clusters": [],
    }
    (found,) = read_coref_jsonl(lines(tmp_path, record))
    assert found.document == Document([["Ann", "left"]], [["a", "a"]], None, "own")


@pytest.mark.parametrize(
    "file", ["c2f/goldens-clean-public.jsonl", "e2e/goldens-clean-public.jsonl"]
)
def test_upstreams_own_files(goldens: Path, tmp_path: Path, file: str) -> None:
    rows = [json.loads(line) for line in (goldens / file).read_text("utf-8").splitlines()]
    found = read_coref_jsonl(lines(tmp_path, *(row["input"] for row in rows)))
    assert len(found) == len(rows)
    for row, one in zip(rows, found, strict=True):
        raw = row.get("raw") if isinstance(row.get("raw"), dict) else None
        if raw is not None and "sentences" in raw and "[UNK]" not in str(row["input"]):
            slashed = [[w.replace("/.", ".") for w in s] for s in raw["sentences"]]
            assert one.document.words == slashed, row["id"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"doc_key": None}, "TypeError"),
        ({"speakers": [["a"]]}, "ValueError: speakers have another shape than sentences"),
        ({"clusters": [[[0, 9]]]}, "a mention from 0 to 9 lies outside of the document"),
        ({"clusters": [[[2, 1]]]}, "a mention from 2 to 1 lies outside of the document"),
        ({"clusters": [[1]]}, "TypeError"),
        ({"sentences": [[1, 2, 3], ["She", "was", "late", "."]]}, "TypeError: a word is no string"),
        ({"subtoken_map": [0]}, "zip"),
    ],
)
def test_a_line_that_is_no_document(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    record = (PIECES_RECORD if "subtoken_map" in change else WORDS_RECORD) | change
    with pytest.raises(InputError, match=rf"own\.jsonl, line 2: no doc.*{said}"):
        read_coref_jsonl(lines(tmp_path, WORDS_RECORD, record))

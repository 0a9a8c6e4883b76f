"""Gold documents in the forms that CAW, fastcoref and CorefUD are trained on."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("spacy")

from pronominal import Document, InputError, Span
from pronominal.adapters.caw.heads import head_spans
from pronominal.eval.exchange.gold_caw import read_caw
from pronominal.eval.exchange.gold_corefud import read_corefud
from pronominal.eval.exchange.gold_fastcoref import read_fastcoref
from pronominal.eval.training.data.reading import read_data
from pronominal.eval.training.data.request import DataRequest
from pronominal.spans import AnnotatedDocument

WORDS = [["Ann", "left", "."], ["She", "slept", "."]]
SPEAKERS = [["s1"] * 3, ["s2"] * 3]
CLUSTERS = [[Span(0, 1), Span(3, 4)]]
FLAT = [word for sentence in WORDS for word in sentence]
CAW: dict[str, Any] = {
    "document_id": "nw/own",
    "cased_words": FLAT,
    "sent_id": [0, 0, 0, 1, 1, 1],
    "span_clusters": [[[0, 1], [3, 4]]],
}
INCLUSIVE = {"clusters": [[[0, 0], [3, 3]]]}
TEXT = {"text": "Ann left. She slept.", "clusters": [[[0, 3], [10, 13]]]}

READ: dict[str, tuple[Callable[[Path], list[AnnotatedDocument]], dict[str, Any], Document]] = {
    "caw": (read_caw, CAW, Document(WORDS, None, "nw", "nw/own")),
    "caw, who speaks": (
        read_caw,
        {**CAW, "speaker": ["s1"] * 3 + ["s2"] * 3},
        Document(WORDS, SPEAKERS, "nw", "nw/own"),
    ),
    "fastcoref, tokens": (read_fastcoref, {"tokens": FLAT, **INCLUSIVE}, Document([FLAT])),
    "fastcoref, sentences": (
        read_fastcoref,
        {"doc_key": "own", "sentences": WORDS, "speakers": SPEAKERS, **INCLUSIVE},
        Document(WORDS, SPEAKERS, None, "own"),
    ),
    "fastcoref, text": (read_fastcoref, TEXT, Document(WORDS)),
}


@pytest.mark.parametrize("case", READ)
def test_a_document(case: str, tmp_path: Path) -> None:
    read, record, wanted = READ[case]
    file = tmp_path / "own.jsonl"
    file.write_text(json.dumps(record) + "\n")
    assert read(file) == [AnnotatedDocument(wanted, CLUSTERS)]


FAULTS: dict[str, tuple[Callable[[Path], list[AnnotatedDocument]], dict[str, Any], str]] = {
    "no clusters": (read_caw, {**CAW, "span_clusters": None}, "give document_id, cased_words"),
    "too few numbers": (read_caw, {**CAW, "sent_id": [0]}, "no document with gold clusters"),
    "a governor behind the end": (
        read_caw,
        {**CAW, "pos": ["NN"] * len(CAW["cased_words"]), "head": [99] * len(CAW["cased_words"])},
        "pos and head are not those of the words",
    ),
    "behind the end": (read_caw, {**CAW, "span_clusters": [[[5, 9]]]}, "lies outside"),
    "inside a word": (read_fastcoref, {**TEXT, "clusters": [[[0, 2]]]}, "0:2 begins or ends"),
    "no words": (read_fastcoref, {"clusters": []}, "give clusters, and text, tokens or sentences"),
    "a number": (read_fastcoref, {"tokens": [1]}, "a word is no string"),
    "speakers": (read_fastcoref, {"tokens": FLAT, "speakers": [["s"]]}, "another shape"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_has_file_and_line(case: str, tmp_path: Path) -> None:
    read, record, message = FAULTS[case]
    file = tmp_path / "own.jsonl"
    file.write_text(f"\n{json.dumps(record)}\n")
    with pytest.raises(InputError, match=rf"own\.jsonl, line 2: .*{message}"):
        read(file)


def write_corefud(file: Path) -> Path:
    def line(number: int, word: str, entity: str) -> str:
        return "\t".join([str(number), word, *"_X__", "0", "root", "_", entity])

    lines = ["# newdoc id = own", "# global.Entity = eid-etype-head-other"]
    lines += [line(1, "Ann", "Entity=(e1--1-)"), line(2, "left", "_"), line(3, ".", "_"), ""]
    lines += [line(1, "She", "Entity=(e1--1-)"), line(2, "slept", "_"), line(3, ".", "_"), ""]
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_corefud_in_sentences(tmp_path: Path) -> None:
    wanted = [AnnotatedDocument(Document(WORDS, key="own"), CLUSTERS)]
    assert read_corefud(write_corefud(tmp_path / "own.conllu")) == wanted
    assert read_corefud(tmp_path) == wanted
    with pytest.raises(InputError, match=r"no file is named \*\.conllu"):
        read_corefud(_empty(tmp_path))


PARSED = """# newdoc id = own
# global.Entity = eid-etype-head-other
1 Ann PROPN 2 nsubj
2 feeds VERB 0 root
3 the DET 4 det Entity=(e1-2--
4 owner NOUN 2 obj
5-6 catsand _ _ _
5 cats NOUN 4 nmod
6 and CCONJ 7 cc
7 dogs NOUN 5 conj Entity=e1)
8 or CCONJ 9 cc
9 sleeps VERB 2 conj

1 She PRON 2 nsubj
2 sings VERB 0 root
"""


def write_parsed(file: Path, text: str = PARSED) -> Path:
    def line(columns: str) -> str:
        number, word, tag, governor, relation, *misc = columns.split()
        parse = [number, word, "_", tag, "_", "_", governor, relation, "_"]
        return "\t".join([*parse, *(misc or "_")])

    lines = [line(one) if one[:1].isdigit() else one for one in text.splitlines()]
    file.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return file


def test_corefud_with_its_parse(tmp_path: Path) -> None:
    (gold,) = read_corefud(write_parsed(tmp_path / "own.conllu"))
    assert gold.syntax is not None
    # of "and", the first part that it joins; of "or", too
    assert [one.governor for one in gold.syntax] == [1, None, 3, 1, 3, 4, 4, 1, 1, 10, None]
    assert [*head_spans(gold).items()] == [(3, Span(2, 7))]
    assert gold.document.words[0][5] == "and"
    shorter = PARSED.replace("4 owner NOUN 2 obj", "4 owner NOUN 2 obj Entity=(e2-2--)").replace(
        "5 cats NOUN 4 nmod", "5 cats NOUN 4 nmod Entity=(e3-2--"
    )
    (gold,) = read_corefud(
        write_parsed(tmp_path / "more.conllu", shorter.replace("=e1)", "=e3)e1)"))
    )
    assert head_spans(gold) == {3: Span(3, 4), 5: Span(4, 7)}


@pytest.mark.parametrize("governor", ["12", "x", "-1", "9" * 5000, "_"])
def test_a_governor_that_is_no_word_of_the_sentence(tmp_path: Path, governor: str) -> None:
    text = PARSED.replace("3 the DET 4", f"3 the DET {governor}")
    with pytest.raises(InputError, match=r"line 5: the governor \(column 7\) is not the number"):
        read_corefud(write_parsed(tmp_path / "own.conllu", text))


def _empty(folder: Path) -> Path:
    (folder / "empty").mkdir()
    return folder / "empty"


def test_kinds_of_documents_are_one_set(tmp_path: Path) -> None:
    caw, own = tmp_path / "caw.jsonl", tmp_path / "own.jsonl"
    caw.write_text(json.dumps(CAW) + "\n")
    own.write_text(json.dumps(TEXT) + "\n")
    corefud = write_corefud(tmp_path / "own.conllu")
    kinds = [f"caw:{caw}", f"fastcoref:{own}", f"corefud:{corefud}"]
    found = read_data(DataRequest(data=kinds, validation=[f"caw:{caw}"]))
    assert (len(found.documents), len(found.validation_documents)) == (3, 1)
    assert found.name == "caw+fastcoref+corefud"

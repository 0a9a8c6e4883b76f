"""What is written for another system is read back as it was: texts, ids, clusters, decisions.

A failing assert shows what stands in it, so rows are compared before it.
"""

import csv
import json
import random
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

pytest.importorskip("spacy")
pytest.importorskip("tokenizers")

from hypothesis import given, settings
from hypothesis import strategies as st

from pronominal import InputError, Span
from pronominal.decisions import BOTH, NONE, Decision
from pronominal.eval.exchange import FORMATS, exchange_format
from pronominal.eval.exchange.documents import ExportedText, id_of, linked
from pronominal.eval.exchange.matching import matched
from pronominal.eval.runs.decision_rules import decision_rule
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Mention

OF_CLUSTERS = sorted(FORMATS.keys() - {"winopron-tsv"})
OF_WORD_PIECES = ("coref-hoi", "spanbert")
IN_BRACKETS = ("conll2012", "corefud", "crac-text")
"""Formats that have the mentions of a cluster in the order of the text."""


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("vocabulary") / "vocab.txt"
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "pilot", "##s", "left", "nurse", ".", ","]
    letters = [f"{prefix}{letter}" for prefix in ("", "##") for letter in "abdehilnoprstu'"]
    file.write_text("\n".join([*pieces, *letters]) + "\n")
    return file


def instance(text: str, name: str = "row-0", **columns: Any) -> ResolutionInstance:
    nobody = Mention("", -1, -1)
    return ResolutionInstance(name, text, nobody, (nobody, nobody), 0, columns)


def read_back(
    form: str, texts: Sequence[ExportedText], out: Path, vocabulary: Path
) -> dict[str, list[Cluster] | Decision]:
    """Write texts, read what was written, and return what it says of each id."""
    module = exchange_format(form)
    options = {"vocabulary": vocabulary} if form in OF_WORD_PIECES else {}
    module.write(iter(texts), out, **options)
    found = matched([text.instance for text in texts], module.read(out), out)
    assert not found.failed
    assert not found.left_out
    return found.answers


def differing(form: str, texts: Iterable[ExportedText], found: dict[str, Any]) -> list[str]:
    """Return the ids whose clusters are not those that were written."""
    in_text_order = form in IN_BRACKETS
    return [
        text.instance.id
        for text in texts
        if found[text.instance.id]
        != [sorted(c) if in_text_order else c for c in text.clusters or []]
    ]


def crossing(one: Span, other: Span) -> bool:
    (_, end), (start, last) = sorted((one, other))
    return one.start != other.start and start < end < last


def clusters_of(places: Sequence[Span], spans: Iterable[tuple[int, int, int]]) -> list[Cluster]:
    """Put spans of words together to clusters, as (cluster, first word, length)."""
    clusters: dict[int, Cluster] = {}
    for number, first, length in spans:
        if places:
            start = first % len(places)
            end = min(start + length, len(places)) - 1
            span = Span(places[start].start, places[end].end)
            cluster = clusters.setdefault(number, [])
            if span not in cluster and not any(crossing(span, other) for other in cluster):
                cluster.append(span)
    return [cluster for cluster in clusters.values() if len(cluster) > 1]


TEXTS = st.text(
    st.sampled_from("aabdehilnoprstu.,,'\"()[]-–—…`’“”$£/*<>&|=_#%:;!?Éß王🙂0123  \n\t\u00a0"),
    min_size=1,
    max_size=60,
).filter(lambda text: not text.isspace())
SPANS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(1, 4)), max_size=8)
IDS = st.text(min_size=1, max_size=12)


@pytest.mark.parametrize("form", OF_CLUSTERS)
@settings(max_examples=40)
@given(rows=st.dictionaries(IDS, st.tuples(TEXTS, SPANS), min_size=1, max_size=3))
def test_random_texts_ids_and_clusters(
    form: str,
    rows: dict[str, tuple[str, Any]],
    tmp_path_factory: pytest.TempPathFactory,
    vocabulary: Path,
) -> None:
    texts = []
    for name, (text, spans) in rows.items():
        exported = ExportedText(instance(text, name))
        clusters = clusters_of(exported.words(spaces=False).places, spans)
        texts.append(ExportedText(exported.instance, clusters))
    found = read_back(form, texts, tmp_path_factory.mktemp(form) / "out", vocabulary)
    assert differing(form, texts, found) == []


ROWS = 12
"""Of each split of each dataset."""


def every_split(
    built: Callable[[str], Path],
) -> Iterator[tuple[str, list[ResolutionInstance]]]:
    for name in ("gap", "knowref", "winogender", "winonb", "winopron"):
        for file in sorted(built(name).glob("*/*.parquet")):
            rows = pq.read_table(file).slice(0, 8 * ROWS)
            kept = rows.to_pylist()[:: max(1, len(rows) // ROWS)]
            label = f"{name}/{file.parent.name}/{file.stem}"
            yield label, [ResolutionInstance.from_row(row) for row in kept]


@pytest.fixture(scope="module")
def splits(built: Callable[[str], Path]) -> dict[str, list[ExportedText]]:
    """Rows of every split, each with clusters made up and a decision."""
    chance = random.Random(11)
    found = {}
    for label, rows in every_split(built):
        texts = []
        for row in rows:
            places = ExportedText(row).words(spaces=False).places
            drawn = [(i % 2, chance.randrange(len(places)), chance.randint(1, 4)) for i in range(6)]
            decision = chance.choice([Decision(0), Decision(1), NONE, BOTH])
            texts.append(ExportedText(row, clusters_of(places, drawn), decision))
        found[label] = texts
    return found


@pytest.mark.parametrize("form", OF_CLUSTERS)
def test_every_dataset(
    form: str, splits: dict[str, list[ExportedText]], tmp_path: Path, vocabulary: Path
) -> None:
    for number, (label, texts) in enumerate(splits.items()):
        found = read_back(form, texts, tmp_path / str(number), vocabulary)
        assert differing(form, texts, found) == [], label
        assert sum(bool(text.clusters) for text in texts) > ROWS // 2, label


def test_winoprons_tables_keep_decisions(
    splits: dict[str, list[ExportedText]], tmp_path: Path, vocabulary: Path
) -> None:
    tried = 0
    for number, (label, texts) in enumerate(splits.items()):
        if label.startswith(("winopron", "winogender")):
            found = read_back("winopron-tsv", texts, tmp_path / str(number), vocabulary)
            wrong = [t.instance.id for t in texts if found[t.instance.id] != t.decision]
            assert wrong == [], label
            tried += 1
    assert tried == 4


TEXT = "The pilot (a nurse's friend) didn't leave:  \"She\" left."
PILOT, SHE = Span(0, 9), Span(45, 48)
OWN = ExportedText(instance(TEXT, "own 1/a"), [[PILOT, SHE]], Decision(0))


NAMED = {"occupation": "pilot", "participant": "nurse", "case": "nominative"}
WINOPRON_LIKE = ExportedText(instance(TEXT, **NAMED), decision=NONE)


def lines(form: str, text: ExportedText, folder: Path, **options: Any) -> list[str]:
    exchange_format(form).write([text], folder / "out", **options)
    return (folder / "out").read_text("utf-8").splitlines()


def test_conll2012(tmp_path: Path) -> None:
    written = lines("conll2012", OWN, tmp_path)
    assert written[0] == "#begin document (wb/own%201%2Fa); part 000"
    assert written[-1] == "#end document"
    rows = [line.split() for line in written[1:-2]]
    assert {len(row) for row in rows} == {12}
    assert [row[-1] for row in rows if row[-1] != "-"] == ["(0", "0)", "(0)"]
    assert [row[5] for row in rows][:2] == ["(TOP(S*", "*"]
    assert rows[-1][5] == "*))"
    assert [row[2] for row in rows] == [str(number) for number in range(len(rows))]


def test_conll2012_is_what_the_training_reads(tmp_path: Path) -> None:
    from pronominal.eval.exchange.gold_conll2012 import read_conll

    exchange_format("conll2012").write([OWN], tmp_path / "own_conll")
    (read,) = read_conll(tmp_path / "own_conll")
    worded = OWN.words(spaces=False)
    assert read.document.words == worded.sentences
    assert (read.document.genre, read.clusters) == ("wb", worded.clusters())


def test_corefud(tmp_path: Path) -> None:
    written = lines("corefud", OWN, tmp_path)
    assert written[:3] == [
        "# newdoc id = wb_own%201%2Fa",
        "# global.Entity = eid-etype-head-other",
        "# sent_id = wb_own%201%2Fa-1",
    ]
    rows = [line.split("\t") for line in written if line[:1].isdigit()]
    assert {len(row) for row in rows} == {10}
    assert [row[9] for row in rows if "Entity" in row[9]] == [
        "Entity=(e1--1-",
        "Entity=e1)",
        "Entity=(e1--1-)|SpaceAfter=No",
    ]
    assert [row[6:8] for row in rows][:2] == [["0", "root"], ["1", "dep"]]


COREFUD = """# global.Entity = eid-etype-head-minspan-link
# newdoc id = wb_row-0
1\tThe\t_\t_\t_\t_\t0\t_\t_\tEntity=(e2-person-2-1,2-(e5[1/2]-place-1-1-
2\tpilot\t_\t_\t_\t_\t0\t_\t_\tEntity=e2)|SpaceAfter=No
3-4\t'sn't\t_\t_\t_\t_\t_\t_\t_\t_
3\t's\t_\t_\t_\t_\t0\t_\t_\tEntity=e5[1/2])(e9-person-1-1-)
4\tn't\t_\t_\t_\t_\t0\t_\t_\tBridge=e2<e5
4.1\t_\t_\t_\t_\t_\t_\t_\t_\tEntity=(e2-person-1-1-)(e7-x-1-1-
5\ther\t_\t_\t_\t_\t0\t_\t_\tEntity=e7)(e5[2/2]-place-1-1-)(e2-person-1-1-)
"""


def test_corefud_of_others(tmp_path: Path) -> None:
    (tmp_path / "other.conllu").write_text(COREFUD)
    (found,) = exchange_format("corefud").read(tmp_path / "other.conllu")
    assert found.content == ["The", "pilot", "'s", "n't", "her"]
    assert (found.key, found.place) == ("wb_row-0", "line 2")
    assert found.clusters == [
        [Span(0, 2), Span(4, 5)],
        [Span(0, 5)],  # in two parts
        [Span(4, 5)],  # begins at an empty node
        [Span(2, 3)],
    ]


def test_corefud_brackets_without_an_entity_are_refused(tmp_path: Path) -> None:
    (tmp_path / "short.conllu").write_text(
        "# global.Entity = etype-eid-head\n1\tshe\t_\t_\t_\t_\t0\t_\t_\tEntity=(e1)\n"
    )
    with pytest.raises(InputError, match=r"line 2: .*a bracket of Entity has no eid"):
        [*exchange_format("corefud").read(tmp_path / "short.conllu")]


def test_caw(tmp_path: Path) -> None:
    (line,) = lines("caw", OWN, tmp_path)
    record = json.loads(line)
    assert record["document_id"][:3] == "wb_"
    assert len(record["sent_id"]) == len(record["cased_words"])
    assert [[record["cased_words"][s:e] for s, e in c] for c in record["span_clusters"]] == [
        [["The", "pilot"], ["She"]]
    ]
    (line,) = lines("caw", ExportedText(OWN.instance), tmp_path)
    assert "span_clusters" not in json.loads(line)


@pytest.mark.parametrize("form", OF_WORD_PIECES)
def test_word_pieces(form: str, tmp_path: Path, vocabulary: Path) -> None:
    (line,) = lines(form, OWN, tmp_path, vocabulary=vocabulary, segment_length=12)
    record = json.loads(line)
    assert record["doc_key"][:3] == "dw_"
    pieces = [piece for segment in record["sentences"] for piece in segment]
    assert len(record["sentences"]) > 1
    assert all(s[0] == "[CLS]" and s[-1] == "[SEP]" for s in record["sentences"])
    assert len(pieces) == len(record["subtoken_map"]) == len(record["sentence_map"])
    (first, last), _ = record["predicted_clusters"][0]
    assert pieces[first : last + 1][-1] == "pilot"
    with pytest.raises(InputError, match="word pieces need the model's vocabulary"):
        lines(form, OWN, tmp_path)


PIECES = {
    "doc_key": "dw",
    "sentences": [
        ["[CLS]", "The", "pi", "##lot", "[UNK]", "[SEP]"],
        ["[CLS]", "and", "she", ".", "[SEP]"],
    ],
    "speakers": [["[SPL]", *"----", "[SPL]"], ["[SPL]", *"---", "[SPL]"]],
    "subtoken_map": [0, 0, 1, 1, 2, 2, 2, 3, 4, 5, 5],
    "predicted_clusters": [[[0, 2], [8, 8], [5, 6]], [[3, 3], [4, 7]]],
}


@pytest.mark.parametrize("form", OF_WORD_PIECES)
def test_word_pieces_of_others(form: str, tmp_path: Path) -> None:
    """coref-hoi writes documents without line ends between them."""
    (tmp_path / "other").write_text(json.dumps(PIECES) + json.dumps(PIECES | {"doc_key": "b"}))
    one, other = exchange_format(form).read(tmp_path / "other")
    assert one.content == ["The", "pilot", "[UNK]", "and", "she", "."]
    # widened to words; a mention of [SEP] and [CLS] is none
    assert one.clusters == [[Span(0, 2), Span(4, 5)], [Span(1, 2), Span(2, 4)]]
    assert (one.key, other.key, other.place) == ("dw", "b", "line 1, document 2")


def test_files_of_winoprons_authors(goldens: Path) -> None:
    """SpanBERT's answers as their scripts put them in, and the table that they made of them."""
    table = goldens / "c2f" / "winopron-convert-expected.tsv"
    with table.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file, delimiter="\t")]
    instances = [
        ResolutionInstance(
            f"row-{number}",
            row["sentence"],
            Mention(row["pronoun"], -1, -1),
            (Mention(row["occupation"], -1, -1), Mention(row["participant"], -1, -1)),
            0,
        )
        for number, row in enumerate(rows)
    ]
    pieces = goldens / "c2f" / "winopron-convert-input.jsonl"
    clusters = matched(instances, exchange_format("spanbert").read(pieces), pieces).answers
    wanted = matched(instances, exchange_format("winopron-tsv").read(table), table).answers
    read = decision_rule("upstream-spanbert")
    wrong = [i.id for i in instances if read(i, clusters[i.id]) != wanted[i.id]]  # type: ignore[arg-type]
    # the same mention twice in a cluster counts once with us, and answers for itself with them
    records = [json.loads(line) for line in pieces.read_text().splitlines()]
    twice = [any(len({*map(tuple, c)}) < len(c) for c in r["predicted_clusters"]) for r in records]
    assert wrong == [f"row-{number}" for number, repeats in enumerate(twice) if repeats]
    assert 0 < len(wrong) < len(rows) / 4
    assert len({str(decision) for decision in wanted.values()}) > 2


def test_allennlp_and_fastcoref_read_raw_texts(tmp_path: Path) -> None:
    bare = ExportedText(OWN.instance)
    assert json.loads(lines("allennlp", bare, tmp_path)[0]) == {"document": TEXT}
    assert json.loads(lines("fastcoref", bare, tmp_path)[0]) == {"text": TEXT}
    written = json.loads(lines("fastcoref", OWN, tmp_path)[0])
    assert written["clusters_strings"] == [["The pilot", "She"]]


def test_brat(tmp_path: Path) -> None:
    exchange_format("brat").write([OWN], tmp_path / "out")
    (marked,) = (tmp_path / "out").glob("*.ann")
    assert marked.read_text().splitlines() == [
        "T1\tMention 0 9\tThe pilot",
        "T2\tMention 45 48\tShe",
        "*\tCoreference T1 T2",
    ]
    assert (tmp_path / "out" / "wb_own%201%2Fa.txt").read_text() == TEXT


BRAT = """T1\tPerson 0 9\tThe pilot
T9\tPerson 45 48\tShe
T3\tPerson 0 3;14 19\tThe nurse
#1\tAnnotatorNotes T1\tsure
R1\tCoref Arg1:T9 Arg2:T1\t
R2\tEmployed Arg1:T3 Arg2:T1
A1\tNamed T1
*\tEquiv T3 T9
"""


def test_brat_of_others(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "a.ann").write_text(BRAT)
    (found,) = exchange_format("brat").read(tmp_path)
    assert (found.key, found.place) == ("a", "a.ann")
    assert [sorted(cluster) for cluster in found.clusters] == [[PILOT, Span(0, 19), SHE]]


CORT = (
    '<mention id="0" span_start="0" span_end="1">The pilot</mention> -LRB- '
    '<mention id="1" span_start="3" span_end="4" entity="2">a nurse</mention> -RRB- left .\n'
    '<mention id="2" span_start="8" span_end="8" antecedent="0">She</mention> met '
    '<mention id="3" span_start="10" span_end="10" entity="2" antecedent="1">her</mention> .\n'
)


def test_cort_of_others(tmp_path: Path) -> None:
    """An entity with the number 0 is written by its antecedents alone."""
    (tmp_path / "wb_row-0.txt.latent").write_text(CORT)
    (found,) = exchange_format("cort").read(tmp_path)
    assert found.key == "wb_row-0"
    assert found.content[2:6] == ["-LRB-", "a", "nurse", "-RRB-"]
    assert found.clusters == [[Span(3, 5), Span(10, 11)], [Span(0, 2), Span(8, 9)]]


def test_what_a_format_cannot_say_is_refused(tmp_path: Path) -> None:
    def clusters(*spans: Span) -> ExportedText:
        return ExportedText(OWN.instance, [[*spans]])

    crossed = clusters(Span(0, 9), Span(4, 11))
    for form in IN_BRACKETS:
        with pytest.raises(InputError, match="id own 1/a: two mentions of a cluster cross"):
            lines(form, crossed, tmp_path)
    with pytest.raises(InputError, match="id own 1/a: the mention 0:2 begins or ends inside"):
        lines("caw", clusters(Span(0, 2), SHE), tmp_path)
    with pytest.raises(InputError, match="no occupation and participant"):
        lines("winopron-tsv", OWN, tmp_path)
    assert not [*tmp_path.iterdir()]


BROKEN = {
    "conll2012": "#begin document (a); part 000\na 0 0 w - * - - - - * 1)\n#end document\n",
    "corefud": "1\tw\t_\t_\t_\t_\t0\t_\t_\tEntity=e1)\n",
    "caw": '{"document_id": "a", "cased_words": ["w"], "span_clusters": [[[0, 2]]]}\n',
    "allennlp": '{"document": "w", "clusters": []}\n',
    "crac-json": '{"doc_id": "a", "tokens": ["w"], "clusters_token_offsets": []}\n',
    "crac-text": "w|e1]\n",
    "e2e": '{"doc_key": "a", "sentences": [["w"]], "clusters": []}\n',
    "fastcoref": '{"text": "w", "clusters": [[[0, "x"]]]}\n',
    "spanbert": '{"doc_key": "a", "sentences": [["w"]], "predicted_clusters": []}\n',
    "coref-hoi": '["doc_key"]\n',
    "winopron-tsv": "sentence\tanswer\nw\tw\n",
}


WRONG = {
    "a key of another type": {"document_id": 7},
    "words of another type": {"cased_words": [1, 2]},
    "one string for words": {"cased_words": None},
    "half a word": {"span_clusters": [[[0, 1.5]]]},
    "three borders": {"span_clusters": [[[0, 1, 2]]]},
    "no clusters": {"span_clusters": None},
    "a negative place": {"span_clusters": [[[-1, 1]]]},
    "an empty mention": {"span_clusters": [[[1, 1]]]},
}


@pytest.mark.parametrize("fault", WRONG)
def test_wrong_types_are_named_with_the_line(fault: str, tmp_path: Path) -> None:
    record = {"document_id": "a", "cased_words": ["x", "y"], "span_clusters": []}
    texts = [record, record | WRONG[fault]]
    (tmp_path / "out").write_text("\n".join(map(json.dumps, texts)))
    with pytest.raises(InputError, match="out, line 2: no document with an answer"):
        list(exchange_format("caw").read(tmp_path / "out"))


def test_tables_that_are_cut_off(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("sentence\tgeneration\nx\ty\nz\n")
    with pytest.raises(InputError, match="out, line 3: the row has fewer columns"):
        list(exchange_format("winopron-tsv").read(tmp_path / "out"))
    (tmp_path / "out").write_text("sentence\tgeneration\nx\t" + "y" * 200_000)
    with pytest.raises(InputError, match="out, line 2: field larger than field limit"):
        list(exchange_format("winopron-tsv").read(tmp_path / "out"))


CRAC_TEXT = "Maria|[e1] said|[e2 ##|[e1] that|e2] her|[e1],[e3 old cook|e3] ##x|[e4] sang|up .\n"


def test_words_of_empty_nodes_are_no_words(tmp_path: Path) -> None:
    (tmp_path / "out").write_text(f"{CRAC_TEXT}\n")
    (found,) = exchange_format("crac-text").read(tmp_path / "out")
    words = ["Maria", "said", "that", "her", "old", "cook", "sang|up", "."]
    clusters = [[Span(0, 1), Span(3, 4)], [Span(1, 3)], [Span(3, 6)]]
    assert (found.content, found.clusters, found.zeros) == (words, clusters, 2)
    for text, named in (("w|e1]", r"e1\] closes"), ("w|[e1", r"\[e1 opens")):
        (tmp_path / "out").write_text(f"{text}\n")
        with pytest.raises(InputError, match=f"line 1: {named} a mention"):
            list(exchange_format("crac-text").read(tmp_path / "out"))
    tokens = ["Maria", "said", "##", "that", "her", "old", "cook", "##x", "sang|up", "."]
    offsets = [[[0, 0], [2, 2], [4, 4]], [[1, 3]], [[4, 6]], [[7, 7]]]
    record = {"doc_id": "a", "tokens": tokens, "clusters_token_offsets": offsets}
    (tmp_path / "out").write_text(json.dumps([record], indent=2))
    (found,) = exchange_format("crac-json").read(tmp_path / "out")
    assert (found.content, found.clusters, found.zeros) == (words, clusters, 2)


FAULTS_OF_CRAC_JSON = {
    "tokens": "a b",
    "clusters_token_offsets": [[[0, 2]]],
    "doc_id": 7,
}


@pytest.mark.parametrize("field", FAULTS_OF_CRAC_JSON)
def test_wrong_types_are_named_with_the_document(field: str, tmp_path: Path) -> None:
    record = {"doc_id": "a", "tokens": ["x", "y"], "clusters_token_offsets": []}
    documents = [record, record | {field: FAULTS_OF_CRAC_JSON[field]}]
    (tmp_path / "out").write_text(json.dumps(documents))
    with pytest.raises(InputError, match="out, document 2: no document with an answer"):
        list(exchange_format("crac-json").read(tmp_path / "out"))


def test_no_mention_of_corefud_reaches_across_sentences(tmp_path: Path) -> None:
    text = "Ann left. She came back. He left."
    across = ExportedText(instance(text), [[Span(0, 3), Span(4, 13)]])
    written = lines("corefud", across, tmp_path)
    assert [line for line in written if line.startswith("# text")] == [
        "# text = Ann left. She came back.",
        "# text = He left.",
    ]


@pytest.mark.parametrize("form", BROKEN)
def test_broken_files_are_named_with_the_line(form: str, tmp_path: Path) -> None:
    file = tmp_path / "broken"
    file.write_text(BROKEN[form])
    with pytest.raises(InputError, match=r"broken(, line \d)?: .*; (give|mend)"):
        list(exchange_format(form).read(file))
    file.write_bytes(b"\n\xff")
    with pytest.raises(InputError, match="broken, line 2: the text is not UTF-8; give a file in"):
        list(exchange_format(form).read(file))
    with pytest.raises(InputError, match=r"none: cannot be read \(No such file or directory\)"):
        list(exchange_format(form).read(tmp_path / "none"))


@pytest.mark.parametrize("form", sorted(FORMATS.keys() - {"brat", "cort", *OF_WORD_PIECES}))
def test_a_byte_order_mark_is_passed_over(form: str, tmp_path: Path) -> None:
    lines(form, WINOPRON_LIKE if form == "winopron-tsv" else OWN, tmp_path)
    written = (tmp_path / "out").read_bytes()
    (tmp_path / "marked").write_bytes(BOM_UTF8 + written)
    module = exchange_format(form)
    assert [*module.read(tmp_path / "marked")] == [*module.read(tmp_path / "out")]


def test_brat_counts_a_byte_order_mark(tmp_path: Path) -> None:
    exchange_format("brat").write([OWN], tmp_path / "out")
    (text,) = (tmp_path / "out").glob("*.txt")
    text.write_bytes(BOM_UTF8 + text.read_bytes())
    (found,) = exchange_format("brat").read(tmp_path / "out")
    assert found.content == f"\ufeff{TEXT}"


@pytest.mark.parametrize("form", ["brat", "cort"])
def test_folders_without_answers_are_refused(form: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no file is named \*"):
        list(exchange_format(form).read(tmp_path))
    (tmp_path / "a.ann").write_text("*\tCoref T1 T2\n")
    (tmp_path / "a.txt").write_text("w")
    (tmp_path / "a.txt.out").write_text('<mention id="0" span_start="0" antecedent="7">w\n')
    with pytest.raises(InputError, match=r"a\.(ann|txt\.out): "):
        list(exchange_format(form).read(tmp_path))


@given(
    st.lists(IDS, min_size=1, max_size=5, unique=True),
    st.sampled_from(["wb/", "wb_", "dw_", "nw_"]),
)
def test_keys_stand_for_their_ids(names: list[str], genre: str) -> None:
    """Whatever other ids there are, such as one that looks like another's key."""
    every = {*names, *(f"wb_{name}" for name in names), *(f"{name}_0" for name in names)}
    for name in every:
        key = ExportedText(instance("w", name)).key(genre)
        assert id_of(key, every) == name
        assert not set(key[3:]) & set(" \t\n()/:|")


def test_keys_that_others_have_changed() -> None:
    """minimize.py of the coreference repositories adds the number of the part."""
    assert id_of("wb/row%200_0", {"row 0"}) == "row 0"
    assert id_of("row 0", {"row 0"}) == "row 0"
    assert id_of("wb_17", {"row 0"}) is None
    assert id_of(None, {"row 0"}) is None


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=3), max_size=6))
def test_links_make_the_connected_clusters(links: list[list[str]]) -> None:
    found = linked(links)
    every = [name for cluster in found for name in cluster]
    assert sorted(every) == sorted({name for link in links for name in link})
    assert all(any({*link} <= {*cluster} for cluster in found) for link in links)


def test_a_format_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="there is no format 'conll'; did you mean 'conll2012'"):
        exchange_format("conll")


def test_a_long_word_in_a_tag_of_cort_takes_no_time(tmp_path: Path) -> None:
    """A pattern that tried every letter as a beginning would take a minute for this."""
    attributes = f'{"a" * 200_000} id="0" span_start="0" span_end="0" entity="1"'
    (tmp_path / "wb_x.txt.out").write_text(f"<mention {attributes}>Ann</mention> slept")
    (document,) = exchange_format("cort").read(tmp_path)
    assert document.clusters == [[(0, 1)]]

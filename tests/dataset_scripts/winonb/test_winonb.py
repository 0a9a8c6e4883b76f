"""WinoNB: v1's sentences, v0's labels, every mention located; and each fault is named.

A failing assert prints what stands in it, so rows are compared before it.
"""

import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal import InputError
from pronominal.dataset_scripts import winonb
from pronominal.dataset_scripts.building.build import write_dataset
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.tables.parquet_files import read_parquet
from pronominal.dataset_scripts.tables.tab_separated import TableRow
from pronominal.dataset_scripts.winonb.personal_names import FIFTEEN_NAMES
from pronominal.dataset_scripts.winonb.schemas import TABLE, parse_schema
from tests.conftest import ROOT

Row = dict[str, Any]
V0, V1 = "v0/winonb_someone.tsv", "v1/winonb_someone.tsv"
# where facts say that the second form of they is the pronoun in question
SECOND = {128, 129, 198, 199, 200, 1487, 1488, 3739, 3740}
FURTHER_PERSON = {3249, 3250, 4013, 4014}


@pytest.fixture(scope="module")
def published(built: Callable[[str], Path]) -> dict[str, list[Row]]:
    files = built("winonb").glob("*/*.parquet")
    return {file.parent.name: read_parquet([file]).to_pylist() for file in files}


@pytest.fixture(scope="module")
def generic(published: dict[str, list[Row]]) -> list[Row]:
    return published["generic"]


@pytest.fixture(scope="module")
def personal(published: dict[str, list[Row]]) -> list[Row]:
    return published["personal"]


def individual_first(row: Row) -> bool:
    group, individual = row["candidates"]
    return bool(individual["start"] < group["start"])


def sentid(row: Row, label: int) -> str:
    from_winobias = (str(row["winobias_type"]), row["winobias_split"])
    origin = from_winobias if row["source"] == "winobias" else ()
    return ".".join((row["group"], "someone", str(label), *origin, "someone", "txt"))


def digest(lines: list[str]) -> str:
    return hashlib.sha256(("\n".join(sorted(lines)) + "\n").encode()).hexdigest()


@pytest.fixture(scope="module")
def digests(goldens: Path) -> dict[str, Any]:
    return dict(json.loads((goldens / "data" / "digests.json").read_text()))


def test_rows_are_those_of_v1(generic: list[Row], digests: dict[str, Any]) -> None:
    # v1's own label follows from the published columns: its rule is that of the card's errata
    lines = []
    for row in generic:
        label = int(individual_first(row)) if row["source"] == "winobias" else row["label"]
        lines.append(f"{row['source']}\t{sentid(row, label)}\t{row['text']}")
    found = digest(lines)
    assert found == digests["winonb_v1_raw"]["sha256"]


def test_labels_are_those_of_v0(
    upstream: Path, generic: list[Row], digests: dict[str, Any]
) -> None:
    sentences = [
        line.split("\t")[2] for line in (upstream / "winonb" / V0).read_text().splitlines()[1:]
    ]
    lines = [
        f"{row['source']}\t{sentid(row, row['label'])}\t{sentence}"
        for row, sentence in zip(generic, sentences, strict=True)
    ]
    found = digest(lines)
    assert found == digests["winonb_v0_raw"]["sha256"]


def test_counts_are_the_papers(generic: list[Row], personal: list[Row]) -> None:
    counts = Counter((row["source"], row["number"]) for row in generic)
    assert counts == {
        ("winogender", "singular"): 60,
        ("winogender", "plural"): 60,
        ("winobias", "singular"): 1861,
        ("winobias", "plural"): 1861,
        ("wsc", "singular"): 43,
        ("wsc", "plural"): 44,
        ("dpr", "singular"): 74,
        ("dpr", "plural"): 74,
    }
    associations = Counter(row["association"] for row in personal)
    assert associations == {
        "fem": 20385,
        "masc": 20385,
        "neutral": 20385,
    }
    assert {row["individual"] for row in generic} == {"someone"}
    assert len({row["individual"] for row in personal}) == 15


@pytest.mark.parametrize("config", ["generic", "personal"])
def test_mentions_and_labels_hold(published: dict[str, list[Row]], config: str) -> None:
    rows = published[config]
    forms = {"they", "them", "their", "theirs", "themself", "themselves"}
    wrong = Counter[str]()
    for row in rows:
        text, (group, individual) = row["text"], row["candidates"]
        for mention in (row["pronoun"], group, individual):
            wrong["offset"] += text[mention["start"] : mention["end"]] != mention["text"]
        wrong["group"] += group["text"].lower() != row["group"].lower()
        wrong["individual"] += individual["text"].lower() != row["individual"].lower()
        wrong["pronoun"] += row["pronoun"]["text"].lower() not in forms
        wrong["number"] += row["number"] != ("plural", "singular")[row["label"]]
        wrong["origin"] += (row["winobias_type"] is None) != (row["source"] != "winobias")
        wrong["origin"] += (row["winobias_split"] is None) != (row["source"] != "winobias")
    assert +wrong == {}
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids) == {"generic": 4077, "personal": 61155}[config]


def test_columns_are_the_contracts(generic: list[Row]) -> None:
    columns = list(generic[0])
    assert columns == [
        *("id", "text", "pronoun", "candidates", "label", "source", "individual", "group"),
        *("association", "number", "winobias_type", "winobias_split"),
    ]


def test_the_pronoun_is_the_second_form_in_nine_rows_only(generic: list[Row]) -> None:
    forms = re.compile(r"\b(they|them|their|theirs|themself|themselves)\b", re.IGNORECASE)
    earlier = [len(forms.findall(row["text"][: row["pronoun"]["start"]])) for row in generic]
    assert {number for number, count in enumerate(earlier) if count} == SECOND
    assert max(earlier) == 1


def test_only_a_further_person_stays_someone(personal: list[Row]) -> None:
    left = Counter(int(row["id"][:4]) for row in personal if "someone" in row["text"].lower())
    assert left == dict.fromkeys(FURTHER_PERSON, 15)


def test_names_replace_someone_and_nothing_else(generic: list[Row], personal: list[Row]) -> None:
    order = [person.name for person in FIFTEEN_NAMES.names]
    wrong = Counter[str]()
    for number, row in enumerate(personal):
        origin, name = generic[number // 15], order[number % 15]
        wrong["order"] += row["id"] != f"{number // 15:04d}-{name}"
        # where a sentence begins with the individual, "Someone" has a capital
        restored = row["text"].replace(name, "someone")
        wrong["text"] += restored[:1].upper() + restored[1:] != origin["text"]
        wrong["label"] += row["label"] != origin["label"]
    assert +wrong == {}


def test_the_cards_errata_are_exact(generic: list[Row]) -> None:
    card = ROOT / "cards" / "winonb.md"
    listed = re.search(r"```text\n(.*?)```", card.read_text(encoding="utf-8"), re.DOTALL)
    assert listed is not None
    rows: list[int] = []
    for span in listed.group(1).split():
        first, _, last = span.partition("-")
        rows += range(int(first), int(last or first) + 1)
    by_the_rule = [
        number
        for number, row in enumerate(generic)
        if row["source"] == "winobias" and individual_first(row) != (row["label"] == 1)
    ]
    assert rows == by_the_rule
    assert len(rows) == 2908
    assert rows[:4] == [357, 358, 361, 362]


PRONOUNS = frozenset(
    ("he", "she", "him", "her", "his", "hers", "they", "them", "their", "themself")
)


def stem(word: str) -> str:
    return re.sub("ies$", "y", word.lower()).removesuffix("s")


def words_and_pairs(sentence: str) -> Counter[Any]:
    words = ["_" if w in PRONOUNS else stem(w) for w in re.findall(r"\w+", sentence.lower())]
    return Counter(words) + Counter(pairwise(words))


def test_labels_agree_with_the_gold_brackets_of_winobias(
    upstream: Path, generic: list[Row]
) -> None:
    """Align each row with the most similar WinoBias sentence, which brackets its referent."""
    gold: dict[tuple[int, str], list[tuple[str, Counter[Any]]]] = {}
    for path in (upstream / "winobias").glob("*_type?.txt.*"):
        key = (int(path.name.split("_type")[1][0]), path.suffix[1:])
        for line in path.read_text().splitlines():
            sentence = line.partition(" ")[2]
            brackets = re.findall(r"\[(.+?)\]", sentence)
            referent = next(mention for mention in brackets if mention.lower() not in PRONOUNS)
            gold.setdefault(key, []).append((stem(referent.split()[-1]), words_and_pairs(sentence)))
    rows = [row for row in generic if row["source"] == "winobias"]
    ours = theirs = 0
    for row in rows:
        group, words = stem(row["group"].split()[-1]), words_and_pairs(row["text"])
        _, plural = max(
            ((words & others).total() / max(words.total(), others.total()), referent == group)
            for referent, others in gold[row["winobias_type"], row["winobias_split"]]
            if group in others
        )
        ours += plural == (row["label"] == 0)
        theirs += plural != individual_first(row)
    # ten rows are as like or liker to a sister sentence; looked at one by one, v0 is right in all
    assert (len(rows), ours, theirs) == (3722, 3712, 816)


def test_no_sentence_has_two_labels(generic: list[Row]) -> None:
    sentences = len({row["text"] for row in generic})
    labelled = len({(row["text"], row["label"]) for row in generic})
    assert labelled == sentences == 3626


def test_validate_passes_on_the_real_data(upstream: Path) -> None:
    assert [str(violation) for violation in winonb.violations(Sources(upstream))] == []


# from here on: sentences of our own

OWN = (
    ("wsc", "plumbers.someone.1.someone.txt", "The plumbers told someone that they should leave."),
    (
        "wsc",
        "plumbers.someone.0.someone.txt",
        "Someone's cat hid while the plumbers had their tea.",
    ),
    (
        "dpr",
        "night nurses.someone.0.someone.txt",
        "Someone thanked the Night nurses and paid them.",
    ),
)


def own_rows() -> list[TableRow]:
    return [
        TableRow("own.tsv", f"line {line}", line, dict(zip(TABLE, cells, strict=True)))
        for line, cells in enumerate(OWN, start=2)
    ]


@given(st.sampled_from(own_rows()), st.text("ABcdé' -", min_size=1, max_size=12))
def test_any_name_keeps_every_offset(row: TableRow, name: str) -> None:
    schema = parse_schema((row, row))
    filled = winonb.fill(schema, name, "neutral")
    text, (group, individual) = filled.text, filled.candidates
    for mention in (filled.pronoun, group, individual):
        assert text[mention.start : mention.end] == mention.text
    assert individual.text == name
    assert group.text.lower() == schema.group
    assert len(text) == len(schema.text) + len(name) - len("someone")


def write_own(folder: Path, old: str, new: str) -> Sources:
    for name, text in ((V0, old), (V1, new)):
        path = folder / "winonb" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode())
    return Sources(folder, allow_changed=True)


def table(*rows: tuple[str, str, str]) -> str:
    return "\n".join("\t".join(cells) for cells in (TABLE, *rows))


def test_v0_gives_the_label_and_v1_the_sentence(tmp_path: Path) -> None:
    ids = "guards.someone.{}.1.dev.someone.txt"
    old = ("winobias", ids.format(0), "someone saw the guards before they left .")
    new = ("winobias", ids.format(1), "Someone saw the guards before they left.")
    sources = write_own(tmp_path, table(old).replace("\n", "\r\n"), table(new))
    first = next(winonb.splits(sources, BuildOptions()))
    (row,) = (row for piece in first.tables for row in piece.to_pylist())
    assert row["text"] == new[2]
    assert (row["label"], row["number"]) == (0, "plural")
    assert (row["winobias_type"], row["winobias_split"]) == (1, "dev")


def both(sentid: str, sentence: str) -> tuple[tuple[tuple[str, str, str]], ...]:
    """One row that v0 and v1 share."""
    return ((("wsc", sentid, sentence),),) * 2


# rows of v0, rows of v1, and the file, line and cause that the error names
FAULTS = {
    "another sentence in v0": (OWN[:1], OWN[1:2], V1, 2, "not the sentence that v0 has"),
    "a row that v0 lacks": (OWN[:2], OWN, V0, None, "2 rows where v1/winonb_someone.tsv has 3"),
    "a row that v1 lacks": (OWN, OWN[:1], V1, None, "1 rows where v0/winonb_someone.tsv has 3"),
    "a repeated row": (OWN, (OWN[0], *OWN), V1, 3, "not the sentence that v0 has"),
    "a sentid of another form": (*both("plumbers.1.txt", OWN[0][2]), V1, 2, "the sentid is not"),
    "a group that is not there": (
        *both("cooks.someone.1.someone.txt", OWN[0][2]),
        *(V1, 2, "the group does not occur"),
    ),
    "a group that occurs twice": (
        *both(OWN[0][1], "The plumbers told someone that they are plumbers."),
        *(V1, 2, "the group occurs more than once"),
    ),
    "no individual": (
        *both(OWN[0][1], "The plumbers said that they should leave."),
        *(V1, 2, "someone does not occur"),
    ),
    "no pronoun": (
        *both(OWN[0][1], "The plumbers told someone to leave."),
        *(V1, 2, "a form of they does not occur"),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_build_names_the_line_of(tmp_path: Path, fault: str) -> None:
    old, new, file, line, message = FAULTS[fault]
    sources = write_own(tmp_path, table(*old), table(*new))
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        write_dataset(winonb, sources, BuildOptions(), tmp_path / "out")
    assert caught.value.row == (line and f"line {line}")
    assert str(caught.value.file).endswith(file)
    assert not list(tmp_path.glob("out/*"))


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def renamed(content: bytes) -> bytes:
    return content.replace(b"sentence", b"sent", 1)


def latin1(content: bytes) -> bytes:
    return content.replace(b"Someone", b"Som\xe9one", 1).replace(b"someone", b"som\xe9one", 1)


def repeated(content: bytes) -> bytes:
    lines = content.split(b"\n")
    return b"\n".join((*lines[:9], *lines[8:]))


@pytest.mark.parametrize("file", [V0, V1])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (cut, r"not of upstream's form|cut short|SHA-256 differs|rows where|not the sentence"),
        (renamed, "line 1: the column 'sentence' is missing"),
        (latin1, r"line \d+: the text is not UTF-8"),
        (repeated, r"line 10: not the sentence that v0 has"),
        (lambda content: content + b" ", r"SHA-256 differs.*--allow-changed|not the sentence"),
    ],
    ids=["cut", "renamed", "latin1", "repeated", "blank at the end"],
)
def test_damaged_sources_are_named(
    upstream: Path, tmp_path: Path, file: str, damage: Callable[[bytes], bytes], message: str
) -> None:
    path = damaged(upstream, tmp_path, file, damage)
    with pytest.raises(InputError, match=message):
        write_dataset(winonb, Sources(tmp_path), BuildOptions(), tmp_path / "out")
    assert not list(tmp_path.glob("out/*"))
    assert path.exists()


def damaged(upstream: Path, out: Path, file: str, damage: Callable[[bytes], bytes]) -> Path:
    for name in (V0, V1):
        (out / "winonb" / name).parent.mkdir(parents=True)
        shutil.copyfile(upstream / "winonb" / name, out / "winonb" / name)
    path = out / "winonb" / file
    path.write_bytes(damage(path.read_bytes()))
    return path


def test_line_ends_do_not_matter(upstream: Path, tmp_path: Path) -> None:
    damaged(upstream, tmp_path, V1, lambda content: content.replace(b"\n", b"\r\n"))
    path = tmp_path / "winonb" / V0
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    assert [str(violation) for violation in winonb.violations(Sources(tmp_path))] == []


@pytest.mark.parametrize(
    ("file", "line", "messages"),
    [
        # line 12 is from Winogender, where both versions agree; line 400 is from WinoBias
        (V0, 12, {"v1 has another label than v0", "2909 labels differ between v0 and v1"}),
        (V1, 12, {"v1 has another label than v0", "2909 labels differ between v0 and v1"}),
        (V1, 400, {"v1's label does not follow the order of the entities"}),
    ],
)
def test_validate_names_a_changed_label(
    upstream: Path, tmp_path: Path, file: str, line: int, messages: set[str]
) -> None:
    def other_label(content: bytes) -> bytes:
        swapped = {b".0.": b".1.", b".1.": b".0."}
        lines = content.split(b"\n")
        lines[line - 1] = re.sub(
            rb"\.[01]\.", lambda found: swapped[found.group()], lines[line - 1], count=1
        )
        return b"\n".join(lines)

    damaged(upstream, tmp_path, file, other_label)
    found = list(winonb.violations(Sources(tmp_path)))
    assert found[0].row == f"line {line}"
    said = " ".join(violation.message for violation in found)
    assert {message for message in messages if message in said} == messages
    assert "SHA-256 differs" in found[-1].message


def test_a_changed_file_is_named_in_the_card(tmp_path: Path) -> None:
    sources = write_own(tmp_path, table(*OWN), table(*OWN))
    write_dataset(winonb, sources, BuildOptions(), tmp_path / "out")
    card = (tmp_path / "out/winonb/README.md").read_text()
    assert f"winonb/{V0}, winonb/{V1}" in card

"""Antecedent switching: its own inverse, offsets that hold, and a reason for every refusal."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from pronominal import InputError, Mention, ResolutionInstance, Span
from pronominal.cli import switching as commands
from pronominal.dataset_scripts.own_rows.switched_files import switch_file
from pronominal.switching import (
    Occurrence,
    Unswitchable,
    locate_candidates,
    occurrences,
    switch,
    switch_row,
)


def instance(
    marked: str, label: int = 0, names: tuple[str, str] | None = None
) -> ResolutionInstance:
    """Read ``{0:Ada} met {1:Bea} before [she] left``; `names` replaces what the marks hold."""
    text, places = "", {}
    for piece in re.split(r"(\{\d:[^}]*\}|\[[^\]]*\])", marked):
        if piece[:1] in ("{", "["):
            key, word = (piece[1], piece[3:-1]) if piece[0] == "{" else ("pronoun", piece[1:-1])
            places[key] = Mention(word, len(text), len(text) + len(word))
            text += word
        else:
            text += piece
    candidates = [places.get(str(i), Mention((names or ("", ""))[i], -1, -1)) for i in (0, 1)]
    if names:
        candidates = [Mention(n, c.start, c.end) for n, c in zip(names, candidates, strict=True)]
    return ResolutionInstance("x", text, places["pronoun"], tuple(candidates), label, {"own": 1})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{0:Ada} met {1:Bea} before [she] left .", "{1:Bea} met {0:Ada} before [she] left ."),
        ("{1:Jo} or {0:Christopher} said [he] won", "{0:Christopher} or {1:Jo} said [he] won"),
        # a name inside the other one, on either side of it
        ("{0:Kim} hid {1:Kim Lee} , so [she] ran", "{1:Kim Lee} hid {0:Kim} , so [she] ran"),
        ("Dr. {1:Ann Fox} saw {0:Fox} as [she] sat", "Dr. {0:Fox} saw {1:Ann Fox} as [she] sat"),
        # every occurrence moves, after the pronoun too, and the marked one keeps its mark
        ("Al saw {0:Al} and {1:Cy} as [he] led Al", "Cy saw {1:Cy} and {0:Al} as [he] led Cy"),
        # longer words, digits and underscores are other words
        (
            "{0:Jose} and Josephine hit {1:Steve} . [He]",
            "{1:Steve} and Josephine hit {0:Jose} . [He]",
        ),
        ("{0:Al} Al_1 Al2 éAl {1:Bo} [he]", "{1:Bo} Al_1 Al2 éAl {0:Al} [he]"),
        # metacharacters mean nothing
        ("{0:J.(R.)*} paid {1:$5|+\\d} as [he] knew", "{1:$5|+\\d} paid {0:J.(R.)*} as [he] knew"),
        # adjacent names, and names that touch punctuation
        ("{0:Ada} {1:Bea} , [she]", "{1:Bea} {0:Ada} , [she]"),
        ('"{0:Ada}"-({1:Bea})-[she]', '"{1:Bea}"-({0:Ada})-[she]'),
        # the pronoun first, astral characters, decomposed accents
        ("[She] told {0:𝒜da} of {1:Bea}", "[She] told {1:Bea} of {0:𝒜da}"),
    ],
)
def test_candidates_change_places(before: str, after: str) -> None:
    original = instance(before)
    switched = switch(original)
    assert switched == instance(after, label=1)
    assert switch(switched) == original


@pytest.mark.parametrize(("label", "switched"), [(0, 1), (1, 0), (2, 2)])
def test_the_label_flips_and_neither_stays(label: int, switched: int) -> None:
    assert switch(instance("{0:Ada} met {1:Bea} , [she]", label)).label == switched


@pytest.mark.parametrize(
    ("marked", "names", "reason"),
    [
        ("{0:Ada} met {1:Ada} , [she]", None, "both candidates have the same name"),
        ("{0:Ada} met herself as [she]", ("Ada", "Bea"), "candidate 1 is not in the text"),
        ("Bea met {1:Ada} , [she]", ("Bea", "Ada"), "candidate 0 is not in the text"),
        ("{0:Ada} met {1:Bea} , [she]", ("Eva", "Bea"), "offsets of candidate 0 do not hold"),
        ("{0:Ada} met {1:Bea}trice , [she]", None, "candidate 1 is marked inside a longer"),
        ("{0:Al} met {1:Al}an Al Al , [he]", ("Al", "Ala"), "offsets of candidate 1 do not hold"),
        ("{0:Ada} met Bea Fox and {1:Bea} , [she]", ("Ada", ""), "candidate 1 is not in the text"),
        ("{0:Ada} met her aunt , [she] said {1:she}", None, "the pronoun is part of the name of"),
    ],
)
def test_a_refusal_says_why(marked: str, names: tuple[str, str] | None, reason: str) -> None:
    with pytest.raises(Unswitchable, match=reason) as refusal:
        switch(instance(marked, names=names))
    assert reason in refusal.value.reason


def test_a_mark_inside_the_other_name_is_refused() -> None:
    text = "Ann Fox met Cy as she left"
    candidates = (Mention("Fox", 4, 7), Mention("Ann Fox", 0, 7))
    inside = ResolutionInstance("x", text, Mention("she", 18, 21), candidates, 0)
    with pytest.raises(Unswitchable, match="candidate 0 is marked inside a longer word or name"):
        switch(inside)


def test_what_could_not_be_undone_is_refused() -> None:
    # exchanged, it would read "Ann Fox met Ann Fox": the second switch could not tell them apart
    with pytest.raises(Unswitchable, match="run together"):
        switch(instance("{1:Ann Fox} Fox met {0:Ann} , [she]"))


def test_wrong_pronouns_and_candidate_counts_are_refused() -> None:
    whole = instance("{0:Ada} met {1:Bea} , [she]")
    one = ResolutionInstance("x", whole.text, whole.pronoun, whole.candidates[:1], 0)
    with pytest.raises(Unswitchable, match="1 candidates instead of two"):
        switch(one)
    off = ResolutionInstance("x", whole.text, Mention("she", 0, 3), whole.candidates, 0)
    with pytest.raises(Unswitchable, match="offsets of the pronoun"):
        switch(off)


def test_a_pronoun_without_place_stays_without() -> None:
    whole = instance("{0:Ada} met {1:Beatrix} , [she]")
    bare = ResolutionInstance("x", whole.text, Mention("she", -1, -1), whole.candidates, 0)
    assert switch(bare).pronoun == bare.pronoun


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{0:The cook} saw {1:Ada} . [She]", "{1:Ada} saw {0:the cook} . [She]"),
        ("{1:Ada} saw {0:the cook} . [She]", "{0:The cook} saw {1:Ada} . [She]"),
        ("Go . {1:An aunt} saw {0:a cook} , [she]", "Go . {0:A cook} saw {1:an aunt} , [she]"),
        ("`` {1:Ada} saw {0:the cook} , [she]", "`` {0:The cook} saw {1:Ada} , [she]"),
        ("{0:The cook} of {1:Ada} met the cook , [she]", "{1:Ada} of {0:the cook} met Ada , [she]"),
    ],
)
def test_repaired_case(before: str, after: str) -> None:
    switched = switch(instance(before), repair_case=True)
    assert switched == instance(after, label=1)
    assert switch(switched, repair_case=True).text == instance(before).text


def test_one_name_in_two_cases_cannot_be_repaired() -> None:
    both = instance("{0:The cook} saw {1:the cook} , [she]")
    assert switch(both).text == "the cook saw The cook , she"
    for text in ("{0:The cook} saw {1:the cook} , [she]", "{0:Doctor} saw {1:doctor} , [she]"):
        for one in (text, text.replace("{0", "{2").replace("{1", "{0").replace("{2", "{1")):
            with pytest.raises(Unswitchable, match="the same name"):
                switch(instance(one), repair_case=True)


@pytest.mark.parametrize(
    "text",
    [
        "{0:The cook} met {1:the aunt} . The aunt left , as [she] said",
        "{0:the cook} met {1:Ada} , and [she] left . The cook stayed",
        "{1:Bea} met {0:ada} , and [she] left . Ada stayed",
    ],
)
def test_names_in_two_cases_are_not_exchanged_by_half(text: str) -> None:
    with pytest.raises(Unswitchable, match=r"the other case, too, which takes repair_case"):
        switch(instance(text))
    assert switch(instance(text), repair_case=True).label == 1


def test_case_is_verbatim_by_default() -> None:
    switched = switch(instance("{0:The cook} saw {1:Ada} , [she]"))
    assert switched.text == "Ada saw The cook , she"


def test_location_takes_the_first_place_that_is_the_candidates_own() -> None:
    text = "Rose 's friend Ann Rose saw Rosemary , and Rose fell as Rose slept"
    names = ("Ann Rose", "Rose")
    assert locate_candidates(text, names, Span(50, 54)) == (
        Mention("Ann Rose", 15, 23),
        Mention("Rose", 0, 4),
    )
    rest = text[4:]
    assert locate_candidates(rest, names, Span(0, 1))[1].start == text.index("Rose fell") - 4
    assert locate_candidates("Rosemary", names, Span(0, 0)) == (
        Mention("Ann Rose", -1, -1),
        Mention("Rose", -1, -1),
    )


def test_the_pronoun_is_no_place_of_a_candidate() -> None:
    assert locate_candidates("her aunt saw her", ("her", "aunt"), Span(0, 3))[0].start == 13


def test_equal_names_share_their_place() -> None:
    first, second = locate_candidates("Ada and Ada , she", ("Ada", "Ada"), Span(14, 17))
    assert first == second == Mention("Ada", 0, 3)


WORDS = st.sampled_from(["met", "and", ",", ".", "saw", "'s", "Annex"])
PRONOUN = "she"


@st.composite
def instances(draw: st.DrawFn, names: tuple[str, str]) -> ResolutionInstance | None:
    """A text with both names wherever; each candidate marked at one of its places, or None."""
    pieces = draw(st.lists(WORDS | st.sampled_from(names), min_size=2, max_size=9))
    pieces += draw(st.permutations(names))
    pieces = list(draw(st.permutations(pieces)))
    pieces.insert(draw(st.integers(0, len(pieces))), "\0")
    text = draw(st.sampled_from([" ", ", ", "-"])).join(pieces)
    start = text.index("\0")
    text = text.replace("\0", PRONOUN)
    candidates = []
    for index, name in enumerate(names):
        places = [p for p in occurrences(text, names) if p.candidate == index]
        if not places:
            return None
        place = draw(st.sampled_from(places))
        candidates.append(Mention(name, place.start, place.end))
    pronoun = Mention(PRONOUN, start, start + len(PRONOUN))
    return ResolutionInstance("x", text, pronoun, tuple(candidates), draw(st.integers(0, 2)))


name = st.text(alphabet="Ab.*+ ($é'", min_size=1, max_size=5)
anything = st.tuples(name, name).flatmap(instances)
ordinary = st.sampled_from(
    [("Ann", "Bob"), ("Ann Lee", "Bob"), ("The cook", "Eve"), ("Mr. Fox (Jr.)", "a$ap")]
).flatmap(instances)
with_articles = st.sampled_from(
    [("Ann", "Bob"), ("The cook", "Eve"), ("the cook", "Eve"), ("An aunt", "a cook")]
).flatmap(instances)


def holds(switched: ResolutionInstance, original: ResolutionInstance) -> None:
    assert switched.pronoun.text == original.pronoun.text
    assert all(m.stands_in(switched.text) for m in (switched.pronoun, *switched.candidates))
    assert [c.text for c in switched.candidates] == [c.text for c in original.candidates]
    assert switched.id == original.id
    first, second = (candidate.text for candidate in original.candidates)
    pattern = "|".join(map(re.escape, sorted((first, second), key=len, reverse=True)))
    other = {first: second, second: first}
    assert switched.text == re.sub(
        rf"(?<!\w)(?:{pattern})(?!\w)", lambda found: other[found.group()], original.text
    )
    assert switch(switched) == original


@given(ordinary)
def test_twice_is_the_identity(original: ResolutionInstance | None) -> None:
    assert original is not None
    holds(switch(original), original)


@given(anything)
def test_any_names_are_switched_or_refused(original: ResolutionInstance | None) -> None:
    if original is None:
        return
    try:
        switched = switch(original)
    except Unswitchable:
        return
    holds(switched, original)


@given(with_articles)
def test_repairing_three_times_is_repairing_once(original: ResolutionInstance | None) -> None:
    assert original is not None
    once = switch(original, repair_case=True)
    assert all(m.stands_in(once.text) for m in (once.pronoun, *once.candidates))
    assert switch(switch(once, repair_case=True), repair_case=True) == once


@given(st.text(alphabet="aA_ .é1", max_size=30), st.text(alphabet="aA .", min_size=1, max_size=3))
def test_occurrences_are_those_of_the_guarded_expression(text: str, word: str) -> None:
    found = re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    assert occurrences(text, [word]) == [Occurrence(m.start(), m.end(), 0) for m in found]


def row(line: int, **changes: Any) -> dict[str, Any]:
    """A row whose candidates and pronoun are to be located."""
    text = f"Ada gave Bea {line} plums , and she ate them ."
    plain = {"id": f"r{line}", "text": text, "pronoun": "she", "candidates": ["Ada", "Bea"]}
    return plain | {"label": line % 2, "extra": {"kept": [line]}} | changes


def write_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_file_is_switched_and_switched_back(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [row(line) for line in range(1000)])
    there, back = tmp_path / "there.jsonl", tmp_path / "back.jsonl"
    assert switch_file(source, there).rows == 1000
    assert read_lines(there)[7] == row(7) | {
        "text": "Bea gave Ada 7 plums , and she ate them .",
        "pronoun": {"text": "she", "start": 27, "end": 30},
        "candidates": [
            {"text": "Ada", "start": 9, "end": 12},
            {"text": "Bea", "start": 0, "end": 3},
        ],
        "label": 0,
    }
    switch_file(there, back)
    assert [r["text"] for r in read_lines(back)] == [r["text"] for r in read_lines(source)]
    assert [r["label"] for r in read_lines(back)] == [r["label"] for r in read_lines(source)]


def test_parquet_keeps_its_other_columns(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([row(line) for line in range(25)])
    table = table.replace_schema_metadata({"pronominal": "{}", "own": "kept"})
    pq.write_table(table, tmp_path / "in.parquet")
    switched = switch_file(tmp_path / "in.parquet", tmp_path / "out.parquet")
    found = pq.read_table(tmp_path / "out.parquet")
    assert switched.rows == found.num_rows == 25
    assert found["extra"] == table["extra"]
    assert found.column_names == table.column_names
    assert found.schema.metadata == {b"own": b"kept"}
    assert found.to_pylist()[3] == switch_row(
        row(3)
        | {
            "pronoun": {"text": "she", "start": 27, "end": 30},
            "candidates": [
                {"text": "Ada", "start": 0, "end": 3},
                {"text": "Bea", "start": 9, "end": 12},
            ],
        }
    )


def test_a_file_may_be_switched_in_place(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "rows.jsonl", [row(1)])
    switch_file(path, path)
    assert read_lines(path)[0]["text"].startswith("Bea gave Ada")


ABSENT = {
    "candidates": [{"text": "Ada", "start": 0, "end": 3}, {"text": "Eve", "start": -1, "end": -1}]
}


def test_rows_that_cannot_be_switched_are_named(tmp_path: Path) -> None:
    rows = [row(0), row(1, candidates=["Ada", "Ada"]), row(2, **ABSENT), row(3)]
    source = write_lines(tmp_path / "in.jsonl", rows)
    switched = switch_file(source, tmp_path / "out.jsonl")
    assert [(place.row, reason) for place, reason in switched.left_out] == [
        ("line 2", "both candidates have the same name"),
        ("line 3", "candidate 1 is not in the text"),
    ]
    assert [r["id"] for r in read_lines(tmp_path / "out.jsonl")] == ["r0", "r3"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"candidates": ["Ada", "Eve"]}, "candidate 1 does not occur in the text"),
        ({"candidates": ["Ada"]}, "there are not two candidates"),
        ({"candidates": "Ada"}, "there are not two candidates"),
        ({"candidates": [{"start": 0, "end": 3}, "Bea"]}, "candidate 0 has no text"),
        ({"candidates": [{"text": "Ada", "start": 1, "end": 4}, "Bea"]}, "offsets 1:4"),
        ({"candidates": [{"text": "Ada", "start": 0}, "Bea"]}, "half an offset"),
        ({"candidates": [{"text": "Ada", "start": "0", "end": "3"}, "Bea"]}, "half an offset"),
        ({"candidates": [{"text": "Ada", "kind": "x"}, "Bea"]}, "candidate 0 is no mention"),
        ({"candidates": [7, "Bea"]}, "candidate 0 is no mention"),
        ({"label": 3}, "the label is outside 0, 1 and 2"),
        ({"label": -1}, "the label is outside"),
        ({"label": True}, "the label is outside"),
        ({"label": "1"}, "the label is outside"),
        ({"label": None}, "there is no label"),
        ({"id": 7}, "the id is no string"),
        ({"pronoun": "he"}, "the pronoun does not occur"),
        ({"pronoun": "plums", "text": "Ada , Bea , plums , plums"}, "the pronoun occurs 2 times"),
        ({"text": "Ada \ud800 Bea she"}, "half a character"),
    ],
)
def test_a_malformed_row_refuses_the_file(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    rows = [row(line) for line in range(6)] + [row(6, **changes)]
    source, target = write_lines(tmp_path / "in.jsonl", rows), tmp_path / "out.jsonl"
    with pytest.raises(InputError, match=re.escape(message)) as error:
        switch_file(source, target)
    assert (error.value.file, error.value.row) == (source, "line 7")
    assert "plums" not in str(error.value)
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("damage", [b"{", b"[]", b'"x"', b"\xff\n", b'{"id": "a"'])
def test_a_broken_line_is_named(tmp_path: Path, damage: bytes) -> None:
    lines = [json.dumps(row(line)).encode() for line in range(8)]
    lines[6] = damage
    (tmp_path / "in.jsonl").write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match=r"not a JSON object|not valid JSON|not UTF-8") as error:
        switch_file(tmp_path / "in.jsonl", tmp_path / "out.jsonl")
    assert error.value.row == "line 7"
    assert not (tmp_path / "out.jsonl").exists()


def test_files_of_another_kind_are_refused(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [row(0)])
    (tmp_path / "in.parquet").write_bytes(b"PAR1 no more")
    for read, written, message in (
        (source, tmp_path / "out.parquet", "suffix .jsonl"),
        (tmp_path / "no.jsonl", tmp_path / "out.jsonl", "No such file"),
        (tmp_path / "no.parquet", tmp_path / "out.parquet", "No such file"),
        (tmp_path / "in.parquet", tmp_path / "out.parquet", "damaged"),
        (tmp_path / "in.csv", tmp_path / "out.csv", "the format is unknown"),
        (source, source / "out.jsonl", "cannot be written"),
    ):
        with pytest.raises(InputError, match=message):
            switch_file(read, written)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "in.parquet"]


def test_rows_are_not_lost_where_the_output_is_the_input(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [row(0), row(1, candidates=["Ada", "Ada"])])
    before = source.read_bytes()
    with pytest.raises(InputError, match="1 of its rows cannot be switched and would be lost"):
        switch_file(source, source)
    assert source.read_bytes() == before
    assert switch_file(write_lines(source, [row(0)]), source).rows == 1


def test_files_without_rows_or_in_another_encoding_are_refused(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    for content, message in (
        (b"", "it has no rows"),
        (b"\n \n", "it has no rows"),
        (json.dumps(row(0)).encode("utf-16"), "line 1: the text is not UTF-8"),
        (json.dumps({"name": "Ren\xe9"}, ensure_ascii=False).encode("latin-1"), "not UTF-8"),
    ):
        source.write_bytes(content)
        with pytest.raises(InputError, match=message):
            switch_file(source, tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_damaged_parquet_data_are_named(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    rows = [row(line) for line in range(2000)]
    pq.write_table(pa.Table.from_pylist(rows), path, compression="zstd")
    content = bytearray(path.read_bytes())
    content[100:2000] = bytes(1900)
    path.write_bytes(content)
    with pytest.raises(InputError, match="cannot be read"):
        switch_file(path, tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == [path]


def run(*arguments: object) -> Result:
    app = typer.Typer()
    app.command("switch")(commands.switch)
    app.command("hydrate")(commands.hydrate)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_command_prints_the_count_and_the_rows_left_out(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [row(0), row(1, candidates=["Ada", "Eve"])])
    target = tmp_path / "out.jsonl"
    refused = run("switch", source, target)
    assert isinstance(refused.exception, InputError)
    skipped = run("switch", source, target, "--skip-unswitchable")
    assert skipped.exit_code == 0
    assert skipped.stdout == f"{target}: 1 rows switched, 1 left out\n"
    assert skipped.stderr == (
        f"pronominal: {source}, line 2: left out, candidate 1 is not in the text\n"
    )


def test_the_command_repairs_case_when_asked(tmp_path: Path) -> None:
    text = "The cook gave Bea 0 plums , and she ate them ."
    source = write_lines(tmp_path / "in.jsonl", [row(0, text=text, candidates=["The cook", "Bea"])])
    for options, start in (((), "Bea gave The cook"), (("--repair-case",), "Bea gave the cook")):
        target = tmp_path / f"out{len(options)}.jsonl"
        assert run("switch", source, target, *options).exit_code == 0
        assert read_lines(target)[0]["text"].startswith(start)


def test_a_file_that_is_there_is_kept(tmp_path: Path) -> None:
    source, target = write_lines(tmp_path / "in.jsonl", [row(1)]), tmp_path / "out.jsonl"
    target.write_text("mine")
    with pytest.raises(InputError, match="there is a file already"):
        switch_file(source, target)
    assert target.read_text() == "mine"

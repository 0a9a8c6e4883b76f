"""Damage that was found to end in a traceback and is one line now: file, row, field and cure."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.test_main import pronominal
from tests.fuzzing.commands import CASES, RUN, TABLE, Case

NESTED = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
DIGITS = b"9" * 5_000

NO_SCORES = "score.json: it holds no scores of the task winopron"

Damage = Callable[[Path], None]


def content(new: bytes) -> Damage:
    return lambda file: file.write_bytes(new) and None


def field(value: object, *keys: str) -> Damage:
    def change(file: Path) -> None:
        whole = json.loads(file.read_text())
        inside = whole
        for key in keys[:-1]:
            inside = inside[key]
        inside[keys[-1]] = value
        file.write_text(json.dumps(whole))

    return change


def line(number: int, **fields: object) -> Damage:
    """Change fields of a line of JSON, from 1."""

    def change(file: Path) -> None:
        lines = file.read_text().splitlines()
        lines[number - 1] = json.dumps(json.loads(lines[number - 1]) | fields)
        file.write_text("".join(f"{one}\n" for one in lines))

    return change


def metadata(told: bytes) -> Damage:
    def change(file: Path) -> None:
        table = pq.read_table(file)
        pq.write_table(table.replace_schema_metadata({b"pronominal": told}), file)

    return change


def renamed(name: str, other: str) -> Damage:
    def change(file: Path) -> None:
        table = pq.read_table(file)
        names = [other if one == name else one for one in table.column_names]
        pq.write_table(table.rename_columns(names), file)

    return change


def first_item(**fields: object) -> Damage:
    """Change fields of the first item of a key."""

    def change(file: Path) -> None:
        whole = json.loads(file.read_text())
        whole["items"][0] |= fields
        file.write_text(json.dumps(whole))

    return change


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def loop(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.name)


def case(command: str, reads: str) -> Case:
    """Return the call of a command that reads such a file."""
    return next(one for one in CASES if one.command == command and reads in one.damaged)


SCORE, UNITS, PREDICTIONS = (f"{RUN}/{name}" for name in ("score.json", "units.npz", "run.json"))
BEGUN = "begun/sample.double.test.pairs"
FOUND: list[tuple[str, str, str, Damage, str]] = [
    ("report", SCORE, SCORE, content(NESTED), "score.json: it is not valid JSON"),
    ("report", SCORE, SCORE, field(["a", 1], "overall", "accuracy"), "overall.accuracy fits no"),
    ("report", SCORE, SCORE, field(None, "pronoun_consistency"), f"{NO_SCORES} (TypeError was"),
    ("report", SCORE, SCORE, field({}, "bias", "by_form", "nominative/he"), f"{NO_SCORES} (KeyErr"),
    ("report", SCORE, SCORE, field("x", "overall", "units_of"), "field overall.units_of fits no"),
    (
        "report",
        "plan-of-two.json",
        TABLE,
        renamed("occupation", "canary"),
        "and no run is of its rows",
    ),
    *(
        (command, reads, TABLE, renamed("occupation", "text"), "the column 'text' is there twice")
        for command, reads in (("report", "plan-of-two.json"), ("run", TABLE), ("plan", TABLE))
    ),
    ("reproduce", SCORE, SCORE, content(NESTED), "score.json: it is not valid JSON"),
    ("report", SCORE, f"{RUN}/run.json", field("many", "counts", "rows"), "counts.rows is not an"),
    ("report", SCORE, f"{RUN}/run.json", field("../../x", "label"), "'../../x' cannot be the name"),
    (
        "report",
        SCORE,
        f"{RUN}/run.json",
        field("x" * 10_000_000, "settings", "reading"),
        "run.json: the reading xxxxxxxxxxxxxxxxxxxx... has 10000000 characters",
    ),
    (
        "report",
        SCORE,
        f"{RUN}/run.json",
        field("0" * 10_000_000, "dataset", "digest"),
        "run.json: the digest of the rows has 10,000,000 characters",
    ),
    ("report", SCORE, f"{RUN}/run.json", field("/tmp/x", "label"), "'/tmp/x' cannot be the name"),
    ("run", TABLE, TABLE, metadata(b"{"), "test.parquet, metadata: the line is not valid JSON"),
    ("run", TABLE, TABLE, metadata(b"[]"), "test.parquet, metadata: the line is not a JSON object"),
    ("run", TABLE, TABLE, metadata(NESTED), "test.parquet, metadata: the line is not valid JSON"),
    (
        "run",
        TABLE,
        TABLE,
        metadata(b'{"dataset": "../../../x"}'),
        "'../../../x' cannot be the name",
    ),
    ("run", TABLE, TABLE, metadata(b'{"dataset": ["sample"]}'), "cannot be the name of a folder"),
    ("annotate keep", "sheets/key.json", "sheets/key.json", content(NESTED), "key.json: it is not"),
    (
        "annotate agreement",
        "sheets/answers.jsonl",
        "sheets/answers.jsonl",
        line(1, answers=[1]),
        "answers.jsonl",
    ),
    (
        "build",
        "ze.toml",
        "ze.toml",
        content(b"[ze]\nnominative = " + DIGITS),
        "no pronoun sets could be read (a number is too long, or lists are too deep)",
    ),
    (
        "evaluate",
        "systems.toml",
        "systems.toml",
        content(b"[random]\nseed = " + DIGITS),
        "no systems could be read (a number is too long, or lists are too deep)",
    ),
    *(
        (
            "annotate agreement",
            "sheets/answers.jsonl",
            "sheets/answers.jsonl",
            line(1, answers={"ann": answer, "bob": 0}),
            "answers.jsonl: they are not answers to this key; import them again",
        )
        for answer in (2.5, {"a": 1}, None, True, 7, "some")
    ),
    (
        "annotate import",
        "ann.csv",
        "sheets/key.json",
        first_item(order=[1]),
        "key.json: the letters of",
    ),
    ("evaluate", "systems.toml", "systems.toml", content(b"[random]\nseed = 1979-05-27"), "a date"),
    ("evaluate", "systems.toml", "systems.toml", content(b"[random]\nseed = nan"), "not finite"),
    (
        "evaluate",
        "systems.toml",
        "systems.toml",
        content(b"[%s]\nsystem = 'random'" % (b"a" * 300)),
        "aaa... has 300 characters; give one of at most 100",
    ),
    *(
        (command, reads, f"{RUN}/{name}", pipe, f"{name}: {cause} (it is a pipe or a device)")
        for name, cause in (
            ("run.json", "it cannot be read"),
            ("predictions.jsonl", "cannot be read"),
        )
        for command, reads in (("report", SCORE), ("score", f"{RUN}/run.json"), ("evaluate", SCORE))
    ),
    (
        "report",
        SCORE,
        f"{RUN}/predictions.jsonl",
        loop,
        "predictions.jsonl: cannot be read (Too many levels of symbolic links)",
    ),
    *(
        ("run", "begun/*/failures.jsonl", f"{BEGUN}/failures.jsonl", content(bad + b"\n"), said)
        for bad, said in (
            (b"{", "failures.jsonl, line 1: the line is not valid JSON"),
            (b"[]", "failures.jsonl, line 1: the line is not a JSON object"),
            (NESTED, "failures.jsonl, line 1: the line is not valid JSON"),
            (b'{"id": 3, "cause": "x"}', "failures.jsonl, line 1: the field id is not a string"),
            (b'{"id": "x"}', "failures.jsonl, line 1: the field cause is missing"),
        )
    ),
    *(
        (
            "score",
            f"{RUN}/predictions.jsonl",
            f"{RUN}/predictions.jsonl",
            line(2, clusters=clusters),
            "the predictions are not those that the run ended with",
        )
        for clusters in ([[[-1, 2], [3, 4]]], [[[10**30, 1]]])
    ),
    *(
        ("import", "exported/caw", "exported/caw", line(2, span_clusters=clusters), "caw, line 2")
        for clusters in ([[[0, 10**30]]], [[[[0], [1]]]], [["ab"]], 7, {"a": 1})
    ),
]


@pytest.mark.parametrize(
    ("command", "reads", "damaged", "damage", "said"),
    FOUND,
    ids=[f"{number}-{one[0]}" for number, one in enumerate(FOUND)],
)
def test_it_is_one_line(
    folder: Path, command: str, reads: str, damaged: str, damage: Damage, said: str
) -> None:
    damage(folder / damaged)
    result = pronominal(*case(command, reads).words(folder), cwd=folder)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result.stderr
    assert said in result.stderr
    assert not [*folder.rglob(".*.unfinished")]
    assert {path.name for path in folder.parent.iterdir()} == {"inputs", "inputs-kept"}


@pytest.mark.parametrize(
    "clusters", [[[[-1, 2], [3, 4]]], [[[5, 5]]], [[[10**30, 1]]], [["ab"]], 7]
)
def test_a_run_that_goes_on_refuses_spans_that_are_none(folder: Path, clusters: Any) -> None:
    begun = next(one for one in CASES if one.command == "run" and "begun" in one.arguments)
    line(2, clusters=clusters)(folder / BEGUN / "predictions.jsonl")
    result = pronominal(*begun.words(folder), "--reading", "upstream-spanbert", cwd=folder)
    assert result.returncode == 2
    plain = pronominal(*begun.words(folder), cwd=folder)
    assert (plain.returncode, len(plain.stderr.splitlines())) in ((2, 1), (0, 0)), plain.stderr


def test_a_column_of_numbers_in_a_corpus_is_no_traceback(folder: Path) -> None:
    file = folder / "constructed/switched/train.parquet"
    table = pq.read_table(file)
    for values in ([None] * table.num_rows, [0.5] * table.num_rows, [True] * table.num_rows):
        column = pa.array(values, pa.float32() if values[0] is None else None)
        place = table.column_names.index("original")
        pq.write_table(table.set_column(place, "original", column), file)
        check = next(one for one in CASES if one.command == "construct check")
        result = pronominal(*check.words(folder), cwd=folder)
        assert (result.returncode, result.stderr) == (1, "")


def test_a_file_that_may_not_be_read_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(file: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied", str(file))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    result = pronominal(*case("report", SCORE).words(folder), cwd=folder)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1)
    assert "run.json: it cannot be read (Permission denied)" in result.stderr

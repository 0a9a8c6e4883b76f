"""Sheets for annotators: what they show and hide, and what of theirs is read or refused."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pronominal.errors import InputError
from pronominal.eval.annotation.answers import ANSWERS, import_answers, read_answers
from pronominal.eval.annotation.export import FOR_ANNOTATORS, Request
from pronominal.eval.annotation.key import KEY, Key, read_key
from pronominal.eval.annotation.sheets import Format, read_sheet, shown_digest, write_sheet
from pronominal.eval.annotation.tasks import ANNOTATION_TASKS
from tests.cli.test_main import pronominal
from tests.eval.annotation.annotators import (
    answered,
    exported,
    instances,
    letter,
    right,
    save,
    sheet,
)

ROWS = 12
Records = list[dict[str, str]]


@pytest.fixture(scope="module")
def written(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("written") / "export"
    exported(sample, "double", Request("antecedent", 2, ROWS), out)
    return out


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "export"))


@pytest.fixture
def key(folder: Path) -> Key:
    return read_key(folder)


@pytest.fixture
def records(folder: Path, key: Key, sample: Path) -> Records:
    return answered(folder, key, right(instances(sample, "double")))


def test_annotators_see_neither_ids_nor_labels(sample: Path, folder: Path, key: Key) -> None:
    ids = set(instances(sample, "double"))
    assert {path.name for path in folder.iterdir()} == {FOR_ANNOTATORS, KEY, ".gitignore"}
    for path in (folder / FOR_ANNOTATORS).iterdir():
        assert not any(name in path.read_text(encoding="utf-8") for name in ids)
    assert key.rows < ids
    # and the key holds no text
    assert not any(one["text"] in (folder / KEY).read_text() for one in sheet(folder))


def test_candidates_and_items_are_in_random_order(sample: Path, tmp_path: Path) -> None:
    keys = [
        exported(sample, "double", Request("antecedent", seed=seed), tmp_path / str(number))
        for number, seed in enumerate((7, 7, 8))
    ]
    first = [item.order == (0, 1) for item in keys[0].items]
    assert 0.4 < sum(first) / len(first) < 0.6
    rows = [item.row for item in keys[0].items]
    assert sorted(rows) == sorted(instances(sample, "double")) != rows
    assert keys[0] == keys[1]
    assert [item.row for item in keys[2].items] != rows
    # a sheet of one export is not mistaken for that of another
    assert not keys[0].by_name.keys() & keys[2].by_name.keys()
    sheets = [(tmp_path / str(n) / FOR_ANNOTATORS / "sheet.csv").read_bytes() for n in (0, 1)]
    assert sheets[0] == sheets[1]


@pytest.mark.parametrize("task", ANNOTATION_TASKS)
@pytest.mark.parametrize("form", Format)
def test_every_task_comes_with_instructions_and_a_warning(
    sample: Path, tmp_path: Path, task: str, form: Format
) -> None:
    key = exported(sample, "double", Request(task, sample=3, format=form), tmp_path / "export")
    given = tmp_path / "export" / FOR_ANNOTATORS
    instructions = (given / "INSTRUCTIONS.md").read_text()
    assert all(word in instructions.lower() for word in key.words)
    warning = " ".join((given / "README.md").read_text().split())
    assert "public page" in warning
    assert "chat assistant" in warning
    assert len(list(read_sheet(given / f"sheet.{form.value}"))) == len(key.items)


def test_the_tasks_ask_what_the_papers_ask(sample: Path, tmp_path: Path) -> None:
    rows = instances(sample, "double")
    for task in ANNOTATION_TASKS:
        folder = tmp_path / task
        key = exported(sample, "double", Request(task, sample=6), folder)
        asked: dict[str, int] = {}
        for record in sheet(folder):
            item = key.by_name[record["item"]]
            row = rows[item.row]
            asked[item.row] = asked.get(item.row, 0) + 1
            form = row.pronoun.text
            before, after = row.text[: row.pronoun.start], row.text[row.pronoun.end :]
            shown = {"grammaticality": row.text, "blank": f"{before}___{after}"}
            assert record["text"] == shown.get(task, f"{before}[{form}]{after}")
            if task == "reference":
                name = row.candidates[item.about].text
                assert record["question"] == f"Does the pronoun {form} refer to the {name}?"
            if task == "antecedent":
                names = [record[letter(item, index)] for index in (0, 1)]
                assert names == [one.text for one in row.candidates]
        assert set(asked.values()) == {2 if task == "reference" else 1}


def test_who_is_not_in_the_text_is_not_asked_about(sample: Path, tmp_path: Path) -> None:
    key = exported(sample, "single", Request("reference"), tmp_path / "export")
    rows = instances(sample, "single")
    assert len(key.items) == len(rows)
    assert all(rows[item.row].candidates[item.about].located for item in key.items)


Saved = Callable[[Path, Records], str]


def moved(path: Path, records: Records) -> str:
    return save(path, [dict(reversed(one.items())) | {"Notes": "x"} for one in records])


def capitals(path: Path, records: Records) -> str:
    return save(path, [{name.upper(): f" {cell} " for name, cell in r.items()} for r in records])


def marked(path: Path, records: Records) -> str:
    save(path, records, delimiter=";", lineterminator="\r\n")
    path.write_bytes(b"\xef\xbb\xbfsep=;\r\n" + path.read_bytes() + b";;;;\r\n\r\n")
    return str(path)


def answers_only(path: Path, records: Records) -> str:
    return save(path, [{name: one[name] for name in ("item", "answer")} for one in records])


def json_lines(path: Path, records: Records) -> str:
    path = path.with_suffix(".jsonl")
    path.write_text("\n".join(map(json.dumps, records)) + "\n")
    return str(path)


@pytest.mark.parametrize(
    "write",
    [
        save,
        moved,
        capitals,
        marked,
        answers_only,
        json_lines,
        lambda path, records: save(path, records, delimiter="\t"),
        lambda path, records: save(path, records, lineterminator="\n"),
        lambda path, records: save(path, records[::-1]),
    ],
)
def test_what_spreadsheets_do_to_a_sheet_changes_nothing(
    folder: Path, sample: Path, records: Records, tmp_path: Path, write: Saved
) -> None:
    sheets = [save(tmp_path / "ann.csv", records), write(tmp_path / "ben.csv", records)]
    answers = import_answers(folder, sheets, alike=True)
    rows = instances(sample, "double")
    expected = [(rows[item.row].label,) * 2 for item in answers.key.items]
    assert list(answers.given) == expected
    assert answers.annotators == ("ann", "ben")
    assert read_answers(folder) == answers
    # what is kept holds no text
    assert not any(one["text"] in (folder / ANSWERS).read_text() for one in records)


def changed(number: int, **cells: str) -> Callable[[Records], Records]:
    return lambda records: [
        {**one, **(cells if place == number else {})} for place, one in enumerate(records)
    ]


def sorted_alone(records: Records) -> Records:
    texts = sorted(one["text"] for one in records)
    return [{**one, "text": text} for one, text in zip(records, texts, strict=True)]


FAULTS = {
    "unknown item": (changed(4, item="Q5-other"), "line 6", "not of this export", "column 'item'"),
    "twice": (lambda records: [*records, records[2]], "line 14", "answered twice", "keep one"),
    "missing": (lambda records: records[1:], None, "1 of 12 items are missing", "restore"),
    "wrong word": (changed(0, answer="Both"), "line 2", "the answer is 'Both'", "one of A, B"),
    "no answer": (changed(11, answer=" "), "line 13", "there is no answer", "one of A, B"),
    "other text": (changed(3, text="Another text."), "line 5", "not what was asked", "restore"),
    "a column sorted": (sorted_alone, "line ", "not what was asked", "sorted or edited"),
    "no column": (
        lambda records: [{"item": one["item"]} for one in records],
        "line 1",
        "0 columns are called 'answer'",
        "keep the headings",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_sheet_is_refused_with_file_row_and_cure(
    folder: Path, records: Records, tmp_path: Path, fault: str
) -> None:
    change, row, cause, cure = FAULTS[fault]
    good, bad = save(tmp_path / "ann.csv", records), save(tmp_path / "ben.csv", change(records))
    with pytest.raises(InputError) as refused:
        import_answers(folder, [good, bad])
    assert str(refused.value.file) == bad
    assert row is None or str(refused.value.row).startswith(row)
    assert cause in refused.value.cause
    assert cure in refused.value.cure
    assert not any(one["text"] in str(refused.value) for one in records)
    assert not (folder / ANSWERS).exists()


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("ben.xlsx", b"PK", "the format is unknown"),
        ("ben.csv", "item,answer\nQ1,é".encode("latin-1"), "not UTF-8"),
        ("ben.csv", "item,answer".encode("utf-16"), "not UTF-8"),
        ("ben.csv", b'item,answer\nQ1,"A', "not valid CSV"),
        ("ben.csv", b"item,answer\nQ1,A,B,C", "4 cells under 2 headings"),
        ("ben.csv", b"item,item,answer\n", "2 columns are called 'item'"),
        ("ben.csv", b"", "12 of 12 items are missing"),
        ("ben.jsonl", b'{"item": "Q1"}\n', "no 'answer'"),
        ("ben.jsonl", b'{"item": 1, "answer": "A"}\n', "no string"),
        ("ben.jsonl", b"[]\n", "not a JSON object"),
        ("gone.csv", None, "cannot be read"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused(
    folder: Path, records: Records, tmp_path: Path, name: str, content: bytes | None, cause: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=cause) as refused:
        import_answers(folder, [save(tmp_path / "ann.csv", records), str(tmp_path / name)])
    assert str(refused.value.file) == str(tmp_path / name)


def test_missing_and_repeated_annotators_are_refused(
    folder: Path, records: Records, tmp_path: Path
) -> None:
    ann = save(tmp_path / "ann.csv", records)
    done = pronominal("annotate", "import", folder, ann)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the sheets of 1 annotators, not of 2" in done.stderr
    assert "--annotators 1" in done.stderr
    (tmp_path / "again").mkdir()
    again = shutil.copy(ann, tmp_path / "again")
    done = pronominal("annotate", "import", folder, ann, again)
    assert done.returncode == 2
    assert "two annotators are called 'ann', whatever the capitals" in done.stderr
    assert pronominal("annotate", "import", folder, ann, f"ben={again}", "--alike").returncode == 0
    one = ("--annotators", 1, "--replace")
    assert pronominal("annotate", "import", folder, ann, *one).returncode == 0


@pytest.mark.parametrize(
    ("first", "second", "cause"),
    [
        ("ann", "Ann", "two annotators are called 'Ann', whatever the capitals"),
        ("ann", "../x", "the annotator's name '../x' cannot be the name of a folder"),
        ("ann", "", "the annotator's name '' cannot be the name of a folder"),
        ("ann", "a" * 300, "the annotator's name aaaaaaaaaaaaaaaaaaaa... has 300 characters"),
    ],
)
def test_annotators_have_names_of_their_own(
    folder: Path, records: Records, tmp_path: Path, first: str, second: str, cause: str
) -> None:
    sheet = save(tmp_path / "sheet.csv", records)
    done = pronominal("annotate", "import", folder, f"{first}={sheet}", f"{second}={sheet}")
    assert done.returncode == 2
    assert cause in done.stderr
    assert not (folder / "answers.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (("--task", "antecedents"), "did you mean 'antecedent'?"),
        (("--sample", 10_000), "a sample of 10000 rows cannot be drawn from 576"),
        (("--format", "xlsx"), "give csv or jsonl"),
        (("--config", "none"), "there is no config 'none'"),
    ],
)
def test_an_export_that_cannot_be_is_refused(
    sample: Path, tmp_path: Path, arguments: tuple[object, ...], cause: str
) -> None:
    where = ("--dataset", sample, "--out", tmp_path / "export")
    done = pronominal("annotate", "export", *where, *arguments)
    assert done.returncode == 2
    assert cause in done.stderr
    assert not (tmp_path / "export").exists()


def test_answers_are_not_overwritten_by_a_second_export(sample: Path, folder: Path) -> None:
    before = (folder / KEY).read_bytes()
    done = pronominal("annotate", "export", "--dataset", sample, "--out", folder)
    assert done.returncode == 2
    assert "choose another --out" in done.stderr
    assert (folder / KEY).read_bytes() == before


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"schema_version": 1, "task": "blank"}'])
def test_a_damaged_key_is_refused(folder: Path, content: str) -> None:
    (folder / KEY).write_text(content)
    with pytest.raises(InputError, match="key"):
        read_key(folder)


def test_damaged_answers_are_refused(folder: Path, records: Records, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no answers were imported"):
        read_answers(folder)
    sheets = [save(tmp_path / f"{name}.csv", records) for name in ("ann", "ben")]
    import_answers(folder, sheets, alike=True)
    lines = (folder / ANSWERS).read_text().splitlines()
    for damaged in (lines[1:], lines[:1] * len(lines), ["{}"]):
        (folder / ANSWERS).write_text("\n".join(damaged) + "\n")
        with pytest.raises(InputError, match="import them again"):
            read_answers(folder)


def test_one_sheet_under_two_names_is_refused(
    folder: Path, records: Records, tmp_path: Path
) -> None:
    sheet = save(tmp_path / "ann.csv", records)
    # a copy with its lines in another order is the same sheet
    copy = save(tmp_path / "copy.csv", records[::-1])
    for second in (f"ben={sheet}", f"ben={copy}"):
        done = pronominal("annotate", "import", folder, f"ann={sheet}", second)
        assert done.returncode == 2
        assert f"its answers are those of {sheet}, item by item: one sheet under" in done.stderr
        assert not (folder / ANSWERS).exists()
    done = pronominal("annotate", "import", folder, f"ann={sheet}", f"ben={copy}", "--alike")
    assert done.returncode == 0, done.stderr


def test_answers_are_replaced_only_on_request(
    folder: Path, records: Records, tmp_path: Path
) -> None:
    sheets = [save(tmp_path / f"{name}.csv", records) for name in ("ann", "ben", "cem")]
    import_answers(folder, sheets[:2], alike=True)
    kept = (folder / ANSWERS).read_bytes()
    import_answers(folder, sheets[:2], alike=True)
    with pytest.raises(InputError, match=r"other answers were imported before; say --replace"):
        import_answers(folder, sheets[1:], alike=True)
    assert (folder / ANSWERS).read_bytes() == kept
    import_answers(folder, sheets[1:], alike=True, replace=True)
    assert read_answers(folder).annotators == ("ben", "cem")


CELLS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")))


@given(st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=5))
def test_any_text_survives_a_sheet(
    tmp_path_factory: pytest.TempPathFactory, cells: list[tuple[str, str]]
) -> None:
    records = [{"item": f"Q{n}", "text": a, "b": b} for n, (a, b) in enumerate(cells)]
    for suffix in ("csv", "jsonl"):
        path = tmp_path_factory.mktemp("sheet") / f"sheet.{suffix}"
        write_sheet(path, ("text", "b"), records)
        found = [record for _, record in read_sheet(path)]
        assert [one["item"] for one in found] == [one["item"] for one in records]
        for one, (a, b) in zip(found, cells, strict=True):
            assert shown_digest((one["text"], one["b"])) == shown_digest((a, b))

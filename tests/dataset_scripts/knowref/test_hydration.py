"""Hydration: KnowRef's Reddit sentences from texts that the user holds, exact or missing."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from pronominal import InputError
from pronominal.cli import switching as commands
from pronominal.dataset_scripts import knowref
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.knowref.files import (
    LOST,
    Sentence,
    read_train,
    read_validation,
    unbracketed,
)
from pronominal.dataset_scripts.knowref.hydration import hydrate
from pronominal.dataset_scripts.knowref.recipes import (
    Recipe,
    cleaned,
    fingerprint,
    recipes,
)
from pronominal.dataset_scripts.knowref.reddit import SPLITS, hydrated_file, read_ids
from pronominal.dataset_scripts.knowref.upstream import KNOWREF, KNOWREF60K
from pronominal.dataset_scripts.tables.parquet_files import read_parquet
from pronominal.dataset_scripts.tables.violations import RowLocation
from tests.dataset_scripts.knowref.recipe_writing import letters_of, write_steps

Row = dict[str, Any]

ORIGINAL = "Ann Lee saw Tom , but he did n't wave -LRB- twice -RRB- ."
MARKED = "Ida saw May , but [she] did n't wave -LRB- twice -RRB- ."
NAMES = ("Ida", "May")
STEPS = "{-6}{0} 3 {-3}{1} , 3 {-2}[{=she}] 3 1'1 4 {=-LRB-} 5 {=-RRB-} ."
RAW = "We all went. Ann Lee  saw Tom, but he didn't\nwave &amp; twice. So did I (honest)."


def recipe(original: str, marked: str) -> Recipe:
    text, pronouns = unbracketed(marked, RowLocation("x", "row 0"))
    whole = Sentence(0, text, pronouns, NAMES, 0)
    steps = write_steps(original, marked, NAMES)
    return Recipe("train", 0, whole.fingerprint, fingerprint(letters_of(original)), steps)


def test_the_steps_hold_no_word_of_the_sentence() -> None:
    assert write_steps(ORIGINAL, MARKED, NAMES) == STEPS


def test_a_sentence_is_found_in_its_comment_and_rewritten() -> None:
    assert recipe(ORIGINAL, MARKED).find(RAW, NAMES) == MARKED


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Ann Lee saw Tom",
        RAW.replace("wave", "walk"),
        RAW.replace("Tom", "Tim"),
        "[deleted]",
        "[removed]",
    ],
)
def test_another_text_does_not_hold_it(text: str) -> None:
    assert recipe(ORIGINAL, MARKED).find(text, NAMES) is None


@pytest.mark.parametrize(
    ("original", "marked"),
    [
        ("Tom told Ann she won .", "May told Ida [she] won ."),
        ("So Tom and Ann , he said , left", "So Ida and May , [he] said , left"),
        ("Tom of York hit Al since he ran Tom", "Ida hit May since [he] ran Ida"),
        ("Tom hit Al as he ran off , then", "Ida hit May as [he] ran"),
        ("Tom 's Al 'd , `` he '' ... won -- ?!", "Ida 's May 'd , `` [he] '' ... won -- ?!"),
    ],
)
def test_steps_give_the_published_sentence(original: str, marked: str) -> None:
    assert recipe(original, marked).find(f"Oh, {original} Yes.", NAMES) == marked


def test_a_text_is_cleaned_as_upstream_cleans_it() -> None:
    dirty = "a &lt;b&gt; (not\nthis) {{nor {{{this}}} c<br />d \u201ce\u201d f:12 g"
    assert cleaned(dirty).split() == ["a", "<b>", "c", "d", "e", "f", "g"]


def test_the_recipes_are_those_of_the_60k_copy(upstream: Path) -> None:
    known = {(one.split, one.row): one for one in recipes()}
    path = upstream / KNOWREF60K.folder / "data" / "val.json"
    records = json.loads(path.read_text())
    wrong = Counter[str]()
    sentences = {"train": read_train(Sources(upstream))}
    sentences["validation"] = read_validation(Sources(upstream))
    assert len(known) == sum(map(len, sentences.values())) == 7455
    for split, rows in sentences.items():
        for sentence in rows:
            one = known[split, sentence.row]
            wrong["fingerprint"] += one.fingerprint != sentence.fingerprint
            if split == "validation":
                wrong["steps"] += bool(one.steps or one.original)
                continue
            record = records[sentence.row]
            steps = write_steps(
                record["original_sentence"][0], record["sentence_with_pronoun"], sentence.names
            )
            wrong["steps"] += one.steps != steps
            wrong["words"] += bool(re.search("[A-Za-z]{2}", re.sub(r"\{=[^}]*\}", "", steps)))
    assert +wrong == {}


# with the released ids


@pytest.fixture(scope="module")
def released(upstream: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sources folder with the release alone."""
    folder = tmp_path_factory.mktemp("released")
    shutil.copytree(upstream / KNOWREF.folder, folder / KNOWREF.folder)
    return folder


def lines_of(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def posts(upstream: Path, split: str, field: str, texts: list[str]) -> list[Row]:
    return [
        {"post_id": f"t3_{post}", "comment_id": comment, field: text}
        for (post, comment), text in zip(read_ids(Sources(upstream), split), texts, strict=True)
    ]


def marked(sentence: Sentence, form: str | None = None) -> str:
    start, end = sentence.pronoun.start, sentence.pronoun.end
    return f"{sentence.text[:start]}[{form or sentence.pronoun.text}]{sentence.text[end:]}"


def written(original: str) -> str:
    """Undo Penn Treebank tokens, as far as a reader would."""
    text = re.sub(r" (n't|'\w+|[.,;:!?]+)", r"\1", original)
    return text.replace("``", '"').replace("''", '"').replace(" na ", "na ")


@pytest.fixture(scope="module")
def training(upstream: Path) -> list[Row]:
    """Every sentence of the training split with its ids."""
    texts = [marked(sentence) for sentence in read_train(Sources(upstream))]
    return posts(upstream, "train", "sentence_with_pronoun", texts)


def rows_of(folder: Path) -> dict[tuple[str, str], list[Row]]:
    return {
        (split.config, split.name): [row for table in split.tables for row in table.to_pylist()]
        for split in knowref.splits(Sources(folder), BuildOptions())
    }


@pytest.fixture(scope="module")
def whole(built: Callable[[str], Path]) -> dict[tuple[str, str], list[Row]]:
    files = built("knowref").glob("*/*.parquet")
    return {(file.parent.name, file.stem): read_parquet([file]).to_pylist() for file in files}


def test_comments_give_the_training_split(
    upstream: Path, released: Path, whole: dict[tuple[str, str], list[Row]], tmp_path: Path
) -> None:
    records = json.loads((upstream / KNOWREF60K.folder / "data" / "val.json").read_text())[:5219]
    texts = [f"Hm. {written(r['original_sentence'][0])} And so on (yes)." for r in records]
    rows = posts(upstream, "train", "body", texts)
    rows.insert(7, {"post_id": "nobody", "comment_id": None, "text": "Nothing to see."})
    found = hydrate(lines_of(tmp_path / "texts.jsonl", rows), Sources(released), tmp_path / "out")
    # brackets and what stands in them are cleaned away, here as upstream
    assert len(found.filled) >= 5200
    assert len(found.filled) + len(found.missing) == 7455
    assert {key[0] for key in found.filled} == {"train"}
    reasons = Counter(reason for (split, _), reason in found.missing.items() if split == "train")
    assert set(reasons) <= {"the text does not hold its sentence"}
    # the switched ones follow, and would be made
    given = knowref.splits(Sources(tmp_path / "out"), BuildOptions())
    built = {s.name: s.tables for s in takewhile(lambda s: s.config == "original", given)}
    assert "validation" not in built
    theirs = {row["id"]: row for row in whole["original", "train"]}
    (train,) = built["train"]
    assert all(theirs[row["id"]] == row for row in train.to_pylist())
    assert len(train) == len(found.filled)
    listed = (tmp_path / "out" / "knowref" / "hydrated" / "missing.tsv").read_text().splitlines()
    assert len(listed) == 1 + len(found.missing)


def test_sentences_in_knowrefs_form_give_both_splits(
    upstream: Path,
    released: Path,
    training: list[Row],
    whole: dict[tuple[str, str], list[Row]],
    tmp_path: Path,
) -> None:
    forms = [marked(one, "he") for one in read_validation(Sources(upstream))]
    rows = training + posts(upstream, "validation", "sentence_with_pronoun", forms)
    found = hydrate(lines_of(tmp_path / "texts.jsonl", rows), Sources(released), tmp_path / "out")
    assert found.missing == {}
    built = rows_of(tmp_path / "out")
    for config in ("original", "switched"):
        same = built[config, "train"] == whole[config, "train"]
        assert same
        # the lost pronoun is the one that the user's text has
        assert len(built[config, "validation"]) == len(whole[config, "validation"])
        for ours, theirs in zip(
            built[config, "validation"], whole[config, "validation"], strict=True
        ):
            start = theirs["pronoun"]["start"]
            rest = theirs["text"][start + len(LOST) :]
            same = ours["text"] == f"{theirs['text'][:start]}he{rest}"
            assert same
            assert ours["label"] == theirs["label"]


@pytest.fixture(scope="module")
def hydrated(released: Path, training: list[Row], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hydrated")
    texts = lines_of(folder / "texts.jsonl", training[3:4])
    assert set(hydrate(texts, Sources(released), folder / "out").filled) == {("train", 3)}
    return folder / "out"


@pytest.fixture
def one_row(hydrated: Path, tmp_path: Path) -> Path:
    """A sources folder with one hydrated row."""
    return shutil.copytree(hydrated, tmp_path / "out")


def test_missing_rows_keep_their_place(one_row: Path) -> None:
    built = rows_of(one_row)
    assert [row["id"] for row in built["original", "train"]] == ["train-3"]
    assert built["original", "train"][0]["upstream_row"] == 3


def test_the_command_counts_and_warns(released: Path, training: list[Row], tmp_path: Path) -> None:
    texts = lines_of(tmp_path / "texts.jsonl", training[:12])
    app = typer.Typer()
    app.command("switch")(commands.switch)
    app.command("hydrate")(commands.hydrate)
    arguments = ["hydrate", texts, "--out", tmp_path / "out", "--sources", released]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0
    train, validation, last = result.stdout.splitlines()
    assert train.split() == ["train", "12", "rows", "filled", "in,", "5,207", "missing"]
    assert validation.split() == ["validation", "0", "rows", "filled", "in,", "2,236", "missing"]
    assert "not to be published" in last


def test_answers_are_those_of_the_release(one_row: Path) -> None:
    before = rows_of(one_row)["original", "train"][0]
    path = hydrated_file(one_row, "train")
    fields = {"candidate0": "Ada", "candidate1": "Bea", "correct_candidate": "Bea"}
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    same = rows_of(one_row)["original", "train"][0] == before
    assert same


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sentence_with_pronoun": "Ada met Bea , and [she] left ."}, "SHA-256 differs"),
        ({"row": 9999}, "line 1: the row is unknown"),
        ({"row": "3"}, "line 1: the row is unknown"),
        ({"row": [3]}, "line 1: the row is unknown"),
        ({"row": True}, "line 1: the row is unknown"),
        ({"sentence_with_pronoun": "Ada met Bea , and she left ."}, "row 3: no pronoun"),
    ],
)
def test_a_hydrated_file_is_not_to_be_edited(one_row: Path, change: Row, message: str) -> None:
    path = hydrated_file(one_row, "train")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(InputError) as error:
        rows_of(one_row)
    assert message in str(error.value)
    assert "train.jsonl" in str(error.value)
    found = [str(violation) for violation in knowref.violations(Sources(one_row))]
    assert len(found) == 1
    assert "train.jsonl" in found[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 2: the line is not valid JSON"),
        ('{"post_id": "a", "comment_id": "b"}', "line 2: no post_id, comment_id and text"),
        ('{"post_id": 7, "comment_id": "b", "text": ""}', "line 2: no post_id"),
        ('{"post_id": "a", "comment_id": 7, "text": ""}', "line 2: no post_id"),
        ('{"post_id": "a", "text": "x"}', "no line holds the text of a row of KnowRef"),
    ],
)
def test_wrong_texts_are_one_error_and_no_folder(
    released: Path, tmp_path: Path, line: str, message: str
) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text(f'{{"post_id": "a", "comment_id": "b", "body": "x"}}\n{line}\n')
    with pytest.raises(InputError, match=re.escape(message)):
        hydrate(path, Sources(released), tmp_path / "out")
    assert list(tmp_path.iterdir()) == [path]


def test_every_row_has_ids_or_is_known_to_have_none(upstream: Path) -> None:
    ids = {split: read_ids(Sources(upstream), split) for split in SPLITS}
    assert {split: len(rows) for split, rows in ids.items()} == {"train": 5219, "validation": 2236}
    assert sum(comment is None for _, comment in ids["train"]) == 207
    assert sum(comment is None for _, comment in ids["validation"]) == 71
    odd = [row for row, (post, _) in enumerate(ids["validation"]) if not post.isalnum()]
    assert odd == [1459]

"""What may be published: a built folder that is whole, described by its card, and ours to give."""

import hashlib
import shutil
from pathlib import Path

import pytest

from pronominal.dataset_scripts.building.script import dataset_script
from pronominal.dataset_scripts.hub.release import read_release
from pronominal.errors import InputError
from tests.hub.folders import replace, resealed

TABLES = ["double/test.parquet", "single/test.parquet"]


def spoil(name: str, folder: Path) -> None:
    """Damage a built folder in one way."""
    table, card = folder / TABLES[0], folder / "README.md"
    eval_yaml, croissant = folder / "eval.yaml", folder / "croissant.json"
    if name == "a flipped byte":
        table.write_bytes(table.read_bytes()[:-1] + b"?")
        return
    if name == "a file more":
        (folder / "notes.txt").write_text("")
        return
    if name == "no checksums":
        (folder / "SHA256SUMS").unlink()
        return
    edits = {
        "a file fewer": lambda: (folder / TABLES[1]).unlink(),
        "another row count": lambda: replace(card, "num_examples: 576", "num_examples: 577"),
        "another class": lambda: replace(card, "'0': occupation", "'0': person"),
        "a table that the card lacks": lambda: shutil.copy(table, folder / "double/train.parquet"),
        "a table elsewhere": lambda: replace(card, TABLES[1], TABLES[0]),
        "no canary in the card": lambda: replace(card, "canary: ", "other: "),
        "another canary": lambda: replace(card, "canary: pronominal:sample:", "canary: other:"),
        "no terms": lambda: replace(card, "extra_gated_prompt: ", "prompt: "),
        "a viewer": lambda: replace(card, "viewer: false", "viewer: true"),
        "no version": lambda: replace(card, "version: 1.0.0", "edition: 1.0.0"),
        "no header": lambda: replace(card, "---\n", ""),
        "a table kept back": lambda: replace(
            card, "version:", "unpublishable: [single/test]\nversion:"
        ),
        "a list that is none": lambda: replace(card, "version:", "unpublishable: 5\nversion:"),
        "a task about other rows": lambda: replace(eval_yaml, "config: single", "config: triple"),
        "no tasks": lambda: replace(eval_yaml, "tasks:", "questions:"),
        "a digest of another table": lambda: replace(
            croissant, hashlib.sha256(table.read_bytes()).hexdigest(), 64 * "0"
        ),
        "hydrated text": lambda: (folder / "hydrated").mkdir(),
    }
    edits[name]()
    resealed(folder)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("a flipped byte", "double/test.parquet: it is not the file of SHA256SUMS"),
        ("a file more", "notes.txt: SHA256SUMS does not list it; remove it"),
        ("no checksums", "the folder is not a built dataset"),
        ("a file fewer", "single/test.parquet: the card lists it, it is absent"),
        ("another row count", "double/test.parquet: its rows and the card's differ"),
        ("another class", "double/test.parquet: its features and the card's differ"),
        ("a table that the card lacks", "double/train.parquet: the card does not list it"),
        ("a table elsewhere", "single/test.parquet: the card does not list it"),
        ("no canary in the card", "README.md: the card lacks canary"),
        ("another canary", "double/test.parquet: it does not hold the canary"),
        ("no terms", "README.md: the card lacks extra_gated_prompt"),
        ("a viewer", "README.md: the card lacks viewer: false"),
        ("no version", "README.md: the card has no version; write 'version: 1.0.0'"),
        ("no header", "README.md: the card has no header"),
        ("a table kept back", "the text of single/test.parquet must not leave this machine"),
        ("a list that is none", "README.md: 'unpublishable' is no list"),
        (
            "a task about other rows",
            "eval.yaml: a task asks about triple/test, which the card does",
        ),
        ("no tasks", "eval.yaml: it holds no tasks"),
        ("a digest of another table", "croissant.json: the files in it are not the tables"),
        ("hydrated text", "what 'pronominal hydrate' made must not leave this machine"),
    ],
)
def test_a_folder_that_is_not_right_is_refused(
    sample: Path, tmp_path: Path, fault: str, message: str
) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(sample, folder)
    spoil(fault, folder)
    with pytest.raises(InputError) as error:
        read_release(folder)
    assert message in str(error.value)


def test_a_version_can_be_given_but_not_contradicted(sample: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(sample, folder)
    assert read_release(folder, "1.0.0").version == "1.0.0"
    with pytest.raises(InputError, match=r"the card's version is 1\.0\.0, not 1\.0\.1"):
        read_release(folder, "1.0.1")
    spoil("no version", folder)
    assert read_release(folder, "0.9.0").version == "0.9.0"
    with pytest.raises(InputError, match="the card's version is 'latest'"):
        read_release(folder, "latest")


def test_what_a_script_keeps_back_is_refused_whatever_the_card_says(
    sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_script("sample"), "UNPUBLISHABLE", ("test",), raising=False)
    with pytest.raises(
        InputError, match=r"the text of .*test\.parquet must not leave this machine"
    ):
        read_release(sample)


def test_the_reddit_text_of_knowref_is_refused(knowref: Path) -> None:
    with pytest.raises(InputError, match="must not leave this machine") as error:
        read_release(knowref, "1.0.0")
    for table in ("original/train", "original/validation", "switched/train", "switched/validation"):
        assert f"{table}.parquet" in str(error.value)

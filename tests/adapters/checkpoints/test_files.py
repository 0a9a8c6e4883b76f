import hashlib
import sys
from pathlib import Path

import pytest

from pronominal.adapters.checkpoints.files import Checkpoint, open_checkpoint
from pronominal.errors import InputError

CONTENTS = {
    "config.json": "{}",
    "model.safetensors": "safe",
    "pytorch_model.bin": "pickled",
    "vocab.json": '{"a": 0}',
    "README.md": "A card.",
    "nested/config.json": "{}",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "checkpoint", CONTENTS)


def write(folder: Path, contents: dict[str, str]) -> Path:
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


def listed(*names: str) -> str:
    """The digest of what sha256sum prints for these files."""
    rows = (f"{hashlib.sha256(CONTENTS[name].encode()).hexdigest()}  {name}\n" for name in names)
    return hashlib.sha256("".join(rows).encode()).hexdigest()


def test_a_folder(folder: Path) -> None:
    digest = listed("config.json", "model.safetensors", "vocab.json")
    assert open_checkpoint(str(folder)) == Checkpoint(str(folder), folder, digest)


def test_pickled_weights_where_there_are_no_others(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    found = open_checkpoint(str(folder)).digest
    assert found == listed("config.json", "pytorch_model.bin", "vocab.json")


def test_a_system_names_its_own_files(folder: Path) -> None:
    found = open_checkpoint(
        str(folder), weights=("*.pt", "*.bin"), config="nested/*.json", others=["README.md"]
    )
    assert found.digest == listed("README.md", "nested/config.json", "pytorch_model.bin")


@pytest.mark.parametrize("name", ["README.md", "pytorch_model.bin", "nested/config.json"])
def test_files_that_are_not_read_do_not_count(folder: Path, name: str) -> None:
    before = open_checkpoint(str(folder)).digest
    (folder / name).write_text("something else")
    assert open_checkpoint(str(folder)).digest == before


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "vocab.json"])
def test_files_that_are_read_count(folder: Path, name: str) -> None:
    before = open_checkpoint(str(folder)).digest
    (folder / name).write_text("something else")
    assert open_checkpoint(str(folder)).digest != before


@pytest.mark.parametrize("name", ["sentencepiece.bpe.model", "spm.model", "tokenizer.model"])
def test_vocabularies_of_sentence_pieces_count(folder: Path, name: str) -> None:
    before = open_checkpoint(str(folder)).digest
    (folder / name).write_text("pieces")
    assert open_checkpoint(str(folder)).digest != before


def test_names_count(folder: Path) -> None:
    before = open_checkpoint(str(folder)).digest
    (folder / "vocab.json").rename(folder / "tokenizer.json")
    assert open_checkpoint(str(folder)).digest != before


@pytest.mark.parametrize(
    ("missing", "cause"),
    [
        (["config.json"], "there is no config.json"),
        (["model.safetensors", "pytorch_model.bin"], "add model.safetensors or pytorch_model.bin"),
    ],
)
def test_an_incomplete_folder(folder: Path, missing: list[str], cause: str) -> None:
    for name in missing:
        (folder / name).unlink()
    with pytest.raises(InputError, match=cause) as caught:
        open_checkpoint(str(folder))
    assert caught.value.file == str(folder)


@pytest.mark.parametrize("name", ["nothing", "./no/thing", "/no/where", "a/b/c", "no thing/x"])
def test_neither_a_folder_nor_a_hub_id(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.snapshot_download", lambda *_, **__: pytest.fail("asked"))
    with pytest.raises(InputError, match="no such folder"):
        open_checkpoint(name)


def test_the_address_of_a_server_is_no_checkpoint() -> None:
    with pytest.raises(InputError, match="is an address, and this system asks no server; give"):
        open_checkpoint("http://localhost:8000/v1")


def test_a_file_is_no_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="no such folder"):
        open_checkpoint("nested/config.json")


def test_a_folder_comes_before_the_hub(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent.parent)
    name = f"{folder.parent.name}/{folder.name}"
    assert open_checkpoint(name).name == name


def test_the_hub_is_asked_for_what_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "model.safetensors").unlink()
    asked = []

    def fetch(repository: str, *, allow_patterns: list[str]) -> str:
        asked.append((repository, allow_patterns))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    found = open_checkpoint("org/name", others=["vocab.json"])
    assert (found.name, found.folder) == ("org/name", folder)
    assert found.revision == folder.name
    assert found.digest == listed("config.json", "pytorch_model.bin", "vocab.json")
    rest = ["config.json", "vocab.json"]
    assert asked == [
        ("org/name", ["model.safetensors", *rest]),
        ("org/name", ["pytorch_model.bin", *rest]),
    ]


def test_a_revision_is_asked_for_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fetch(repository: str, *, revision: str, allow_patterns: list[str]) -> str:
        asked.append((repository, revision))
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", fetch)
    assert open_checkpoint("org/name@v1").name == "org/name@v1"
    assert asked == [("org/name", "v1")]
    assert open_checkpoint(str(folder)).revision is None


def test_what_fetches_from_the_hub_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match=r"give a folder, or pip install .pronominal\[hub\]"):
        open_checkpoint("org/name")


def test_a_refusal_of_the_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> str:
        raise PermissionError("Access is restricted.\nAsk for it at length.")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    with pytest.raises(InputError) as caught:
        open_checkpoint("org/name")
    assert str(caught.value) == (
        "org/name: neither a folder nor available from the Hub (Access is restricted); "
        "give an existing folder, or a Hub id that you may read while you are online"
    )

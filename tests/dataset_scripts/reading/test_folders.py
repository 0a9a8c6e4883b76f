"""A published table that somebody changed: one line that names file, row, cause and cure."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pronominal import InputError
from pronominal.dataset_scripts.reading import folders
from pronominal.dataset_scripts.reading.folders import open_dataset
from pronominal.dataset_scripts.reading.loading import read_split


def replaced(name: str, row: int, value: object) -> Callable[[pa.Table], pa.Table]:
    def change(table: pa.Table) -> pa.Table:
        values = table[name].to_pylist()
        values[row] = value
        place = table.schema.get_field_index(name)
        return table.set_column(place, table.schema.field(name), pa.array(values, table[name].type))

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop_columns("case"), "the column 'case' is missing"),
        (lambda table: table.drop_columns("label"), "the column 'label' is missing"),
        (lambda table: table.drop_columns("id"), "the column 'id' is missing"),
        (lambda table: table.slice(0, 0), "the table is empty"),
        (replaced("text", 3, None), "row 3: the column 'text' has no value"),
        (replaced("case", 4, None), "row 4: the column 'case' has no value"),
        (replaced("label", 5, None), "row 5: the column 'label' has no value"),
        (replaced("label", 6, 2), "row 6: the label 2 is not one of"),
        (replaced("label", 7, -1), "row 7: the label -1 is not one of"),
        (replaced("candidates", 8, []), "row 8: 0 candidates instead of two"),
        (replaced("pronoun", 9, {"text": "x", "start": 0, "end": 1}), "row 9: the offsets 0:1"),
        (
            lambda table: table.set_column(4, "label", table["label"].cast(pa.string())),
            "the column 'label' holds string, not int64",
        ),
    ],
)
def test_a_changed_table_is_named(sample: Path, tmp_path: Path, change, message: str) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(sample, folder)
    path = folder / "double" / "test.parquet"
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(InputError) as caught:
        read_split(str(folder), "double")
    assert message in str(caught.value)
    assert "test.parquet" in str(caught.value)


@pytest.mark.parametrize(
    ("sums", "message"),
    [
        (None, "x/y: it has no SHA256SUMS: .*; fetch it once with 'hf download x/y --repo-type"),
        ("?", "SHA256SUMS: the download is damaged: .*; remove .* and run the same command again"),
    ],
)
def test_a_cached_copy_without_checksums_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sums: str | None, message: str
) -> None:
    if sums is not None:
        (tmp_path / "SHA256SUMS").write_text(sums)
    monkeypatch.setattr(folders, "_fetch", lambda repo: tmp_path)
    with pytest.raises(InputError, match=message):
        open_dataset("x/y")


def test_a_users_own_tables_on_the_hub_need_no_checksums(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = pq.read_table(sample / "double" / "test.parquet").drop_columns("canary")
    (tmp_path / "mine").mkdir()
    pq.write_table(rows.replace_schema_metadata(None), tmp_path / "mine" / "test.parquet")
    monkeypatch.setattr(folders, "_fetch", lambda repo: tmp_path)
    assert open_dataset("x/y") == tmp_path
    # one that says it is ours is ours
    pq.write_table(rows, tmp_path / "mine" / "train.parquet")
    with pytest.raises(InputError, match="it has no SHA256SUMS"):
        open_dataset("x/y")


@pytest.mark.parametrize("split", ["*", "../single/test", "/etc/passwd", "t"])
def test_a_split_is_a_name_and_no_pattern(sample: Path, split: str) -> None:
    with pytest.raises(InputError, match="there is no split"):
        read_split(str(sample), "double", split)


@pytest.mark.parametrize(
    "card",
    [
        *("", "---\n---\n", "---\nconfigs: [a]\n---\n", "---\nconfigs: 3\n---\n"),
        *("---\n[\n---\n", "---\nconfigs: [{default: true}]\n---\n"),
    ],
)
def test_a_card_without_a_default_config_is_named(sample: Path, tmp_path: Path, card: str) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(sample, folder)
    (folder / "README.md").write_text(card)
    with pytest.raises(InputError, match="its card names no default config; name one"):
        read_split(str(folder))


def test_a_mistyped_folder_is_told_the_one_beside_it(tmp_path: Path) -> None:
    (tmp_path / "winopron").mkdir()
    with pytest.raises(InputError, match=rf"did you mean {tmp_path}/winopron\? Or build it"):
        open_dataset(tmp_path / "winpron")
    with pytest.raises(InputError, match=f"build it with 'pronominal build gap -o {tmp_path}'"):
        open_dataset(tmp_path / "gap")


def test_the_name_of_a_dataset_is_told_the_folder_it_was_built_into(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(sample, tmp_path / "out" / "sample")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^sample: there is no .*; did you mean out/sample\?"):
        open_dataset("sample")


def test_what_is_no_dataset_is_told_what_was_meant(sample: Path) -> None:
    where = f"-d {sample} -c double"
    for place, message in (
        (sample / "double", f"this is the folder of a config; type {where}"),
        (sample / "double" / "test.parquet", f"this is a file; type {where} --split test"),
        (sample.parent, f"there is no dataset in this folder; type -d {sample}"),
    ):
        with pytest.raises(InputError) as refused:
            read_split(place)
        assert str(refused.value) == f"{place}: {message}"

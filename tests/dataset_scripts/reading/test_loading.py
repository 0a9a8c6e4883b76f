"""Rows of a folder, of a `datasets.Dataset` and of a user's own are the same kind of split."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from pronominal import InputError
from pronominal.dataset_scripts.reading import loading
from pronominal.dataset_scripts.reading.loading import load_split

datasets = pytest.importorskip("datasets")


def row(name: str = "a", **changes: Any) -> dict[str, Any]:
    text = "Ada thanked Bea because she had helped."
    candidates = [
        {"text": word, "start": text.index(word), "end": text.index(word) + 3}
        for word in ("Ada", "Bea")
    ]
    pronoun = {"start": text.index("she"), "end": text.index("she") + 3, "text": "she"}
    given = {"id": name, "text": text, "pronoun": pronoun, "candidates": candidates, "label": 1}
    return {**given, "mood": "kind", **changes}


def test_a_dataset_is_the_split_of_its_folder(sample: Path) -> None:
    dataset = datasets.load_dataset(str(sample), "single", split="test")
    split, folder = load_split(dataset), load_split(sample, "single")
    assert (split.dataset_name, split.config, split.name) == ("sample", "single", "test")
    assert split.digest == folder.digest
    assert list(split) == list(folder)
    assert (split.folder, folder.folder) == (None, sample)


@pytest.mark.parametrize("most", [0, 10_000], ids=["disk", "memory"])
def test_a_split_gives_a_dataset(sample: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(loading, "MOST_IN_MEMORY", most)
    made = load_split(sample, "double")
    expected = datasets.load_dataset(str(sample), "double", split="test").remove_columns("canary")
    assert made.dataset_name == "sample"
    assert made.dataset.features == expected.features
    assert made.dataset.to_list() == expected.to_list()
    again = load_split(made.dataset)
    assert (again.digest, again.dataset_name) == (made.digest, made.dataset_name)
    assert (again.config, again.name) == (made.config, made.name)


def test_rows_of_a_users_own_have_the_types_of_published_ones(tmp_path: Path) -> None:
    own = datasets.Dataset.from_list([row(), row("b", label=0)])
    split = load_split(own, config="mine")
    assert (split.config, split.name, len(split)) == ("mine", "test", 2)
    first, second = split
    assert (first.columns, second.label) == ({"mood": "kind"}, 0)
    (tmp_path / "own" / "mine").mkdir(parents=True)
    own.to_parquet(tmp_path / "own" / "mine" / "test.parquet")
    read = load_split(tmp_path / "own")
    assert (read.config, read.digest) == ("mine", split.digest)
    assert list(read) == [first, second]


def test_the_fields_of_a_mention_may_come_in_any_order() -> None:
    def sorted_by_name(mention: dict[str, Any]) -> dict[str, Any]:
        return dict(sorted(mention.items()))

    given = row()
    candidates = [sorted_by_name(mention) for mention in given["candidates"]]
    changes = {"pronoun": sorted_by_name(given["pronoun"]), "candidates": candidates}
    table = pa.Table.from_pylist([given | changes], own_order(given))
    split = load_split(datasets.Dataset(table))
    assert split.digest == load_split(datasets.Dataset.from_list([given])).digest


def own_order(given: dict[str, Any]) -> pa.Schema:
    mention = pa.struct([("end", pa.int64()), ("start", pa.int64()), ("text", pa.string())])
    kinds = {"pronoun": mention, "candidates": pa.list_(mention), "label": pa.int64()}
    return pa.schema([(name, kinds.get(name, pa.string())) for name in given])


def test_a_selection_of_a_dataset_is_its_rows() -> None:
    own = datasets.Dataset.from_list([row(name) for name in "abc"]).select([2, 0])
    assert [instance.id for instance in load_split(own)] == ["c", "a"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row(), row()], "row 1: the id a is also that of row 0; mend the dataset"),
        ([row(text="Bea left.")], "row 0: the offsets 24:27 do not hold their mention"),
        ([{**row(), "id": None}, row()], "row 0: the column 'id' has no value"),
        ([{"id": "a", "text": "Ada left."}], "the column 'pronoun' is missing"),
        ([row(label="Bea")], "the column 'label' holds string, not int64"),
    ],
)
def test_a_fault_of_a_dataset_is_named(rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_split(datasets.Dataset.from_list(rows))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("dataset", "config", "split", "named"),
    [
        (None, None, None, ("dataset", "default", "test")),
        ("mine", "big", "dev", ("mine", "big", "dev")),
        ("mine", "big", "dev[:10]+test", ("mine", "big", "dev+test")),
        ("../mine", None, None, "the dataset name '../mine' cannot"),
        ("mine", "a/b", None, "the config name 'a/b' cannot"),
        ("mine", None, "a b", "the split name 'a b' cannot"),
    ],
)
def test_rows_in_memory_have_the_names_that_they_say(
    dataset: str | None, config: str | None, split: str | None, named: object
) -> None:
    rows = datasets.Dataset.from_list([row()])
    rows.info.dataset_name, rows.info.config_name, rows._split = dataset, config, split
    if isinstance(named, str):
        with pytest.raises(InputError, match=named):
            load_split(rows)
    else:
        found = load_split(rows)
        assert (found.dataset_name, found.config, found.name) == named


def test_what_is_no_dataset_is_refused() -> None:
    with pytest.raises(InputError, match=r"as a list; give datasets.Dataset.from_list\(rows\)"):
        load_split([row()])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="rows were given as a dict; give a folder"):
        load_split({"id": ["1"]})  # type: ignore[arg-type]
    splits = datasets.DatasetDict({"mine": datasets.Dataset.from_list([row()])})
    with pytest.raises(
        InputError, match=r"as a DatasetDict; give one of its splits.* rows\['mine'"
    ):
        load_split(splits)  # type: ignore[arg-type]


@pytest.mark.parametrize("most", [0, 10_000], ids=["disk", "memory"])
def test_a_data_frame_has_every_column(
    sample: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    pytest.importorskip("pandas")
    monkeypatch.setattr(loading, "MOST_IN_MEMORY", most)
    split = load_split(sample, "double")
    frame = split.to_pandas()
    assert [instance.text for instance in split] == frame["text"].tolist()
    assert len(frame) == len(split) == 576
    assert "canary" not in frame


def test_a_folder_with_the_name_of_a_dataset_of_ours_may_hold_a_users_rows(tmp_path: Path) -> None:
    (tmp_path / "gap" / "mine").mkdir(parents=True)
    datasets.Dataset.from_list([row()]).to_parquet(tmp_path / "gap" / "mine" / "test.parquet")
    split = load_split(tmp_path / "gap")
    assert (split.dataset_name, split.config, len(split)) == ("gap", "mine", 1)

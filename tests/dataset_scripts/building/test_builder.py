"""The `datasets` builder makes what `pronominal build` publishes, from the same sources."""

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError
from pronominal.dataset_scripts.building import builder
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.dataset_scripts.knowref.reddit import hydrated_file, read_labels
from pronominal.dataset_scripts.knowref.upstream import KNOWREF
from pronominal.pronouns import HE, PRONOUN_SETS, PronounSet

datasets = pytest.importorskip("datasets")


def make(name: str, config: str | None, cache: Path, **keywords: Any) -> Any:
    return builder.builder(name, config, cache_dir=cache, **keywords)


@pytest.mark.parametrize("config", ["double", "single"])
def test_rows_and_features_are_the_published_ones(
    sample: Path, tmp_path: Path, config: str
) -> None:
    made = make("sample", config, tmp_path / "cache")
    made.download_and_prepare()
    ours = made.as_dataset(split="test")
    published = datasets.load_dataset(
        str(sample), config, split="test", cache_dir=str(tmp_path / "published")
    )
    assert ours.features == published.features
    assert ours.to_list() == published.to_list()


def test_configs_are_the_scripts_and_the_first_is_the_default(tmp_path: Path) -> None:
    made = make("sample", None, tmp_path)
    assert list(made.builder_configs) == ["double", "single"]
    assert made.config.name == "double"
    assert made.dataset_name == "sample"
    assert made.info.features["label"].names == ["occupation", "participant"]


def test_parquet_holds_the_same_rows(tmp_path: Path) -> None:
    made = make("sample", "single", tmp_path / "cache")
    made.download_and_prepare(str(tmp_path / "out"), file_format="parquet")
    (file,) = (tmp_path / "out").glob("*.parquet")
    written = datasets.Dataset.from_parquet(str(file), cache_dir=str(tmp_path / "read"))
    made.download_and_prepare()
    assert written.to_list() == made.as_dataset(split="test").to_list()


def test_it_streams_twice_and_in_another_process(tmp_path: Path) -> None:
    stream = make("sample", "double", tmp_path).as_streaming_dataset(split="test")
    ids = [row["id"] for row in stream]
    assert len(ids) == 576
    assert [row["id"] for row in stream] == ids
    # the workers of a data loader unpickle what they read from
    assert [row["id"] for row in pickle.loads(pickle.dumps(stream))] == ids


def test_options_reach_the_rows_and_the_cache(tmp_path: Path) -> None:
    ze = PronounSet("ze", "ze", "zir", "zir")
    counts = {}
    for sets in (PRONOUN_SETS, (HE, ze)):
        made = make("sample", "double", tmp_path, pronouns=sets)
        made.download_and_prepare()
        rows = made.as_dataset(split="test")
        counts[len(sets)] = (len(rows), set(rows["pronoun_set"]))
    assert counts == {4: (576, {"he", "she", "they", "xe"}), 2: (288, {"he", "ze"})}


GAP_COLUMNS = (
    *("ID", "Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref"),
    *("B", "B-offset", "B-coref", "URL"),
)


def own_gap(folder: Path, verb: str) -> Path:
    """Upstream files of GAP's form with one sentence of ours in each."""
    text = f"Ada {verb} Bea and she left."
    cells = ("she", text.index("she"), "Ada", 0, "TRUE", "Bea", text.index("Bea"), "FALSE")
    (folder / "gap").mkdir(parents=True, exist_ok=True)
    for split in ("development", "validation", "test"):
        row = "\t".join(map(str, (f"{split}-1", text, *cells, "http://localhost")))
        (folder / f"gap/gap-{split}.tsv").write_text("\t".join(GAP_COLUMNS) + "\n" + row + "\n")
    return folder


def test_every_split_and_class_label_of_gap(tmp_path: Path) -> None:
    sources = own_gap(tmp_path / "sources", "met")
    made = make("gap", "switched", tmp_path / "cache", sources=sources, allow_changed=True)
    made.download_and_prepare()
    found = made.as_dataset()
    assert list(found) == ["train", "validation", "test"]
    assert found["test"].features["label"].names == ["A", "B", "neither"]
    assert found["train"]["text"] == ["Bea met Ada and she left."]
    assert found["train"]["label"] == [1]


def test_other_sources_are_not_served_from_the_cache(tmp_path: Path) -> None:
    texts = []
    for verb in ("met", "saw"):
        sources = own_gap(tmp_path / "sources", verb)
        made = make("gap", "original", tmp_path / "cache", sources=sources, allow_changed=True)
        made.download_and_prepare()
        texts += made.as_dataset(split="test")["text"]
    assert texts == ["Ada met Bea and she left.", "Ada saw Bea and she left."]


def test_other_hydrated_files_are_not_served_from_the_cache(upstream: Path, tmp_path: Path) -> None:
    for name in ("knowref_test.json", "knowref_dev_val_info.xlsx"):
        copied = tmp_path / KNOWREF.folder / name
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_bytes((upstream / KNOWREF.folder / name).read_bytes())
    names = read_labels(Sources(upstream), "train")[0].names
    path = hydrated_file(tmp_path, "train")
    path.parent.mkdir(parents=True)
    rows = []
    for verb in ("met", "saw"):
        sentence = f"{names[0]} {verb} {names[1]} , but [he] left ."
        path.write_text(json.dumps({"row": 0, "sentence_with_pronoun": sentence}) + "\n")
        made = make("knowref", "original", tmp_path / "c", sources=tmp_path, allow_changed=True)
        made.download_and_prepare()
        rows += [made.as_dataset(split="train")["text"]]
    verbs = [text[0].split()[len(names[0].split())] for text in rows]
    assert verbs == ["met", "saw"]


def test_changed_sources_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="SHA-256 differs"):
        make("gap", "original", tmp_path, sources=own_gap(tmp_path, "met"))


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        ("sampel", None, "did you mean 'sample'"),
        ("sample", "singel", "there is no config 'singel'; did you mean 'single'"),
        ("gap", None, "cannot be read"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, name: str, config: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(name, config, tmp_path, sources=tmp_path / "nothing")


def test_without_datasets_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r'pip install "pronominal\[hub\]"'):
        make("sample", None, tmp_path)

"""``run.json`` has one reader, which names the field that does not fit and the name that leaves."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pronominal.adapters import load
from pronominal.dataset_scripts.reading.loading import read_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.errors import InputError
from pronominal.eval.report.hub_metadata import write_hub_metadata
from pronominal.eval.runs.record import RunRecord, SystemRecord, new_record, read_record
from pronominal.eval.runs.runner import SystemSettings, run
from tests.eval.evaluated import evaluate

RANDOM = SystemSettings("random", "random")


@pytest.fixture(scope="module")
def split(sample: Path) -> Split:
    return read_split(str(sample), "double")


@pytest.fixture(scope="module")
def evaluated(split: Split, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluated")
    evaluate(split, RANDOM, out)
    return out / "sample.double.test.random"


@pytest.fixture
def folder(evaluated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(evaluated, tmp_path / evaluated.name))


def change(folder: Path, *path: str, value: object) -> None:
    """Set one field of the run's record, however deep it is."""
    content = json.loads((folder / "run.json").read_text())
    inside: dict[str, Any] = content
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    (folder / "run.json").write_text(json.dumps(content))


def test_what_a_run_wrote_is_its_record(folder: Path, split: Split) -> None:
    record = read_record(folder)
    assert json.loads((folder / "run.json").read_text()) == json.loads(json.dumps(record.to_json()))
    assert str(record.dataset) == "sample/double/test"
    assert (record.label, record.complete, record.seeds) == ("random", True, {"seed": 0})
    for name in ("revision", "dtype", "device", "parameters", "engine"):
        assert record.to_json()[name] is None


class Measured:
    """A system that says what it computes with."""

    name, engine = "measured", "abacus"
    dtype, device, parameters = "torch.bfloat16", "cpu", 12

    def choose(self, instances: Any) -> Any:
        raise AssertionError


def test_a_run_keeps_what_its_system_computes_with(split: Split) -> None:
    asked = SystemRecord("m:Measured", "choosing")
    record = new_record(split, asked, "measured", {}, Measured())
    assert (record.dtype, record.device, record.parameters) == ("bfloat16", "cpu", 12)
    assert record.engine == "abacus"
    Measured.parameters = lambda self: iter(())  # type: ignore[assignment]
    assert new_record(split, asked, "measured", {}, Measured()).parameters is None


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("schema_version",), 0, "the field schema_version is not 1"),
        (("dataset",), "sample", "the field dataset is not an object"),
        (("dataset", "digest"), None, "the field dataset.digest is not a string"),
        (("dataset", "rows"), "576", "the field dataset.rows is not an integer"),
        (("system",), "random", "the field system is not an object"),
        (("system", "kind"), 1, "the field system.kind is not a string"),
        (("checkpoint",), 1, "the field checkpoint is not a string"),
        (("settings",), [], "the field settings is not an object"),
        (("label",), ["random"], "the field label is not a string"),
        (("versions",), {"numpy": 2}, "the field versions.numpy is not a string"),
        (("self_check",), "ok", "the field self_check is not a list"),
        (("times", "seconds"), "1", "the field times.seconds is not a number"),
        (("counts", "rows"), "576", "the field counts.rows is not an integer"),
        (("complete",), "yes", "the field complete is not true or false"),
    ],
)
def test_a_field_that_does_not_fit_is_named(
    folder: Path, path: tuple[str, ...], value: object, message: str
) -> None:
    change(folder, *path, value=value)
    with pytest.raises(InputError) as refused:
        read_record(folder)
    assert str(refused.value).startswith(f"{folder / 'run.json'}: {message}; ")


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"a":' * 10**5 + b"}" * 10**5])
def test_a_damaged_record_is_refused(folder: Path, content: bytes) -> None:
    (folder / "run.json").write_bytes(content)
    with pytest.raises(InputError, match=r"run\.json(, line 1)?: (it|the text) is not"):
        read_record(folder)


OUTSIDE = ["../x", "/tmp/x", "..", "a/b", "", ".x", "-x", "a b", "é", "x\n"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_that_leads_out_of_its_folder_is_refused(
    folder: Path, split: Split, tmp_path: Path, name: str
) -> None:
    record = read_record(folder)
    for path in (("label",), ("dataset", "name"), ("dataset", "config"), ("dataset", "split")):
        (folder / "run.json").write_text(json.dumps(record.to_json()))
        change(folder, *path, value=name)
        with pytest.raises(InputError, match="cannot be the name of a folder"):
            write_hub_metadata(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "named",
    [
        lambda split: replace(split, dataset_name="../../x"),
        lambda split: replace(split, config=".."),
        lambda split: replace(split, name="test+../x"),
    ],
)
def test_nothing_is_written_for_rows_with_such_a_name(
    split: Split, tmp_path: Path, named: Callable[[Split], Split]
) -> None:
    with pytest.raises(InputError, match="cannot be the name of a folder"):
        run(named(split), load("random"), RANDOM, tmp_path / "runs")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("label", "joined", "cause"),
    [("x" * 300, "test", "would have a name of"), ("x" * 99, "a+" * 99 + "b", "a shorter label")],
)
def test_a_name_that_no_file_system_takes_is_refused(
    split: Split, tmp_path: Path, label: str, joined: str, cause: str
) -> None:
    asked = replace(RANDOM, label=label)
    with pytest.raises(InputError, match=cause):
        run(replace(split, name=joined), load("random"), asked, tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


def test_joined_splits_have_names(split: Split) -> None:
    joined = replace(split, name="seed_13+seed_17")
    assert isinstance(
        new_record(joined, SystemRecord("random", "choosing"), "a-1.b", {}), RunRecord
    )


def test_runs_are_not_written_into_a_built_dataset(split: Split, sample: Path) -> None:
    with pytest.raises(InputError, match=r"this is a built dataset, .*; leave out --out, or type"):
        evaluate(split, RANDOM, sample)

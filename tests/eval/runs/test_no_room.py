"""A full disk is one line that names the file, and what was written before goes on."""

import errno
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from tests.cli.test_main import pronominal


@contextmanager
def no_room_after(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        # what is imported meanwhile would be compiled into files that are cut off
        with patch.object(sys, "dont_write_bytecode", True):
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["run", "evaluate", "import"])
def test_the_file_without_room_is_named(sample: Path, tmp_path: Path, name: str) -> None:
    rows = ("--dataset", sample, "--config", "double", "--system", "random")
    given: tuple[object, ...] = (name,)
    if name == "import":
        pytest.importorskip("spacy")  # which splits the texts into words
        exported = tmp_path / "rows.conll"
        to = ("export", "conll2012", exported, "--dataset", sample, "--config", "double")
        assert pronominal(*to).returncode == 0
        given = (name, "conll2012", exported)
    command = (*given, *rows, "--out", tmp_path / "runs")
    with no_room_after(5_000):
        result = pronominal(*command)
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result.stderr
    folder = tmp_path / "runs" / "sample.double.test.random"
    assert f"{folder / 'predictions.jsonl'}: " in result.stderr
    assert pronominal(*command).returncode == 0
    assert not [*folder.glob(".*")]


def test_the_table_of_a_dataset_without_room_is_named(tmp_path: Path) -> None:
    with no_room_after(2_000):
        result = pronominal("build", "sample", "--out", tmp_path / "out")
    assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result.stderr
    assert f"{tmp_path / 'out' / 'sample' / 'double' / 'test.parquet'}: " in result.stderr
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["README.md", "SHA256SUMS"])
def test_any_other_file_of_a_dataset_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    write = Path.write_text

    def full(file: Path, *content: Any, **how: Any) -> int:
        if file.name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, *content, **how)

    monkeypatch.setattr(Path, "write_text", full)
    result = pronominal("build", "sample", "--out", tmp_path)
    told = f"{tmp_path / 'sample' / name}: No space left on device"
    assert (result.returncode, result.stderr.count(told)) == (2, 1), result.stderr

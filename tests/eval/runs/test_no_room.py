"""A full disk is one line that names the file, and what was written before goes on."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.test_main import pronominal


@contextmanager
def no_room_after(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", ["run", "evaluate", "import"])
def test_the_file_without_room_is_named(sample: Path, tmp_path: Path, name: str) -> None:
    rows = ("--dataset", sample, "--config", "double", "--system", "random")
    given: tuple[object, ...] = (name,)
    if name == "import":
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

"""Environments: what is said before one is made, and what is left of one that was killed."""

import sys
from pathlib import Path

import pytest

from pronominal.adapters.remote import environments
from tests.cli.test_main import pronominal


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv(environments.PLACE, str(tmp_path))
    wanted = environments.environments()["maverick"]
    wanted.python[:] = [wanted.python[0], f"3.{sys.version_info.minor}"]
    return tmp_path


def test_size_and_interpreter_are_said_before_anything_is_downloaded(
    monkeypatch: pytest.MonkeyPatch, place: Path
) -> None:
    said: list[str] = []
    monkeypatch.setattr(environments, "_run", lambda step, name: said.append("runs") or "")
    environments.create("maverick", sys.executable, said.append)
    version = f"3.{sys.version_info.minor}"
    assert said[0] == f"{place / 'maverick'}: made with {sys.executable} (Python {version})"
    assert said[1].startswith(f"to download: {environments.environments()['maverick'].size}; ")
    assert said.index("runs") > 1


def test_one_that_was_killed_is_listed_with_its_removal(place: Path) -> None:
    left = place / ".coreferee.x7.unfinished"
    left.mkdir()
    listed = pronominal("env", "list").stdout.splitlines()
    (line,) = [line for line in listed if "unfinished" in line]
    cure = f"unless it is being made now, remove it with: rm -r {left}"
    assert line == f"coreferee\tunfinished\t{cure}"

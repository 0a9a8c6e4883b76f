import errno
import os
from pathlib import Path
from typing import Any

import pytest

from pronominal import InputError, atomic
from pronominal.atomic import new_file, new_folder
from pronominal.locks import HeldError


def test_a_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b.txt"
    with new_file(target) as beside:
        beside.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("context", [new_file, new_folder])
def test_a_failure_leaves_nothing(tmp_path: Path, context) -> None:
    def fail() -> None:
        with context(tmp_path / "a" / "b" / "c") as beside:
            (beside / "part" if beside.is_dir() else beside).write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("context", [new_file, new_folder])
def test_a_failure_keeps_what_was_there(tmp_path: Path, context) -> None:
    target = tmp_path / "kept"
    with context(target) as beside:
        (beside / "part" if beside.is_dir() else beside).write_text("first")
    with pytest.raises(KeyboardInterrupt), context(target):
        raise KeyboardInterrupt
    content = target / "part" if target.is_dir() else target
    assert content.read_text() == "first"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("context", [new_file, new_folder])
def test_a_full_disk_is_named(tmp_path: Path, context) -> None:
    with pytest.raises(OSError, match="No space left") as raised, context(tmp_path / "target"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert raised.value.filename == str(tmp_path / "target")
    with pytest.raises(OSError, match="reset") as raised, context(tmp_path / "target"):
        raise OSError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
    assert raised.value.filename is None  # nothing that was written


def test_a_folder_replaces_the_one_before(tmp_path: Path) -> None:
    for content in ("first", "second"):
        with new_folder(tmp_path / "folder") as beside:
            (beside / content).write_text(content)
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["second"]
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


def test_only_what_the_dead_have_left_is_removed(tmp_path: Path) -> None:
    kept = tmp_path / ".folder.mybackup"
    kept.mkdir()
    (kept / "thesis.tex").write_text("years of work")
    abandoned = tmp_path / ".folder.abcdefgh.unfinished"
    abandoned.mkdir()
    (abandoned / "part").write_text("half")
    with new_folder(tmp_path / "folder") as living:
        (living / "part").write_text("half")
        with new_folder(tmp_path / "folder") as second:
            (second / "whole").write_text("whole")
        # the one that is being filled is locked, the abandoned one is not
        assert (living / "part").read_text() == "half"
        assert not abandoned.exists()
    assert sorted(tmp_path.iterdir()) == [kept, tmp_path / "folder"]
    assert (tmp_path / "folder" / "part").exists()


def test_a_system_without_locks_builds_and_removes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    abandoned = tmp_path / ".folder.abcdefgh.unfinished"
    abandoned.mkdir()
    (abandoned / "part").write_text("half")
    with new_folder(tmp_path / "folder") as beside:
        (beside / "whole").write_text("whole")
    assert sorted(tmp_path.iterdir()) == [abandoned, tmp_path / "folder"]


@pytest.mark.parametrize("context", [new_file, new_folder])
def test_what_the_dead_have_left_is_removed_though_it_is_empty(tmp_path: Path, context) -> None:
    (tmp_path / ".target.abcdefgh.unfinished").mkdir()
    with context(tmp_path / "target"):
        pass
    assert list(tmp_path.iterdir()) == [tmp_path / "target"]


def test_a_folder_that_others_took_for_a_dead_ones_is_claimed_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, tried = atomic.held, []

    def taken_once(folder: Path) -> Any:
        tried.append(folder)
        if len(tried) == 1:
            raise HeldError
        return hold(folder)

    monkeypatch.setattr(atomic, "held", taken_once)
    rebuild(tmp_path / "folder", "whole")
    assert tried[0] != tried[1]
    assert (tmp_path / "folder" / "part").read_text() == "whole"
    assert list(tmp_path.iterdir()) == [tmp_path / "folder"]


@pytest.mark.parametrize(("mask", "file", "folder"), [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700)])
def test_permissions_are_those_of_the_umask(
    tmp_path: Path, mask: int, file: int, folder: int
) -> None:
    before = os.umask(mask)
    try:
        rebuild(tmp_path / "folder", "whole")
        with new_file(tmp_path / "file") as beside:
            beside.write_text("whole")
    finally:
        os.umask(before)
    assert (tmp_path / "folder").stat().st_mode & 0o777 == folder
    for written in (tmp_path / "file", tmp_path / "folder" / "part"):
        assert written.stat().st_mode & 0o777 == file


def rebuild(folder: Path, content: str) -> None:
    with new_folder(folder) as beside:
        (beside / "part").write_text(content)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), OSError(errno.EIO, "io")])
@pytest.mark.parametrize(
    ("move", "done", "stands"),
    [(1, False, "old"), (1, True, "old"), (2, False, "old"), (2, True, "new")],
    ids=["before the first", "after the first", "before the second", "after the second"],
)
def test_a_swap_that_is_stopped_keeps_one_of_the_two(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    move: int,
    done: bool,
    stands: str,
) -> None:
    target = tmp_path / "folder"
    rebuild(target, "old")
    replace, moves = Path.replace, []

    def stopped(path: Path, to: Path) -> Path:
        moves.append(path)
        if len(moves) != move:
            return replace(path, to)
        if done:
            replace(path, to)
        raise error

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(type(error)):
        rebuild(target, "new")
    assert (target / "part").read_text() == stands
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("standing", [True, False], ids=["a rebuild", "a first build"])
def test_a_build_at_the_same_time_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, standing: bool
) -> None:
    target = tmp_path / "folder"
    if standing:
        rebuild(target, "old")
    replace = Path.replace

    def late(path: Path, to: Path) -> Path:
        if to == target:
            target.mkdir()
            (target / "part").write_text("the other's")
        return replace(path, to)

    monkeypatch.setattr(Path, "replace", late)
    with pytest.raises(InputError, match="another process") as caught:
        rebuild(target, "new")
    assert caught.value.file == target
    assert (target / "part").read_text() == "the other's"
    assert list(tmp_path.iterdir()) == [target]

"""Damages the inputs of a command, calls it, and says what it must not do."""

import io
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from stat import S_ISDIR
from types import FrameType
from typing import IO
from unittest import mock

import typer

from pronominal.adapters.catalogue.published import CACHE
from pronominal.cli.main import app, main
from tests.fuzzing.commands import Case
from tests.fuzzing.mutations import mutate

SECONDS = 25
"""How long a command may compute; one that waits has ten times as long."""

COMMAND = typer.main.get_command(app)
"""The command line, which typer would put together anew for each call."""

State = tuple[int, int, int]


class HangError(BaseException):
    """A command took longer; no `except Exception` stops it."""


class Inputs:
    """Sound inputs, and what makes them sound again after a call.

    Attributes:
        folder: where they are.
        kept: a copy.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kept = folder.with_name(f"{folder.name}-kept")
        shutil.copytree(folder, self.kept)
        self._sound = self._states()

    def _states(self) -> dict[str, State | None]:
        # with all that pathlib makes of each path it would take three times as long
        paths = {
            path: os.lstat(path)
            for at, folders, files in os.walk(self.folder)
            for path in (os.path.join(at, name) for name in (*folders, *files))
        }
        return {
            path: None if S_ISDIR(of.st_mode) else (of.st_mtime_ns, of.st_size, of.st_ino)
            for path, of in paths.items()
        }

    def changed(self) -> list[Path]:
        """Return what has come, gone or been written since the inputs were sound."""
        now = self._states()
        ever = now.keys() | self._sound.keys()
        return sorted(Path(path) for path in ever if self._differs(path, now))

    def _differs(self, path: str, now: dict[str, State | None]) -> bool:
        return path not in now or path not in self._sound or now[path] != self._sound[path]

    def restore(self) -> None:
        """Make the inputs sound again."""
        for path in self.changed():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)  # its folder may be gone already
            kept = self.kept / path.relative_to(self.folder)
            if kept.is_dir():
                path.mkdir()
            elif kept.exists():
                shutil.copy(kept, path)
        self._sound = self._states()


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a command took its damaged input.

    Attributes:
        damage: the file, and what was done to it.
        refused: whether the command called its input wrong.
        fault: what it must not do and did, if anything.
    """

    damage: str
    refused: bool
    fault: str | None


@contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise `HangError` in a block that takes longer."""

    def ring(_: int, __: FrameType | None) -> None:
        raise HangError

    clocks = {signal.SIGPROF: signal.ITIMER_PROF, signal.SIGALRM: signal.ITIMER_REAL}
    before = {number: signal.signal(number, ring) for number in clocks}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, 10 * seconds)
    try:
        yield
    finally:
        for number, clock in clocks.items():
            signal.setitimer(clock, 0)
            signal.signal(number, before[number])


def sound(case: Case, inputs: Inputs) -> str | None:
    """Call a command with sound inputs; return what is wrong with how it ends."""
    try:
        status, stderr = called(case.words(inputs.folder), inputs.folder)
        other = f"it exits with {status}: {stderr[-300:]}" if status != case.ends else None
        return other or _said(status, stderr) or _left(case, inputs, refused=False, contents={})
    finally:
        inputs.restore()


def fuzzed(case: Case, inputs: Inputs, seed: str) -> Outcome:
    """Call a command with one damaged input, and make its inputs sound again."""
    chance = Random(seed)
    files = sorted(
        {file for one in case.damaged for file in inputs.folder.glob(one) if file.is_file()}
    )
    assert files, case
    damaged = chance.choice(files)
    try:
        damage = f"{damaged.relative_to(inputs.folder)}: {mutate(damaged, chance)}"
        content = damaged.read_bytes()
        try:
            with alarm(SECONDS):
                status, stderr = called(case.words(inputs.folder), inputs.folder)
        except HangError:
            fault = f"it took more than {SECONDS} seconds\n{traceback.format_exc()}"
            return Outcome(damage, refused=False, fault=fault)
        except BaseException:
            fault = "".join(traceback.format_exc().splitlines(keepends=True)[-14:])
            return Outcome(damage, refused=False, fault=fault)
        said = _said(status, stderr)
        left = _left(case, inputs, refused=status == 2, contents={damaged: content})
        return Outcome(damage, status == 2, said or left)
    finally:
        inputs.restore()


def called(words: list[str], folder: Path) -> tuple[object, str]:
    """Call a command in a folder, with its cache in there; return its exit status and stderr.

    What is written to stdout past Python's streams stands there, too.
    """
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {CACHE: str(folder / "cache")}))
        # to draw learning curves takes longer than to train a tiny model
        stack.enter_context(mock.patch("matplotlib.figure.Figure.savefig", _blank))
        stack.enter_context(redirect_stdout(io.StringIO()))
        stderr = stack.enter_context(redirect_stderr(io.StringIO()))
        past_python = stack.enter_context(_written_past_python())
        stack.enter_context(chdir(folder))
        stack.enter_context(mock.patch.object(sys, "argv", ["pronominal", *words]))
        stack.enter_context(mock.patch("pronominal.cli.main.app", COMMAND))
        try:
            main()
        except SystemExit as end:
            past_python.seek(0)
            return end.code or 0, past_python.read().decode("utf-8", "replace") + stderr.getvalue()
    raise AssertionError("the command did not exit")


@contextmanager
def _written_past_python() -> Iterator[IO[bytes]]:
    """Give the file that takes what packages in other languages write to stdout and stderr."""
    with tempfile.TemporaryFile() as said, ExitStack() as stack:
        for number in (1, 2):
            kept = os.dup(number)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, number)
            os.dup2(said.fileno(), number)
        yield said


def _blank(figure: object, file: Path, **_: object) -> None:
    file.touch()


def _said(status: object, stderr: str) -> str | None:
    """Return what is wrong with a command's exit status and messages."""
    lines = stderr.splitlines()
    if status not in (0, 1, 2):
        return f"it exits with {status}: {stderr[-300:]}"
    if status == 2 and not (lines and lines[-1].startswith("pronominal: ")):
        return f"its last line is none of ours: {stderr[-300:]}"
    if "Traceback" in stderr:
        return f"it shows a traceback: {stderr[-300:]}"
    if any(len(line) > 2_000 for line in lines):
        return f"a line has {max(map(len, lines))} characters: {stderr[:300]}"
    if not all(line.isprintable() for line in lines):
        return f"a message has control characters: {stderr[:300]!r}"
    return None


def _left(case: Case, inputs: Inputs, *, refused: bool, contents: dict[Path, bytes]) -> str | None:
    """Return what a command must not leave: half of something, or anything when it refuses.

    `contents` are those of damaged files.
    """
    goes_on = {path for one in case.goes_on for path in inputs.folder.glob(one)}
    for path in inputs.changed():
        name = path.relative_to(inputs.folder)
        if path.name.endswith((".unfinished", ".lock")):
            return f"it leaves {name}"
        if not refused or not goes_on.isdisjoint({path, *path.parents}):
            continue
        if not path.exists():
            return f"it refuses its input and removes {name}"
        kept = inputs.kept / name
        if path.is_dir() or (not kept.exists() and path not in contents):
            return f"it refuses its input and writes {name}"
        if path.read_bytes() != (contents[path] if path in contents else kept.read_bytes()):
            return f"it refuses its input and changes {name}"
    return None

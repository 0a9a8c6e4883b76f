"""Damages the inputs of a command, calls it, and says what it must not do."""

import io
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from random import Random
from types import FrameType
from unittest import mock

from pronominal.cli.main import main
from tests.fuzzing.commands import Case
from tests.fuzzing.mutations import mutate

SECONDS = 25
"""How long a command may compute; one that waits has ten times as long."""


class HangError(BaseException):
    """A command took longer; no `except Exception` stops it."""


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


def fuzzed(case: Case, inputs: Path, seed: str) -> tuple[str, str | None]:
    """Call a command with one damaged input; return what was damaged, and the fault if any."""
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "in"
        shutil.copytree(inputs, folder)
        files = sorted(
            {file for one in case.damaged for file in folder.glob(one) if file.is_file()}
        )
        assert files, case
        damaged = chance.choice(files)
        how = f"{damaged.relative_to(folder)}: {mutate(damaged, chance)}"
        before = set(folder.rglob("*"))
        try:
            with alarm(SECONDS):
                status, stderr = _called(case.words(folder), folder)
        except HangError:
            return how, f"it took more than {SECONDS} seconds\n{traceback.format_exc()}"
        except BaseException:
            return how, "".join(traceback.format_exc().splitlines(keepends=True)[-14:])
        return how, _fault(case, folder, before, status, stderr)


def _called(words: list[str], folder: Path) -> tuple[object, str]:
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(io.StringIO()))
        stderr = stack.enter_context(redirect_stderr(io.StringIO()))
        stack.enter_context(chdir(folder))
        stack.enter_context(mock.patch.object(sys, "argv", ["pronominal", *words]))
        try:
            main()
        except SystemExit as end:
            return end.code or 0, stderr.getvalue()
    raise AssertionError("the command did not exit")


def _fault(case: Case, folder: Path, before: set[Path], status: object, stderr: str) -> str | None:
    if status not in (0, 1, 2):
        return f"it exits with {status}"
    lines = stderr.splitlines()
    if status == 2 and not (lines and lines[-1].startswith("pronominal: ")):
        return f"its last line is none of ours: {stderr[-300:]}"
    if "Traceback" in stderr:
        return f"it shows a traceback: {stderr[-300:]}"
    if any(len(line) > 2_000 for line in lines):
        return f"a line has {max(map(len, lines))} characters: {stderr[:300]}"
    if not all(line.isprintable() for line in lines):
        return f"a message has control characters: {stderr[:300]!r}"
    left = [path for path in folder.rglob(".*") if path.name.endswith((".unfinished", ".lock"))]
    if left:
        return f"it leaves {left[0].relative_to(folder)}"
    whole = None if case.whole is None else folder / case.whole
    if status == 2 and whole is not None and whole not in before and whole.exists():
        return f"it refuses its input and writes {case.whole}"
    return None

"""What only Unix has is not needed: the commands run where the module fcntl cannot be imported."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pronominal.atomic import held_folder

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys, warnings
sys.modules["fcntl"] = None
from pronominal.cli.main import app, main

sys.argv = ["pronominal", "build", "sample", "--out", "out"]
try:
    main()
except SystemExit as end:
    assert not end.code, end
print("built", file=sys.stderr)
warnings.simplefilter("ignore")
rows = ["--dataset", "out/sample", "--config", "double"]
run = "runs/sample.double.test.random"
for command in (
    ["evaluate", *rows, "--system", "random", "--system", "first-mention"],
    ["score", "sample", *rows, "--predictions", run],
    ["report", "runs"],
):
    app(command, standalone_mode=False)
"""


def test_the_first_table_needs_no_fcntl(tmp_path: Path) -> None:
    environment = {name: its for name, its in os.environ.items() if name != "PYTHONWARNINGS"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").exists()
    assert not [*tmp_path.rglob(".*")]
    # that locks are soft is told as everything is
    told = done.stderr.splitlines()
    assert told[: told.index("built")] == ["pronominal: only soft file lock is available"]


WRITERS = """
import sys
sys.modules["fcntl"] = None
from pathlib import Path
from pronominal.atomic import held_folder
from pronominal.errors import InputError

folder = Path("runs")
with held_folder(folder):
    try:
        with held_folder(folder):
            print("two writers")
    except InputError as refused:
        print(refused.cause)
with held_folder(folder):
    print("free")
"""


def test_two_writers_are_told_apart_without_fcntl(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WRITERS],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    told = done.stdout.splitlines()
    assert told[:1] == ["another process is writing there"], done.stderr
    assert told[1:] == ["free"]
    assert not [*tmp_path.rglob(".*")]


def test_a_folder_that_cannot_be_locked_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr("filelock.FileLock.acquire", refuse)
    with pytest.warns(UserWarning, match="nothing can be locked there"), held_folder(tmp_path):
        pass


def test_texts_have_the_same_line_ends_on_every_system() -> None:
    """Windows would write others where none are said, and checksums would differ."""
    unsaid = [
        f"{file.relative_to(ROOT)}, line {call.lineno}"
        for top in ("adapters", "cli", "core", "dataset_scripts", "eval")
        for file in (ROOT / top).rglob("*.py")
        if (code := file.read_text(encoding="utf-8")) and ("write_text" in code or "open" in code)
        for call in ast.walk(ast.parse(code))
        if isinstance(call, ast.Call)
        and writes_text(call)
        and not any(keyword.arg == "newline" for keyword in call.keywords)
    ]
    assert not unsaid


def writes_text(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    modes = {argument.value for argument in call.args if isinstance(argument, ast.Constant)}
    return name == "write_text" or (name == "open" and bool(modes & {"w", "a", "x"}))

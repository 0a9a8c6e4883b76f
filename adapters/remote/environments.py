"""Environments for systems with old pins: made by plain venv and pip, run by the command adapter.

What is in each is listed in ``environments.toml``.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from textwrap import shorten
from typing import Any

from pronominal.adapters.checkpoints.files import Checkpoint, files_digest
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import System, contract_clusters
from pronominal.adapters.remote.command import command
from pronominal.atomic import UNFINISHED, new_folder
from pronominal.errors import InputError
from pronominal.names import unknown_name
from pronominal.spans import Cluster

PLACE = "PRONOMINAL_ENVIRONMENTS"
"""Environment variable with the folder of all environments."""

MADE = "environment.json"
"""Beside ``pyvenv.cfg``: what was asked for and what is in it."""


@dataclass(frozen=True, slots=True)
class Environment:
    """What a system needs to run on its own.

    Attributes:
        size: what is downloaded, as far as that is known.
        python: the oldest and the newest version of Python that it was made for.
        requirements: what pip installs.
        after: arguments that the environment's Python is called with next, such as downloads.
        program: the file in `pronominal.adapters.remote.programs` that answers for the system.
    """

    size: str
    python: list[str]
    requirements: list[str]
    after: list[list[str]]
    program: str


@cache
def environments() -> dict[str, Environment]:
    """Return all environments by name."""
    table = files("pronominal.adapters.remote").joinpath("environments.toml")
    text = table.read_text(encoding="utf-8")
    return {name: Environment(**needs) for name, needs in tomllib.loads(text).items()}


def folder_of(name: str) -> Path:
    """Return where an environment is, or will be: in `PLACE`, or among the user's data."""
    if place := os.environ.get(PLACE):
        return Path(place) / name
    data = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(data).expanduser() / "pronominal" / "environments" / name


def is_made(name: str) -> bool:
    """Say whether an environment is there as it is wanted now."""
    return bool(_made(name).get("requirements") == environments()[name].requirements)


def unfinished(name: str) -> list[Path]:
    """Return the folders in which an environment is being made, or was when it was killed."""
    folder = folder_of(name)
    return sorted(folder.parent.glob(f".{name}.*{UNFINISHED}"))


def _free(folder: Path) -> str:
    there = next(one for one in (folder, *folder.parents) if one.exists())
    return f"{shutil.disk_usage(there).free / 1e9:.1f} GB"


def _made(name: str) -> dict[str, Any]:
    """Return what an environment says of itself; nothing where it is not there."""
    try:
        content = json.loads((folder_of(name) / MADE).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def create(name: str, python: str | None = None, say: Callable[[str], None] = print) -> Path:
    """Make an environment, or make it anew, and return its folder; pip downloads what is in it.

    Args:
        name: a key of `environments`.
        python: the Python to make it with; one of the right version on the PATH when None.
        say: told what is being done.
    """
    if name not in environments():
        raise unknown_name("environment", name, environments())
    wanted, folder = environments()[name], folder_of(name)
    base = _python(name, wanted, python)
    say(f"{folder}: made with {base} (Python {'.'.join(map(str, _version_of(base)))})")
    say(f"to download: {wanted.size}; {_free(folder)} are free")
    with new_folder(folder) as beside:
        inside = str(_python_in(beside))
        pip = (inside, "-m", "pip", "--disable-pip-version-check")
        steps: list[tuple[str, ...]] = [
            (base, "-m", "venv", str(beside)),
            (*pip, "install", "--quiet", *wanted.requirements),
            *((inside, *arguments) for arguments in wanted.after),
        ]
        for step in steps:
            say(" ".join(step[1:]))
            _run(step, name)
        made = {
            "name": name,
            "requirements": wanted.requirements,
            "packages": _run((*pip, "freeze"), name).splitlines(),
        }
        (beside / MADE).write_text(
            json.dumps(made, indent=2) + "\n", encoding="utf-8", newline="\n"
        )
    return folder


def in_environment(name: str, arguments: Sequence[str], timeout: float) -> System:
    """Return the system that an environment was made for; `InputError` if it is not there.

    `arguments` are those of its program, which may be silent for `timeout` seconds.
    """
    if not is_made(name):
        raise InputError(
            f"{name} runs in an environment of its own, which is not there",
            cure=f"pronominal env create {name}",
        )
    return _EnvironmentSystem(name, arguments, timeout)


class _EnvironmentSystem:
    """A coreference system in its environment; it checks itself, and its clusters are cleaned."""

    def __init__(self, name: str, arguments: Sequence[str], timeout: float) -> None:
        programs = files("pronominal.adapters.remote.programs")
        program = programs.joinpath(environments()[name].program)
        folder = folder_of(name)
        words = [str(_python_in(folder)), str(program), *arguments]
        self.name = name
        self.checkpoint = Checkpoint(
            " ".join(arguments), folder, _digest(program.read_bytes(), arguments, _made(name))
        )
        self._program: Any = command(words, timeout=timeout, name=name)
        self.self_check = announce(check_clusters(self))

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans."""
        return [contract_clusters(clusters) for clusters in self._program.cluster(texts)]


def _digest(program: bytes, arguments: Sequence[str], made: Mapping[str, Any]) -> str:
    """Identify what is run, wherever on a machine it lies."""
    parts = [hashlib.sha256(program).hexdigest(), *made.get("packages", ())]
    for argument in arguments:
        given = Path(argument)
        if given.is_dir():
            parts.append(files_digest(given, filter(Path.is_file, given.rglob("*"))))
        else:
            parts.append(files_digest(given.parent, [given]) if given.is_file() else argument)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _python_in(folder: Path) -> Path:
    """Return the Python of an environment."""
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def _python(name: str, wanted: Environment, given: str | None) -> str:
    oldest, newest = (tuple(map(int, version.split("."))) for version in wanted.python)
    minors = range(newest[1], oldest[1] - 1, -1)
    candidates = [given] if given else [sys.executable, *(f"python3.{n}" for n in minors)]
    for candidate in candidates:
        if oldest <= _version_of(candidate) <= newest:
            return candidate
    what = f"{given} is no Python" if given else "there is no Python"
    raise InputError(
        f"{what} from {wanted.python[0]} to {wanted.python[1]}, which {name} was made for",
        cure="install one and give it with --python",
    )


def _version_of(python: str) -> tuple[int, ...]:
    show = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        shown = subprocess.run([python, "-c", show], capture_output=True, text=True, check=True)
        return tuple(map(int, shown.stdout.split(".")))
    except (OSError, ValueError, subprocess.CalledProcessError):
        return ()  # no program, or one that shows something else


def _run(step: Sequence[str], name: str) -> str:
    done = subprocess.run(step, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InputError(
            f"the environment {name} could not be made: {' '.join(step[1:5])} ... fails "
            f"({_complaint(done)})",
            cure="look whether you are online, and what the packages say they need",
        )
    return done.stdout


def _complaint(done: subprocess.CompletedProcess[str]) -> str:
    """Return pip's first error, or the last line, where other programs say what is wrong."""
    lines = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    errors = (line for line in lines if line.startswith("ERROR"))
    return shorten(next(errors, lines[-1] if lines else "without a word"), 240)

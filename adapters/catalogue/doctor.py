"""Which systems can run on this machine, and the command for each one that cannot."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Literal

from pronominal.adapters.catalogue.systems import GIVEN, SYSTEMS, SystemEntry, at
from pronominal.adapters.checkpoints.files import cached_weights
from pronominal.adapters.contract.systems import Kind
from pronominal.adapters.remote.environments import is_made
from pronominal.names import is_hub_id

_REQUIREMENT = re.compile(
    r"(?P<name>[\w.-]+)(\[[^]]*\])?\s*(>=(?P<least>[\d.]+))?[^;]*"
    r"(;\s*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"])?"
)


State = Literal[
    "runs", "needs a command", "needs a server", "needs a URL", "needs weights", "needs installing"
]

_NO_WEIGHTS: dict[str, State] = {"a command": "needs a command", "a URL": "needs a URL"}
"""What systems without weights of their own need, which run anything that they are given."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a system needs before its first answer.

    Attributes:
        name: the system.
        kind: how it answers.
        install: the command that installs what it needs; None when the core is enough.
        weights: where its weights come from; None when it has none.
        missing: packages, or the environment, that are not there or too old.
        state: whether it can run now.
        cure: the command, or what to do, before it runs; None when there is nothing to do.
    """

    name: str
    kind: Kind
    install: str | None
    weights: str | None
    missing: tuple[str, ...]
    state: State
    cure: str | None


def diagnose() -> list[Diagnosis]:
    """Return what each system needs, in the order of their table; nothing is loaded."""
    extras = requirements_of_extras()
    return [_diagnosis(name, entry, extras) for name, entry in SYSTEMS.items()]


def requirements_of_extras() -> dict[str, dict[str, str]]:
    """Return what each extra of this installation needs: package -> least version, or ``""``."""
    extras: dict[str, dict[str, str]] = {}
    for line in requires("pronominal") or []:
        needed = _REQUIREMENT.match(line)
        if needed is not None and needed["extra"] and needed["name"] != "pronominal":
            extras.setdefault(needed["extra"], {})[needed["name"]] = needed["least"] or ""
    return extras


def install_command(entry: SystemEntry) -> str | None:
    """Return the command that installs what a system needs; None when the core is enough."""
    if entry.environment is not None:
        return f"pronominal env create {entry.environment}"
    return None if entry.extra is None else f'pip install "pronominal[{entry.extra}]"'


def missing_packages(
    needed: Mapping[str, str], installed: Callable[[str], str | None]
) -> tuple[str, ...]:
    """Return the packages that are missing, or older than the least version that is `needed`.

    `installed` returns a package's version; None when it is not there.
    """
    return tuple(
        f"{name}>={least}" if least else name
        for name, least in needed.items()
        if (there := installed(name)) is None or _numbers(there) < _numbers(least)
    )


def _diagnosis(name: str, entry: SystemEntry, extras: Mapping[str, Mapping[str, str]]) -> Diagnosis:
    install, missing = install_command(entry), _missing(entry, extras)
    cure = install if missing else _weights_cure(name, entry.weights)
    state = _NO_WEIGHTS.get(entry.weights or "", "needs weights") if cure else "runs"
    if entry.server is not None and cure is None:
        # whether it is there is not asked: nothing here touches the network
        given = f"give its address, as -s {name}=URL (or --set url=URL)"
        state, cure = "needs a server", f"start one ({at(entry.server)}), and {given}"
    state = "needs installing" if missing else state
    return Diagnosis(name, entry.kind, install, entry.weights, missing, state, cure)


def _missing(entry: SystemEntry, extras: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    if entry.environment is not None:
        return () if is_made(entry.environment) else (f"environment {entry.environment}",)
    if entry.extra is None:
        return ()
    if entry.extra not in extras:
        return (f"extra {entry.extra}",)  # pronominal was installed before there was one
    return missing_packages(extras[entry.extra], _version)


def _weights_cure(name: str, weights: str | None) -> str | None:
    """Say how a system that is installed gets its weights; None when they are there."""
    if weights is None or weights == "in its environment":
        return None
    if weights in GIVEN:
        return GIVEN[weights].format(name=name)
    if weights.startswith("pronominal "):
        return f"{weights}, then --system {name}=FOLDER"
    if is_hub_id(weights):
        return None if cached_weights(weights) else f"hf download {weights}"
    return f"download them from {weights}, then --system {name}=FOLDER"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _numbers(text: str) -> list[int]:
    """Return the numbers that a version begins with, for comparison."""
    match = re.match(r"\d+(\.\d+)*", text)
    return [int(part) for part in match[0].split(".")] if match else []

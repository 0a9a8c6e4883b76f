"""The systems of a comparison as the user asks for them: arguments, settings, a TOML file."""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronominal.adapters import SYSTEMS
from pronominal.adapters.catalogue.own_object import is_place
from pronominal.errors import InputError
from pronominal.eval.runs.runner import SystemSettings
from pronominal.names import require_name, unknown_name
from pronominal.text_files import read_toml


def parse_systems(arguments: Sequence[str]) -> list[SystemSettings]:
    """Read systems as the command line has them; a label that comes twice gets a number.

    ``NAME`` and ``NAME=CHECKPOINT`` are systems of ours, ``MODULE:ATTRIBUTE`` and
    ``LABEL=MODULE:ATTRIBUTE`` are the user's own.
    """
    systems, labels = [], Counter[str]()
    for argument in arguments:
        name, equals, given = argument.partition("=")
        if equals and not given:
            raise InputError(f"'{argument}' names no checkpoint", cure=f"write {name}=FOLDER")
        label, checkpoint = name.partition(":")[2] or name, given or None
        if name not in SYSTEMS and is_place(given):
            name, checkpoint = given, None
        labels[label] += 1
        numbered = f"{label}-{labels[label]}" if labels[label] > 1 else label
        systems.append(SystemSettings(numbered, name, checkpoint))
    return systems


def parse_settings(arguments: Sequence[str]) -> dict[str, Any]:
    """Read ``KEY=VALUE`` arguments; values are those of TOML, and words need no quotes."""
    settings: dict[str, Any] = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or not key.isidentifier():
            raise InputError(f"'{argument}' is no setting", cure="write KEY=VALUE")
        try:
            settings[key] = tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            settings[key] = value
    return settings


def read_systems(path: Path) -> list[SystemSettings]:
    """Read systems with settings from a TOML file.

    One table for each system; its key is the label, ``system`` the name when it is another,
    ``checkpoint`` the weights, and every other key a setting of the system's own::

        [lingmess-large]
        system = "lingmess"
        checkpoint = "checkpoints/lingmess"
        batch_size = 8
    """
    systems = []
    for label, table in read_toml(path, "systems").items():
        where = {"file": str(path), "row": f"[{label}]"}
        if not isinstance(table, dict):
            raise InputError("a system is a table", cure="write its settings below", **where)
        systems.append(system_of_settings({"label": label, "system": label, **table}, **where))
    return systems


def system_of_settings(given: Mapping[str, Any], **where: str) -> SystemSettings:
    """Read one system from ``system``, perhaps ``label`` and ``checkpoint``, and its own settings.

    `where` is the file and the row that errors name.
    """
    settings = dict(given)
    name, checkpoint = settings.pop("system", None), settings.pop("checkpoint", None)
    label = settings.pop("label", name)
    if not isinstance(name, str) or not isinstance(checkpoint, str | None):
        raise InputError("system and checkpoint are strings", cure="quote them", **where)
    require_name("label", label, **where)
    return SystemSettings(label, name, checkpoint, settings)


def refuse_unknown(systems: Sequence[SystemSettings]) -> None:
    """Raise `InputError` for a name or label that cannot be, before the first system runs."""
    labels: set[str] = set()
    for system in systems:
        if system.name not in SYSTEMS and not is_place(system.name):
            raise unknown_name("system", system.name, SYSTEMS)
        require_name("label", system.label)
        if system.label in labels:
            cause = f"two systems are called {system.label}"
            raise InputError(cause, cure="give one another label")
        labels.add(system.label)

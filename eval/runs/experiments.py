"""One experiment as a TOML file: what ``pronominal evaluate FILE`` runs and a paper archives."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronominal.errors import InputError
from pronominal.eval.runs.asked_systems import parse_systems, systems_of_tables
from pronominal.eval.runs.runner import SystemSettings
from pronominal.names import nearest_name
from pronominal.text_files import read_toml

WORDS = ("dataset", "config", "split", "out", "reading", "task", "plan", "save")
NUMBERS = ("limit", "margin")
"""The keys of the file that are options of the command."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What a file says of an experiment.

    Attributes:
        options: of the command ``evaluate``, by name.
        systems: what is compared.
        settings: for every system that has them, such as ``device``.
    """

    options: dict[str, Any]
    systems: list[SystemSettings]
    settings: dict[str, Any]


def read_experiment(path: Path) -> Experiment:
    """Read an experiment from a TOML file.

    Its keys are the options of ``pronominal evaluate``; ``systems`` is a list, as the command line
    has them, or a table for each, as in `read_systems`; ``settings`` is a table for all of them::

        dataset = "out/winopron"
        config = "double"

        [systems.first-mention]

        [systems.mine]
        system = "lingmess"
        checkpoint = "checkpoints/mine"

    Raises:
        InputError: it is no TOML file, or a key is unknown or has another type.
    """
    content = read_toml(path, "experiment")
    systems, settings = content.pop("systems", []), content.pop("settings", {})
    for key, value in content.items():
        if key not in (*WORDS, *NUMBERS):
            cure = nearest_name(key, (*WORDS, *NUMBERS, "systems", "settings"))
            raise InputError(f"an experiment has no '{key}'", cure=cure, file=path)
        kind = str if key in WORDS else int | float
        if not isinstance(value, kind) or isinstance(value, bool):
            cure = "write a string" if key in WORDS else "write a number"
            raise InputError(f"{key} is {value!r:.40}", cure=cure, file=path)
    if not isinstance(settings, dict):
        raise InputError("settings is no table", cure="write [settings]", file=path)
    if isinstance(systems, dict):
        asked = systems_of_tables(systems, path)
    elif isinstance(systems, list) and all(isinstance(one, str) for one in systems):
        asked = parse_systems(systems)
    else:
        cure = 'write systems = ["lingmess", ...], or a table [systems.LABEL] for each'
        raise InputError("systems are neither names nor tables", cure=cure, file=path)
    return Experiment(content, asked, settings)

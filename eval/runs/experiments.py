"""One experiment as a TOML file: what ``pronominal evaluate FILE`` runs and a paper archives."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronominal.errors import InputError
from pronominal.eval.runs.asked_systems import parse_systems, systems_of_tables
from pronominal.eval.runs.runner import SWITCH_AT_TEST, SystemSettings
from pronominal.names import nearest_name
from pronominal.text_files import read_toml

WORDS = ("dataset", "config", "split", "out", "reading", "task", "plan", "save")
NUMBERS = ("limit", "until", "margin")
FLAGS = ("strict",)
"""The keys of the file that are options of the command."""

OF_SYSTEMS = {"device": str, "dtype": str, "batch_size": int, SWITCH_AT_TEST: bool}
"""The keys that are settings of every system that has them, with their types."""

KINDS: dict[str, Any] = {
    **dict.fromkeys(WORDS, str),
    **dict.fromkeys(NUMBERS, int | float),
    **dict.fromkeys(FLAGS, bool),
    **OF_SYSTEMS,
}
WRITTEN = {str: "a string", bool: "true or false"}


def as_share(points: float, file: Path | None = None) -> float:
    """Return a margin in percentage points as a share; `InputError` for what is none."""
    if not 0 < points < 100:
        cure = "give points between 0 and 100"
        raise InputError(f"{points:g} is no margin", cure=cure, file=file)
    return points / 100


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

    Its keys are the options of ``pronominal evaluate`` that do not say how scores are printed.
    A dataset or plan that is not in the current directory is looked for beside the file.
    ``systems`` is a list, as the command line has them, or a table for each, as in `read_systems`;
    ``settings`` is a table for all of them::

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
    _refuse_unknown(content, path)
    if not isinstance(settings, dict):
        raise InputError("settings is no table", cure="write [settings]", file=path)
    if "margin" in content:
        content["margin"] = as_share(content["margin"], path)
    settings |= {key: content.pop(key) for key in OF_SYSTEMS if key in content}
    for key in ("dataset", "plan"):
        beside = path.parent / content.get(key, "")
        if key in content and not Path(content[key]).exists() and beside.exists():
            content[key] = str(beside)
    if isinstance(systems, dict):
        asked = systems_of_tables(systems, path)
    elif isinstance(systems, list) and all(isinstance(one, str) for one in systems):
        asked = parse_systems(systems)
    else:
        cure = 'write systems = ["lingmess", ...], or a table [systems.LABEL] for each'
        raise InputError("systems are neither names nor tables", cure=cure, file=path)
    return Experiment(content, asked, settings)


def _refuse_unknown(content: Mapping[str, Any], path: Path) -> None:
    """Raise `InputError` for a key that is no option, or has another type."""
    for key, value in content.items():
        if key not in KINDS:
            cure = nearest_name(key, (*KINDS, "systems", "settings"))
            if isinstance(value, dict):
                cure = f"a system's table is [systems.{key}]"
            raise InputError(f"an experiment has no '{key}'", cure=cure, file=path)
        kind = KINDS[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            cure = f"write {WRITTEN.get(kind, 'a number')}"
            raise InputError(f"{key} is {value!r:.40}", cure=cure, file=path)

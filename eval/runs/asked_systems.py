"""The systems of a comparison as the user asks for them: arguments, settings, objects, a file."""

import inspect
import json
import tomllib
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pronominal.adapters import SYSTEMS, System, kind_of, refuse_weights, setting_names
from pronominal.adapters.catalogue.own_object import (
    NOT_THE_FILE,
    class_digest,
    declared_settings,
    default_label,
    is_place,
    place_in_file,
    places_in,
)
from pronominal.errors import InputError
from pronominal.eval.runs.runner import SWITCH_AT_TEST, SystemSettings
from pronominal.names import closest, nearest_name, require_name
from pronominal.text_files import read_toml

HOW = ("device", "batch_size", "dtype")
"""Settings that say how systems compute, and not what."""

Asked = str | Mapping[str, Any] | SystemSettings | System
"""A system: as the command line has it, settings with ``system``, or an object."""


def parse_systems(arguments: Sequence[str]) -> list[SystemSettings]:
    """Read systems as the command line has them; one of two that nobody labelled gets a number.

    ``NAME`` and ``NAME=CHECKPOINT`` are systems of ours, ``MODULE:ATTRIBUTE`` is the user's own;
    before each may stand ``LABEL=``, where LABEL is no system's name.

    Raises:
        InputError: one names nothing after its ``=``, or is given twice.
    """
    systems, labels = [], Counter[str]()
    for argument, times in Counter(arguments).items():
        if times > 1:
            cure = f"give it once, or another label: LABEL={argument}"
            raise InputError(f"the system {argument} is given {times} times", cure=cure)
        asked = _parsed(argument)
        labels[asked.label] += 1
        labelled = argument.partition("=")[0] != asked.name
        number = 1 if labelled else labels[asked.label]
        systems.append(replace(asked, label=f"{asked.label}-{number}") if number > 1 else asked)
    return systems


def _parsed(argument: str) -> SystemSettings:
    first, equals, rest = argument.partition("=")
    if equals and not rest:
        raise InputError(f"'{argument}' names no checkpoint", cure=f"write {first}=FOLDER")
    name, _, checkpoint = rest.partition("=")
    mistyped = bool(rest) and not closest(first, SYSTEMS) and closest(name, SYSTEMS)
    if not _is_system(first) and (_is_system(name) or mistyped):
        return SystemSettings(first, name, checkpoint or None)
    return SystemSettings(default_label(first), first, rest or None)


def _is_system(name: str) -> bool:
    return name in SYSTEMS or is_place(name)


def parse_settings(arguments: Sequence[str]) -> dict[str, Any]:
    """Read ``KEY=VALUE`` arguments; values are those of TOML, and words need no quotes."""
    settings: dict[str, Any] = {}
    for argument in arguments:
        key, equals, value = argument.partition("=")
        if not equals or not key.isidentifier():
            raise InputError(f"'{argument}' is no setting", cure="write KEY=VALUE")
        if key in settings:
            raise InputError(f"the setting {key} is given twice", cure="give it once")
        try:
            settings[key] = tomllib.loads(f"value = {value}")["value"]
        except (ValueError, RecursionError):
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
    return systems_of_tables(read_toml(path, "systems"), path)


def systems_of_tables(tables: Mapping[str, Any], path: Path) -> list[SystemSettings]:
    """Read systems from the tables of a TOML file, as `read_systems` does."""
    systems = []
    for label, table in tables.items():
        where = {"file": str(path), "row": f"[{label}]"}
        if not isinstance(table, dict):
            raise InputError("a system is a table", cure="write its settings below", **where)
        try:
            json.dumps(table, allow_nan=False)
        except (TypeError, ValueError) as error:
            cause = "a setting is a date, or a number that is not finite"
            raise InputError(cause, cure="write it in quotes, or another one", **where) from error
        systems.append(system_of_settings({"label": label, "system": label, **table}, **where))
    return systems


def with_settings(
    systems: Sequence[SystemSettings], given: Mapping[str, Any]
) -> list[SystemSettings]:
    """Return systems with settings for all of them, which each takes that has such a setting.

    Of `HOW` to compute, what no system takes is warned of: baselines compute nothing.

    Raises:
        InputError: none of the systems has another setting of this name, or one does not exist.
    """
    given = dict(given)
    _refuse_no_size(given)
    if given.pop(SWITCH_AT_TEST, False):
        systems = [replace(one, switch_at_test=True) for one in systems]
    if not given:
        return [*systems]
    refuse_unknown(systems)
    names = {one.label: setting_names(one.name, one.checkpoint) for one in systems}
    for setting in given:
        if not any(setting in known for known in names.values()):
            if setting in HOW:
                warnings.warn(f"{setting} changes nothing: no system here takes it", stacklevel=2)
                continue
            known = {name for of_one in names.values() for name in of_one}
            cure = nearest_name(setting, known) if known else "leave it out"
            raise InputError(f"no system here has the setting '{setting}'", cure=cure)
    return [
        replace(one, settings={**one.settings, **{key: value for key, value in given.items()
                                                  if key in names[one.label]}})
        for one in systems
    ]  # fmt: skip


def _refuse_no_size(settings: Mapping[str, Any]) -> None:
    size = settings.get("batch_size")
    if isinstance(size, int) and size < 1:
        raise InputError(f"the batch size is {size}", cure="give a whole number, at least 1")


def system_of_settings(given: Mapping[str, Any], **where: str) -> SystemSettings:
    """Read one system: its name, label, checkpoint, whether to switch at test, its own settings.

    `where` is the file and the row that errors name.
    """
    settings = dict(given)
    name, checkpoint = settings.pop("system", None), settings.pop("checkpoint", None)
    label = settings.pop("label", default_label(name) if isinstance(name, str) else name)
    if name is None:
        cure = 'name one, such as {"system": "random"}'
        raise InputError("settings are given, and no system", cure=cure, **where)
    switched = settings.pop(SWITCH_AT_TEST, False)
    if not isinstance(switched, bool):
        raise InputError(f"{SWITCH_AT_TEST} is true or false", cure="write one of them", **where)
    if not (
        isinstance(name, str) and isinstance(label, str) and isinstance(checkpoint, str | None)
    ):
        cause = "system, label and checkpoint are strings"
        raise InputError(cause, cure="quote them", **where)
    require_name("label", label, file=where.get("file"), row=where.get("row"))
    return SystemSettings(label, name, checkpoint, settings, switched)


def refuse_unknown(systems: Sequence[SystemSettings]) -> None:
    """Raise `InputError` for a name or label that cannot be, before the first system runs."""
    labels: set[str] = set()
    for system in systems:
        if not _is_system(system.name):
            cause = f"there is no system '{system.name}'"
            raise InputError(cause, cure=_meant_instead_of(system))
        require_name("label", system.label)
        _refuse_no_size(system.settings)
        if system.checkpoint is not None and system.name in SYSTEMS:
            refuse_weights(system.name)
        if system.label in labels:
            cause = f"two systems are called {system.label}"
            raise InputError(cause, cure="give one another label")
        labels.add(system.label)


def _meant_instead_of(unknown: SystemSettings) -> str:
    """Say what to write in place of a name that no system has."""
    name, first = unknown.name, unknown.name.partition(":")[0]
    if meant := place_in_file(name):
        return NOT_THE_FILE.format(meant)
    if places := places_in(name):
        return f"name its class, as {' or '.join(places)}"
    if "," in name:
        return f"name each by itself: {' '.join(f'-s {one}' for one in name.split(','))}"
    if "://" in name:
        return f"an address stands after the name of a system, as lm-server={name}"
    if first in SYSTEMS:
        return f"write {first}={name.removeprefix(f'{first}:')}"
    if near := closest(name, SYSTEMS):
        return f"did you mean '{near}'?"
    weights = unknown.checkpoint or name
    return (
        f"'pronominal systems' lists them, your own is MODULE:ATTRIBUTE, and weights stand after "
        f"the name of a system, as lm={weights}, lm-prompts={weights} or lingmess={weights}"
    )


def asked_systems(
    systems: Sequence[Asked] | Asked,
) -> tuple[list[SystemSettings], dict[str, System]]:
    """Return the systems as they were asked for, and those that are objects by their labels.

    Raises:
        InputError: there is none, one is no system, or two have one label.
    """
    asked: list[SystemSettings] = []
    objects: dict[str, System] = {}
    several = isinstance(systems, Sequence) and not isinstance(systems, str)
    given = cast(Sequence[Asked], systems if several else [systems])
    named = iter(parse_systems([system for system in given if isinstance(system, str)]))
    for system in given:
        if isinstance(system, str):
            asked.append(next(named))
        elif isinstance(system, Mapping):
            asked.append(system_of_settings(system))
        elif isinstance(system, SystemSettings):
            asked.append(system)
        else:
            asked.append(_settings_of(system))
            objects[system.name] = system
    if not asked:
        raise InputError("no system is given", cure="name one, such as first-mention")
    refuse_unknown(asked)
    return asked, objects


def _settings_of(system: System) -> SystemSettings:
    """Return how an object is asked for; `InputError` for a class, or what is no system."""
    kind = type(system)
    if inspect.isclass(system):
        raise InputError(f"{system.__name__} is a class", cure=f"give {system.__name__}(...)")
    kind_of(system)
    if not isinstance(system.name, str):
        raise InputError(f"the name of a {kind.__name__} is no string", cure="give it a name")
    place = kind.__qualname__.replace("<locals>.", "")
    source = class_digest(kind)
    settings = declared_settings(system) or {}
    return SystemSettings(system.name, f"{kind.__module__}:{place}", None, settings, source=source)

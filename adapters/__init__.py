"""The systems under one interface, a file or folder for each; heavy imports happen in `load`.

Their table is in `pronominal.adapters.catalogue.systems`.
"""

import inspect
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from pronominal.adapters.catalogue.own_object import instantiate, is_place, load_object, object_at
from pronominal.adapters.catalogue.systems import (
    ANY_MODEL,
    ANY_WRITER,
    GIVEN,
    SYSTEMS,
    SystemEntry,
    at,
)
from pronominal.adapters.checkpoints.files import refuse_absent
from pronominal.adapters.contract.systems import (
    ChoosingSystem,
    ClusteringSystem,
    GeneratingSystem,
    Kind,
    MultipleChoiceSystem,
    ScoringSystem,
    System,
    kind_of,
)
from pronominal.errors import InputError, extra_needed
from pronominal.names import is_hub_id, unknown_name


def load(name: str, checkpoint: str | None = None, **settings: Any) -> System:
    """Load a system by name.

    Args:
        name: a key of `SYSTEMS`, or the place of a system of your own, as ``module:attribute``.
        checkpoint: a folder or a Hub id, or the address of a server; the published weights when
            None.
        settings: keywords of the system's own, such as ``seed`` or ``device``.

    Raises:
        InputError: the name, the checkpoint or a setting is wrong, or an extra is missing.
    """
    if is_place(name):
        return load_object(name, checkpoint, settings)
    if name not in SYSTEMS:
        raise unknown_name("system", name, SYSTEMS)
    entry = SYSTEMS[name]
    if checkpoint is not None:
        refuse_weights(name)
        settings[entry.given] = checkpoint
    elif entry.given not in settings:
        if is_hub_id(entry.weights or ""):
            settings[entry.given] = entry.weights
        _refuse_no_checkpoint(name, entry.weights or "")
    if entry.extra and entry.weights not in {*GIVEN} - {ANY_MODEL, ANY_WRITER}:
        given = settings.get(entry.given)
        if isinstance(given, str | Path):  # text-generation also takes a pipeline itself
            refuse_absent(str(given))
    maker = system_class(name)
    with _extra_of(name):
        system: System = instantiate(name, maker, settings, entry.given)
    return system


def refuse_weights(name: str) -> None:
    """Raise `InputError` for a system of `SYSTEMS` that takes neither weights nor an address."""
    if SYSTEMS[name].weights is None and SYSTEMS[name].server is None:
        known = sorted(setting_names(name))
        apart = f", and its {' and '.join(known)} as --set {known[0]}=VALUE" if known else ""
        raise InputError(f"{name} has no weights", cure=f"write {name} alone{apart}")


def system_class(name: str) -> Any:
    """Import what makes a system of `SYSTEMS`; `InputError` where its extra is missing."""
    with _extra_of(name):
        return at(SYSTEMS[name].place)


def _extra_of(name: str) -> AbstractContextManager[None]:
    extra = SYSTEMS[name].extra
    return extra_needed(extra, name) if extra else nullcontext()


def setting_names(name: str, checkpoint: str | None = None) -> set[str]:
    """Return the settings that a system has, by the signature of what makes it.

    One that hands settings on, such as to a model that it asks, says in ``asks`` which system of
    ours that is for a checkpoint.
    """
    maker = object_at(name) if is_place(name) else at(SYSTEMS[name].place)
    if not (inspect.isclass(maker) or inspect.isroutine(maker)):
        return set()
    given = inspect.signature(maker).parameters.values()
    names = {one.name for one in given if one.kind is not one.VAR_KEYWORD}
    asked = getattr(maker, "asks", None) if name in SYSTEMS else None
    return names if asked is None else names | setting_names(asked(checkpoint))


def _refuse_no_checkpoint(name: str, weights: str) -> None:
    """Raise `InputError` for a system whose weights are nowhere to be fetched from."""
    if weights.startswith("https://"):
        from pronominal.adapters.catalogue.published import checkpoints_of

        fetched = " or ".join(f"'pronominal fetch {one}'" for one in checkpoints_of(name))
        raise InputError(
            f"{name} needs a checkpoint, for its weights are not on the Hub",
            cure=f"download them with {fetched or 'your browser'} (see {weights}) and give the "
            f"folder, as {name}=FOLDER",
        )
    if weights.startswith("pronominal "):
        raise InputError(
            f"{name} needs a checkpoint, for you train it yourself",
            cure=f"make one with '{weights}' and give its folder, as {name}=FOLDER",
        )
    if weights in GIVEN:
        what = "a checkpoint" if weights == ANY_MODEL else weights
        raise InputError(f"{name} needs {what}", cure=GIVEN[weights].format(name=name))


__all__ = [
    "SYSTEMS",
    "ChoosingSystem",
    "ClusteringSystem",
    "GeneratingSystem",
    "Kind",
    "MultipleChoiceSystem",
    "ScoringSystem",
    "System",
    "SystemEntry",
    "kind_of",
    "load",
    "refuse_weights",
    "setting_names",
]

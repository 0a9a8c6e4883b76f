"""The systems under one interface, one file for each; heavy imports happen in `load`."""

import inspect
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pronominal.adapters.interface import ChoosingSystem, ClusteringSystem, Kind, System, kind_of
from pronominal.errors import InputError, nearest_name, unknown_name


@dataclass(frozen=True, slots=True)
class SystemEntry:
    """One line of ``pronominal systems``.

    Attributes:
        kind: how the system answers.
        place: where its class is, as ``module:attribute`` below ``pronominal.adapters``.
        summary: what it does, in one sentence.
        extra: the extra that installs what it needs; None when the core is enough.
        weights: the Hub id of the published weights; the page that links to them (https://...)
            where they are not on the Hub, so that a checkpoint has to be given; None when the
            system has none.
    """

    kind: Kind
    place: str
    summary: str
    extra: str | None = None
    weights: str | None = None


SYSTEMS: dict[str, SystemEntry] = {
    "caw": SystemEntry(
        "clustering",
        "caw:CAW",
        "CAW-coref (D'Oosterlinck et al., 2023) and WL-coref (Dobrovolskii, 2021), word-level",
        extra="caw",
        weights="https://github.com/KarelDO/wl-coref",
    ),
    "fcoref": SystemEntry(
        "clustering",
        "fcoref:FCoref",
        "FCoref, the small coreference model distilled from LingMess (Otmazgin et al., 2022)",
        extra="lingmess",
        weights="biu-nlp/f-coref",
    ),
    "first-mention": SystemEntry(
        "choosing", "baselines:FirstMention", "takes the candidate that is mentioned first"
    ),
    "lingmess": SystemEntry(
        "clustering",
        "lingmess:LingMess",
        "LingMess, linguistically informed multi-expert scorers (Otmazgin et al., 2023)",
        extra="lingmess",
        weights="biu-nlp/lingmess-coref",
    ),
    "nearest-mention": SystemEntry(
        "choosing", "baselines:NearestMention", "takes the last candidate before the pronoun"
    ),
    "parallelism": SystemEntry(
        "choosing",
        "baselines:Parallelism",
        "takes the first-mentioned candidate for a subject form such as she or xe, "
        "and the last one before the pronoun for any other form",
    ),
    "random": SystemEntry(
        "choosing", "baselines:Random", "takes a candidate at random, the same one for a seed"
    ),
}


def load(name: str, checkpoint: str | None = None, **settings: Any) -> System:
    """Load a system by name.

    Args:
        name: a key of `SYSTEMS`.
        checkpoint: a folder or a Hub id; the published weights when None.
        settings: keywords of the system's own, such as ``seed`` or ``device``.

    Raises:
        InputError: the name, the checkpoint or a setting is wrong, or an extra is missing.
    """
    if name not in SYSTEMS:
        raise unknown_name("system", name, SYSTEMS)
    entry = SYSTEMS[name]
    module, _, attribute = entry.place.partition(":")
    if checkpoint is not None:
        if entry.weights is None:
            raise InputError(f"{name} has no weights", cure=f"write {name} without a checkpoint")
        settings["checkpoint"] = checkpoint
    elif entry.weights is not None and entry.weights.startswith("https://"):
        raise InputError(
            f"{name} needs a checkpoint, for its weights are not on the Hub",
            cure=f"download them (see {entry.weights}) and give the folder, as {name}=FOLDER",
        )
    try:
        system_class = getattr(import_module(f"pronominal.adapters.{module}"), attribute)
    except ModuleNotFoundError as error:
        if entry.extra is None:
            raise
        raise InputError(
            f"{name} needs the package {error.name}",
            cure=f'pip install "pronominal[{entry.extra}]"',
        ) from error
    known = inspect.signature(system_class).parameters
    for setting in settings.keys() - known:
        raise InputError(f"{name} has no setting '{setting}'", cure=nearest_name(setting, known))
    try:
        system: System = system_class(**settings)
    except TypeError as error:
        given = ", ".join(f"{key} = {value!r}" for key, value in settings.items())
        raise InputError(
            f"{name} cannot be made with {given} ({error})", cure="give values of the right type"
        ) from error
    return system


__all__ = [
    "SYSTEMS",
    "ChoosingSystem",
    "ClusteringSystem",
    "Kind",
    "System",
    "SystemEntry",
    "kind_of",
    "load",
]

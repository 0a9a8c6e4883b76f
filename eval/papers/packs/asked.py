"""How the systems of a paper's rows are asked for: with which settings, weights and files."""

from collections.abc import Mapping
from dataclasses import replace

from pronominal.adapters.catalogue.published import folder_of, published
from pronominal.errors import InputError
from pronominal.eval.papers.packs import PackRow, pack
from pronominal.eval.runs.runner import SystemSettings

FETCH = "fetch:"
"""How a setting begins that is the folder of fetched files."""


def settings_of(paper: str, key: str, weights: Mapping[str, str]) -> SystemSettings:
    """Return how a row's system is asked for, fetched files by their folders."""
    made = with_own_weights(pack(paper)[key], weights.get(key))
    assert made.system is not None  # a row without one is never run
    settings = {
        name: str(folder_of(value.removeprefix(FETCH)))
        if isinstance(value, str) and value.startswith(FETCH)
        else value
        for name, value in made.all_settings.items()
    }
    settings |= {"trust_remote_code": True} if made.remote_code else {}
    checkpoint = str(folder_of(made.weights)) if made.weights else made.place
    return SystemSettings(key, made.system, checkpoint, settings)


def fetched_for(made: PackRow) -> list[str]:
    """Return what has to be fetched for a row, by the names of ``pronominal fetch``."""
    settings = [str(value) for value in made.all_settings.values()]
    named = [value.removeprefix(FETCH) for value in settings if value.startswith(FETCH)]
    return [*([made.weights] if made.weights else []), *named]


def fetched_or_run(made: PackRow) -> list[str]:
    """Return what ``pronominal fetch`` has for a row, what the user runs elsewhere included."""
    return [*fetched_for(made), *([made.run_elsewhere] if made.run_elsewhere else [])]


def weights_of(key: str, made: PackRow) -> list[dict[str, str]]:
    """Return where a row's weights are had, one entry a file or Hub id, and where that stands."""
    on_hub = [] if made.place is None else [{"row": key, "id": made.place, "source": made.source}]
    return on_hub + [
        {"row": key, "fetch": name, "url": file.url, "source": published()[name].source}
        for name in fetched_or_run(made)
        for file, _ in published()[name].files
    ]


def with_own_weights(made: PackRow, checkpoint: str | None) -> PackRow:
    """Return a row with a checkpoint of the user's own in the place of the published one.

    What belongs to the published weights goes with them: their settings, dtype and Python code.
    """
    if checkpoint is None:
        return made
    if made.system is None:
        raise InputError("the row has no system of ours", cure="import its predictions instead")
    own = replace(made, checkpoint=checkpoint, weights=None, revision=None, dtype=None)
    own = replace(own, checkpoint_settings={}, remote_code=False, run_elsewhere=None)
    own = replace(own, status="ready", reason="", train=None)
    if checkpoint == made.checkpoint:  # the published weights, without what goes with them
        return own
    return replace(own, stored_bytes=4, gated=False, parameters=0)

"""The model that is asked: one of transformers, one on a server, or an object of the user's own."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from pronominal.adapters.contract.systems import GeneratingSystem
from pronominal.errors import InputError

SERVERS = ("http://", "https://")


def asks(model: str | None) -> str:
    """Return the system of ours that a folder, a Hub id or a URL is asked as."""
    return "lm-server" if model is not None and model.startswith(SERVERS) else "lm-prompts"


def asked_model(model: Any, settings: Mapping[str, Any]) -> GeneratingSystem:
    """Return the model that is meant.

    Args:
        model: a folder or a Hub id, a server's URL, or an object with a method ``generate``.
        settings: those of the system ``lm-prompts`` or, for a URL, ``lm-server``.

    Raises:
        InputError: it cannot be loaded, or has no such settings.
    """
    if isinstance(model, str) and model.startswith(SERVERS):
        from pronominal.adapters.lm.prompting.server import ServedModel

        return ServedModel(model, **settings)
    if isinstance(model, str):
        from pronominal.adapters.lm.prompting.generation import PromptedModel

        return PromptedModel(model, **settings)
    if not isinstance(model, GeneratingSystem):
        cause = f"a {type(model).__name__} does not write"
        raise InputError(cause, cure="give a folder, a Hub id, a URL, or an object with generate")
    if settings:
        cause = f"the model is made already, and has no setting '{min(settings)}'"
        raise InputError(cause, cure="leave it out")
    return model


def generated(model: GeneratingSystem, prompts: Sequence[str], limit: int) -> Sequence[str]:
    """Return what a model writes after each prompt, at most `limit` tokens where it takes one."""
    if "max_new_tokens" in inspect.signature(model.generate).parameters:
        return model.generate(prompts, max_new_tokens=limit)  # type: ignore[call-arg]
    return model.generate(prompts)

"""Makes a system from its class and the settings that a user gave."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pronominal.errors import InputError, nearest_name

_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def instantiate(name: str, maker: Callable[..., Any], settings: Mapping[str, Any]) -> Any:
    """Call a class or function with settings.

    Args:
        name: what the user calls the system.
        maker: the class or function.
        settings: keywords.

    Raises:
        InputError: it has no such setting, needs another, or cannot be made with these values.
    """
    known = inspect.signature(maker).parameters
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
    for setting in () if takes_any else settings.keys() - known:
        cure = nearest_name(setting, known) if known else "leave it out"
        raise InputError(f"{name} has no setting '{setting}'", cure=cure)
    for setting, one in known.items():
        optional = one.default is not one.empty or one.kind in _ANY_NUMBER
        if setting not in settings and not optional:
            raise InputError(
                f"{name} needs the setting '{setting}'",
                cure=f"add --set {setting}=VALUE, or a line in its table of a systems file",
            )
    try:
        return maker(**settings)
    except TypeError as error:
        given = ", ".join(f"{key} = {value!r}" for key, value in settings.items())
        raise InputError(
            f"{name} cannot be made with {given or 'no settings'} ({error})",
            cure="give values of the right type",
        ) from error

"""Names that become part of paths: of labels, datasets, configs and splits; ids of the Hub."""

import re
from pathlib import Path

from pronominal.errors import InputError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
HUB_ID = re.compile(rf"{NAME.pattern}/{NAME.pattern}")


def require_name(
    kind: str, name: object, *, file: str | Path | None = None, row: str | None = None
) -> None:
    """Raise `InputError` unless a name can be that of a folder, and never leads out of one.

    `kind` is what has the name, such as ``"label"``; `file` and `row` are where it was read.
    """
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        cause = f"the {kind} {name!r} cannot be the name of a folder"
        cure = "use letters from a to z, digits and . _ -, and begin with a letter or a digit"
        raise InputError(cause, cure=cure, file=file, row=row)


def is_hub_id(name: str) -> bool:
    """Say whether a name may be that of a repository on the Hub, ``ORG/NAME``."""
    return HUB_ID.fullmatch(name) is not None

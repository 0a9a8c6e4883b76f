"""Names: those that become parts of paths, ids of the Hub, and the nearest to a mistyped one."""

import difflib
import re
import sys
from collections.abc import Iterable
from pathlib import Path

from pronominal.errors import InputError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
LONGEST = 100
"""Letters of a name: the name of a run's folder is made of four, and file systems allow 255."""
RESERVED = re.compile(
    r"(?:CON|PRN|AUX|NUL|COM[0-9]|LPT[0-9])(?:\..*)?|.*\.", re.IGNORECASE | re.DOTALL
)
"""What Windows takes for a device whatever follows the dot, and names whose last dot it drops.

Microsoft's "Naming Files, Paths, and Namespaces" lists them.
"""
HUB_ID = re.compile(rf"{NAME.pattern}/{NAME.pattern}")


def require_name(
    kind: str,
    name: object,
    *,
    file: str | Path | None = None,
    row: str | None = None,
    windows: bool = sys.platform == "win32",
) -> None:
    """Raise `InputError` unless a name can be that of a folder, and never leads out of one.

    `kind` is what has the name, such as ``"label"``; `file` and `row` are where it was read.
    Names that Windows keeps for itself are refused on `windows` alone.
    """
    if not (isinstance(name, str) and NAME.fullmatch(name)):
        cause = f"the {kind} {name!r} cannot be the name of a folder"
        cure = "use letters from a to z, digits and . _ -, and begin with a letter or a digit"
        raise InputError(cause, cure=cure, file=file, row=row)
    if len(name) > LONGEST:
        cause = f"the {kind} {name[:20]}... has {len(name)} characters"
        raise InputError(cause, cure=f"give one of at most {LONGEST}", file=file, row=row)
    if windows and RESERVED.fullmatch(name):
        cause = f"Windows has no folder of the name {name}, which is the {kind}"
        raise InputError(cause, cure="give another name", file=file, row=row)


def is_hub_id(name: str) -> bool:
    """Say whether a name may be that of a repository on the Hub, ``ORG/NAME``."""
    return HUB_ID.fullmatch(name) is not None


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a mistyped one is most like; None where it is like none."""
    close = difflib.get_close_matches(name, sorted(known), n=1)
    return close[0] if close else None


def nearest_name(name: str, known: Iterable[str]) -> str:
    """Return the cure for a mistyped name: the closest known name, or all of them.

    >>> nearest_name("linmess", ["lingmess", "random"])
    "did you mean 'lingmess'?"
    """
    names = sorted(known)
    close = closest(name, names)
    return f"did you mean '{close}'?" if close else f"choose one of {', '.join(names)}"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> InputError:
    """Return the error for a name that does not exist, with the nearest one that does."""
    return InputError(f"there is no {kind} '{name}'", cure=nearest_name(name, known))

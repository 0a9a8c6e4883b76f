"""Which files the checkpoint of a system of the user's own has: its answers hang on them."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pronominal.adapters.checkpoints.files import files_digest
from pronominal.errors import os_errors
from pronominal.eval.runs.record import is_run


def checkpoint_place(checkpoint: object) -> Path | None:
    """Return the file or folder that a checkpoint is; None where it is neither, as a Hub id."""
    if isinstance(checkpoint, str | os.PathLike) and str(checkpoint):
        with suppress(OSError, ValueError):  # a name that is too long, or has a zero byte
            place = Path(checkpoint).resolve()
            return place if place.exists() else None
    return None


def checkpoint_digest(place: Path) -> str:
    """Return `files_digest` of a file, or of all files in a folder that may be a checkpoint's.

    Links are followed. Hidden names, ``__pycache__`` and folders of runs inside it do not count.
    """
    with os_errors(place, "give a place that can be read"):
        return files_digest(place.parent if place.is_file() else place, _files(place))


def written_since(places: Iterable[Path], begun: float) -> list[str]:
    """Return the files of checkpoints, by name, that were written at a time or later."""
    return [
        file.name if file == place else file.relative_to(place).as_posix()
        for place in places
        for file in _files(place)
        if file.stat().st_mtime >= begun
    ]


def _files(place: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """Yield a file itself, or the files in a folder; links back to a folder above end there."""
    if place.is_file():
        yield place
    if not place.is_dir() or (here := place.resolve()) in above:
        return
    for inside in sorted(place.iterdir()):
        hidden = inside.name.startswith(".") or inside.name == "__pycache__"
        if not hidden and not is_run(inside):
            yield from _files(inside, (*above, here))

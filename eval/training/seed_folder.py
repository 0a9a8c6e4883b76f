"""One seed's training on disk: what was asked, and whether it is done."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pronominal.atomic import held_folder, new_folder
from pronominal.errors import InputError
from pronominal.json_files import read_object, write_json

DESCRIPTION = "training.json"

SCHEMA_VERSION = 1
"""Raised whenever a field of ``training.json`` changes its meaning."""


class SeedFolder:
    """The folder of one seed.

    Trainings must have the `identity` in common to share it: data, encoder and settings. The
    `defaults` are values of settings that an earlier version of pronominal did not write down.
    """

    def __init__(
        self, path: Path, identity: Mapping[str, Any], defaults: Mapping[str, Any]
    ) -> None:
        self.path = path
        self.identity = {"schema_version": SCHEMA_VERSION, **identity}
        self.defaults = defaults
        self.description: dict[str, Any] = {**self.identity, "complete": False}

    @property
    def complete(self) -> bool:
        """Whether the seed is trained, saved and tested."""
        return bool(self.description["complete"])

    def was_complete(self) -> bool:
        """Say whether an earlier command has completed the seed; for any process but the first."""
        return (self.path / DESCRIPTION).exists() and bool(read_training(self.path)["complete"])

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Create the folder or go on with it, and keep other processes from writing into it.

        Raises:
            InputError: it holds another training, or one that is running.
        """
        with held_folder(self.path):
            if (self.path / DESCRIPTION).exists():
                earlier = _same_training(self.path, self.identity, self.defaults)
                self.description = {**earlier, **self.identity}
                if self.description != earlier:
                    self.describe()
            else:
                self.describe()
            yield

    def describe(self, **facts: Any) -> None:
        """Write ``training.json`` with further facts."""
        self.description.update(facts)
        write_json(self.path / DESCRIPTION, self.description)

    def save(self, save: Callable[[Path], None]) -> None:
        """Move what `save` writes into the folder, weights last: without them it is no system.

        `InputError` where there is no room.
        """
        whole = self.path / "checkpoint"
        try:
            with new_folder(whole) as beside:
                save(beside)
            for file in sorted(whole.iterdir(), key=lambda file: file.suffix == ".safetensors"):
                place = self.path / file.name
                if place.is_dir():  # of a save that was killed
                    shutil.rmtree(place)
                file.replace(place)
            whole.rmdir()
        except Exception as error:
            # safetensors and tokenizers are in Rust, whose file errors end in "(os error N)"
            if not isinstance(error, OSError) and "(os error " not in str(error):
                raise
            reason = getattr(error, "strerror", None) or str(error).partition("\n")[0]
            raise InputError(
                f"the system cannot be saved ({reason}), its training's state is whole",
                cure="make room and give the same command: it goes on from there",
                file=self.path,
            ) from error


def refuse_other_trainings(
    out: Path, identity: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    """Refuse a folder, which need not be there, in which a seed belongs to another training."""
    for description in sorted(out.glob(f"seed-*/{DESCRIPTION}")):
        _same_training(description.parent, identity, defaults)


def _same_training(
    folder: Path, identity: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what a folder says of its training; `InputError` if that is another one."""
    earlier = read_training(folder)
    for name, value in identity.items():
        known = earlier.get(name)
        if name == "settings":
            known = _filled_in(known, defaults)
        if known != value:
            raise InputError(
                "the folder holds another training, with another "
                + " and another ".join(_differing(name, known, value)),
                cure="choose another --out or remove the folder",
                file=folder,
            )
    return earlier


def read_training(folder: Path) -> dict[str, Any]:
    """Return what ``training.json`` says; `InputError` if it is none of ours."""
    path = folder / DESCRIPTION
    description = read_object(path, cure="remove the folder to train again")
    if "complete" not in description:
        raise InputError("it is no description of a training", cure="remove it", file=path)
    return description


def _filled_in(settings: Any, defaults: Mapping[str, Any]) -> Any:
    """Return settings with those that did not exist yet when they were written."""
    if not isinstance(settings, dict):
        return settings
    nested = {
        name: _filled_in(settings[name], default)
        for name, default in defaults.items()
        if isinstance(default, Mapping) and name in settings
    }
    return {**defaults, **settings, **nested}


def _differing(name: str, earlier: Any, now: Any) -> list[str]:
    """Name what two trainings differ in, down to the single setting."""
    if not (isinstance(earlier, Mapping) and isinstance(now, Mapping)):
        return [name]
    keys = sorted(key for key in earlier.keys() | now.keys() if earlier.get(key) != now.get(key))
    return [
        f"{name}.{inner}"
        for key in keys
        for inner in _differing(key, earlier.get(key), now.get(key))
    ]

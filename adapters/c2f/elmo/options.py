"""ELMo's option file, as allenai/bilm-tf publishes it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.errors import InputError


@dataclass(frozen=True, slots=True)
class ElmoOptions:
    """The architecture's sizes.

    Attributes:
        character_size: of a character's vector.
        filters: width in characters and number of the filters of each width.
        highways: how many follow the filters.
        activation: ``"relu"`` or ``"tanh"``, after the maximum over positions.
        max_characters: bytes in a word, its two marks included; longer words are cut.
        projection: size of the token encoder's output and of the states of one direction.
        cells: how many cells a layer has in one direction.
        layers: how many layers there are above the token encoder.
        cell_clip: largest magnitude of a cell; None for any.
        projection_clip: largest magnitude of a state's entry; None for any.
        skip_connections: whether layers above the first add what they read to what they say.
    """

    character_size: int
    filters: tuple[tuple[int, int], ...]
    highways: int
    activation: str
    max_characters: int
    projection: int
    cells: int
    layers: int
    cell_clip: float | None
    projection_clip: float | None
    skip_connections: bool


def read_options(file: Path) -> ElmoOptions:
    """Read an option file; `InputError` if it is missing, no JSON, or lacks a key."""
    try:
        with input_error_on(
            *(OSError, ValueError, TypeError),
            cause="no options of ELMo could be read",
            cure="give the option file that is published with the weights",
            file=file,
        ):
            table = json.loads(file.read_text(encoding="utf-8"))
            options = _options(table["char_cnn"], table["lstm"])
    except KeyError as error:
        raise InputError(f"the key {error} is missing", cure="add it", file=file) from error
    if options.activation not in {"relu", "tanh"}:
        raise InputError(
            f"the activation is {options.activation}", cure="write relu or tanh", file=file
        )
    return options


def _options(characters: dict[str, Any], lstm: dict[str, Any]) -> ElmoOptions:
    return ElmoOptions(
        character_size=int(characters["embedding"]["dim"]),
        filters=tuple((int(width), int(count)) for width, count in characters["filters"]),
        highways=int(characters.get("n_highway") or 0),
        activation=str(characters["activation"]),
        max_characters=int(characters["max_characters_per_token"]),
        projection=int(lstm["projection_dim"]),
        cells=int(lstm["dim"]),
        layers=int(lstm["n_layers"]),
        cell_clip=_limit(lstm.get("cell_clip")),
        projection_clip=_limit(lstm.get("proj_clip")),
        skip_connections=bool(lstm.get("use_skip_connections", False)),
    )


def _limit(value: Any) -> float | None:
    return None if value is None else float(value)

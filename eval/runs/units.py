"""A run's scores and what paired tests need: kept, for reports of any runs without the dataset."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pronominal.atomic import new_file
from pronominal.errors import THIRD_PARTY_ERRORS, InputError, os_errors
from pronominal.eval.statistics.paired_tests import PairedUnits

SCORE = "score.json"
"""Beside ``predictions.jsonl``: the run's scores, from which reports are made."""

UNITS = "units.npz"
"""Beside ``predictions.jsonl``: what each independent unit contributes to each measure.

Numbers only, nothing to leak.
"""


def remove_scores(folder: Path) -> None:
    """Remove what was kept of a run's predictions, before they change."""
    for name in (SCORE, UNITS):
        (folder / name).unlink(missing_ok=True)


def write_units(folder: Path, right: Mapping[str, PairedUnits]) -> None:
    """Write the paired units of a run's answers; any systems can then be tested later."""
    arrays: dict[str, Any] = {**right}
    with new_file(folder / UNITS) as beside, beside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_units(folder: Path) -> dict[str, PairedUnits] | None:
    """Return what `write_units` wrote, None if a run has nothing of it; `InputError` if damaged."""
    file = folder / UNITS
    if not file.exists():
        return None
    cure = "run 'pronominal evaluate' again"
    try:
        with os_errors(file, cure), np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except InputError:
        raise
    except THIRD_PARTY_ERRORS as error:  # numpy, zipfile and zlib raise what they like
        raise InputError("it is damaged", cure=cure, file=file) from error

"""A run's scores and what paired tests need: kept, for reports of any runs without the dataset."""

import json
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from pronominal.atomic import new_file
from pronominal.errors import InputError
from pronominal.eval.statistics.paired_tests import Known, PairedUnits

SCORE = "score.json"
"""Beside ``predictions.jsonl``: the run's scores, from which reports are made."""

UNITS = "units.npz"
"""Beside ``predictions.jsonl``: how much of each independent unit was right, for each measure.

Numbers only, nothing to leak.
"""

P_VALUES = "p_values.json"
"""Beside the runs: p-values that were computed before. It may be removed at any time."""


def remove_scores(folder: Path) -> None:
    """Remove what was kept of a run's predictions, before they change."""
    for name in (SCORE, UNITS):
        (folder / name).unlink(missing_ok=True)


def write_units(folder: Path, right: Mapping[str, PairedUnits]) -> None:
    """Write what a dataset's ``right`` gave for a run; any systems can then be tested later."""
    arrays: dict[str, Any] = {**right}
    with new_file(folder / UNITS) as beside, beside.open("wb") as file:
        np.savez_compressed(file, **arrays)


def read_units(folder: Path) -> dict[str, PairedUnits] | None:
    """Return what `write_units` wrote, None if a run has nothing of it; `InputError` if damaged."""
    file = folder / UNITS
    if not file.exists():
        return None
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        cure = "run 'pronominal evaluate' again"
        raise InputError("it is damaged", cure=cure, file=file) from error


def read_p_values(folders: Iterable[Path]) -> Known:
    """Return the p-values that are kept in folders of runs; what cannot be read is not known."""
    known: Known = {}
    for folder in folders:
        with suppress(
            OSError, ValueError, TypeError, AttributeError, ArithmeticError, RecursionError
        ):
            kept = json.loads((folder / P_VALUES).read_text(encoding="utf-8"))
            known |= {
                key: (float(p), None if t is None else float(t)) for key, (p, t) in kept.items()
            }
    return known


def write_p_values(folder: Path, known: Known) -> None:
    """Keep p-values in a folder of runs."""
    with new_file(folder / P_VALUES) as beside:
        beside.write_text(json.dumps(known) + "\n", encoding="utf-8")

"""Dataset scripts, one file for each dataset: upstream files in, published tables out."""

from importlib import import_module
from typing import cast

from pronominal.dataset_scripts.building.script import (
    BuildOptions,
    DatasetScript,
    SplitRows,
    Violation,
)
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.errors import unknown_name

DATASETS: dict[str, str] = {
    "gap": "GAP (Webster et al., 2018), Wikipedia passages with two names, and switched",
    "knowref": "KnowRef (Emami et al., 2019), sentences with two names, and switched",
    "ruff": "RUFF (Gautam et al., 2024), pronoun fidelity with zero to five distractors",
    "sample": "sentences of our own in WinoPron's form; needs no upstream files",
    "winogender": "Winogender schemas (Rudinger et al., 2018), with he, she, they and with xe",
    "winonb": "WinoNB (Baumler and Rudinger, 2022), a group or an individual behind they",
    "winopron": "WinoPron (Gautam et al., 2024), double- and single-entity sentences",
}
"""Name of each script in this folder, and one sentence for ``pronominal datasets``."""


def dataset_script(name: str) -> DatasetScript:
    """Return the script of a dataset; `InputError` with the nearest name if there is none."""
    if name not in DATASETS:
        raise unknown_name("dataset", name, DATASETS)
    return cast(DatasetScript, import_module(f"pronominal.dataset_scripts.{name}"))


__all__ = [
    "DATASETS",
    "BuildOptions",
    "DatasetScript",
    "Sources",
    "SplitRows",
    "Violation",
    "dataset_script",
]

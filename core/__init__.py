"""Measure how coreference systems and language models handle English pronouns.

The vocabulary, and what every command does, as functions. Names are loaded when they are used.
"""

from importlib import import_module
from typing import Any

from pronominal.decisions import BOTH, NONE, UNFINISHED, Abstention, Decision
from pronominal.errors import InputError
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.pronouns import CASES, PRONOUN_SETS, Case, PronounSet, load_pronoun_sets
from pronominal.spans import Cluster, Document, Mention, Span

LOADED_WHEN_USED = {
    "build": "pronominal.dataset_scripts.building.build",
    "load_split": "pronominal.dataset_scripts.reading.loading",
    "evaluate": "pronominal.eval.results",
    "evaluate_experiment": "pronominal.eval.results",
    "score": "pronominal.eval.results",
    "Results": "pronominal.eval.results",
    "report": "pronominal.eval.report",
    "Task": "pronominal.eval.task",
    "Measure": "pronominal.eval.tables.measure",
    "Companion": "pronominal.eval.task",
    "Option": "pronominal.settings",
    "switch_antecedents": "pronominal.augmentation",
}
"""Public name -> the module that has it."""

__all__ = [
    "BOTH",
    "CASES",
    "NONE",
    "PRONOUN_SETS",
    "UNFINISHED",
    "Abstention",
    "Case",
    "Cluster",
    "Decision",
    "Document",
    "FillingInstance",
    "InputError",
    "Mention",
    "PronounSet",
    "ResolutionInstance",
    "Span",
    "load_pronoun_sets",
    *LOADED_WHEN_USED,
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # the modules that read metadata take longer than all of the vocabulary
        from importlib.metadata import version

        return version("pronominal")
    if name not in LOADED_WHEN_USED:
        raise AttributeError(f"module 'pronominal' has no attribute '{name}'")
    return getattr(import_module(LOADED_WHEN_USED[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

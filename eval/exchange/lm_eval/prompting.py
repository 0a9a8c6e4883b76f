"""Prompts for lm-evaluation-harness: which candidate an answer names."""

import importlib.util
from pathlib import Path
from typing import Any


def _beside(name: str) -> Any:
    """Import a file of this folder, which the harness does not look for modules in."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, float]:
    """Return whether the right candidate alone is named, and whether none or both are."""
    options = [candidate["text"] for candidate in doc["candidates"]]
    named = _beside("answers").named_by_words(results[0], options)
    return {
        "acc": float(named == [doc["label"]]),
        "none": float(not named),
        "both": float(len(named) > 1),
    }

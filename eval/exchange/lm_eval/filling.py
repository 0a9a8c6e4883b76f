"""Slots for lm-evaluation-harness: the text before one, and each option with the text after it."""

from typing import Any


def context(doc: dict[str, Any]) -> str:
    """Return the text before the slot, which all options share."""
    return str(doc["text"][: doc["blank"]["start"]])


def choices(doc: dict[str, Any]) -> list[str]:
    """Return each option with the rest of the text."""
    rest = doc["text"][doc["blank"]["end"] :]
    return [option + rest for option in doc["options"]]

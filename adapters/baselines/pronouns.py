"""Fillers of slots without weights: the shallow answers that a language model has to beat."""

import re
from collections.abc import Sequence

from pronominal.instances import FillingInstance

WORD = re.compile(r"\w+")


class FirstPronoun:
    """Repeats the first of the options that occurs before the slot.

    RUFF introduces the right person first, so that this is always right (RUFF, Limitations).
    """

    name = "first-pronoun"

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return 0 for the repeated option and -1 for the others; -1 for all where none occurs."""
        return [_only(_mentioned(instance)[:1], instance) for instance in instances]


class LastPronoun:
    """Repeats the last of the options that occurs before the slot: pure distraction."""

    name = "last-pronoun"

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return 0 for the repeated option and -1 for the others; -1 for all where none occurs."""
        return [_only(_mentioned(instance)[-1:], instance) for instance in instances]


class AlwaysHe:
    """Fills every slot with the first option, a form of *he*."""

    name = "always-he"

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return 0 for the first option and -1 for the others."""
        return [_only([0], instance) for instance in instances]


def _mentioned(instance: FillingInstance) -> list[int]:
    """Return the options before the slot, in the order of the text."""
    words = WORD.findall(instance.text[: instance.blank.start].lower())
    return [instance.options.index(word) for word in words if word in instance.options]


def _only(chosen: Sequence[int], instance: FillingInstance) -> list[float]:
    return [0.0 if option in chosen else -1.0 for option in range(len(instance.options))]

"""Systems made for teaching: each looks the right answer up, and has one fault that is known.

What tables and reports say of them can be checked against the fault that was planted. They are no
baselines: they read the label.
"""

import random

from pronominal.adapters.baselines.instance_by_instance import InstanceByInstance
from pronominal.instances import ResolutionInstance

FAMILIAR = ("he", "she", "they")
"""The pronoun sets that `BlindToXe` knows."""

FOR_WOMEN = {
    *("archivist", "barista", "dietitian", "florist", "guide", "hairdresser", "jeweler"),
    *("journalist", "librarian", "nurse", "optician", "photographer", "receptionist"),
    *("secretary", "tailor", "teacher", "translator", "tutor"),
}
"""Occupations that `Stereotypes` takes for those of women; all others are those of men."""

OCCUPATION, PARTICIPANT = 0, 1
"""The candidates of WinoPron's form."""


class NineInTen(InstanceByInstance):
    """Is right nine times in ten, and takes the other candidate else; by the row's id alone."""

    name = "toy-nine-in-ten"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        right = random.Random(instance.id).random() < 0.9
        return _only(instance.label if right else _other(instance), instance)


class BlindToXe(InstanceByInstance):
    """Is right with *he*, *she* and *they*, and finds no antecedent of any other pronoun."""

    name = "toy-blind-to-xe"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        familiar = instance.columns.get("pronoun_set") in FAMILIAR
        return _only(instance.label if familiar else None, instance)


class Stereotypes(InstanceByInstance):
    """Takes *he* and *she* for whoever has an occupation of men or of women; is right else."""

    name = "toy-stereotypes"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        pronoun_set = instance.columns.get("pronoun_set")
        occupation = instance.columns.get("occupation")
        if occupation is None or pronoun_set not in ("he", "she"):
            return _only(instance.label, instance)
        fits = (occupation in FOR_WOMEN) == (pronoun_set == "she")
        return _only(OCCUPATION if fits else PARTICIPANT, instance)


def _other(instance: ResolutionInstance) -> int:
    """Return the candidate after the right one, the first one after the last."""
    return (instance.label + 1) % len(instance.candidates)


def _only(chosen: int | None, instance: ResolutionInstance) -> list[float]:
    return [float(index == chosen) for index in range(len(instance.candidates))]

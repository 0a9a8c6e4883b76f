"""The floor: a candidate at random."""

import random

from pronominal.adapters.baselines.instance_by_instance import InstanceByInstance
from pronominal.instances import ResolutionInstance


class Random(InstanceByInstance):
    """Takes one of the candidates that are in the text, at random.

    The draw depends on the seed and on the instance's id and text alone, so neither the order nor
    the selection of instances changes an answer, and a switched row, which has the id of its
    original, is drawn anew.
    """

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        located = [i for i, candidate in enumerate(instance.candidates) if candidate.located]
        if not located:
            return [0.0] * len(instance.candidates)
        drawn = random.Random(f"{self.seed} {instance.id} {instance.text}").choice(located)
        return [float(index == drawn) for index in range(len(instance.candidates))]

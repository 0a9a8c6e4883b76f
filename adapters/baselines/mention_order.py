"""Systems that look at where the candidates are mentioned, and at nothing else."""

from pronominal.adapters.baselines.instance_by_instance import InstanceByInstance
from pronominal.instances import ResolutionInstance


class FirstMention(InstanceByInstance):
    """Takes the candidate that is mentioned first in the text."""

    name = "first-mention"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        first = min((c.start for c in instance.candidates if c.located), default=None)
        return [float(candidate.start == first) for candidate in instance.candidates]


class LastMention(InstanceByInstance):
    """Takes the candidate that is mentioned last in the text: with two candidates, the second."""

    name = "last-mention"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        last = max((c.start for c in instance.candidates if c.located), default=None)
        return [float(candidate.start == last) for candidate in instance.candidates]


class NearestMention(InstanceByInstance):
    """Takes the last candidate mentioned before the pronoun, and none if all come after it."""

    name = "nearest-mention"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        before = [c.end for c in instance.candidates if 0 <= c.end <= instance.pronoun.start]
        last = max(before, default=None)
        return [float(candidate.end == last) for candidate in instance.candidates]

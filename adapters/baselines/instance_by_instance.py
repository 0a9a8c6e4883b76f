"""Systems that decide on each instance alone."""

from collections.abc import Sequence

from pronominal.instances import ResolutionInstance


class InstanceByInstance:
    """Decides on each instance alone."""

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        """Return for each instance, in order, the probability of each candidate."""
        return [self._choose(instance) for instance in instances]

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        raise NotImplementedError  # each system's own

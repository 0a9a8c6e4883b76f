"""Systems without weights: what any system that reads the sentence has to beat."""

import random
from collections.abc import Sequence

from pronominal.instances import ResolutionInstance
from pronominal.pronouns import PRONOUN_SETS

_SUBJECT_FORMS = {pronouns.nominative for pronouns in PRONOUN_SETS}


class Heuristic:
    """Decides on each instance alone."""

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        """Return 1.0 for the chosen candidate and 0.0 for the others."""
        return [self._choose(instance) for instance in instances]

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        raise NotImplementedError  # each heuristic's own


class Random(Heuristic):
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


class FirstMention(Heuristic):
    """Takes the candidate that is mentioned first in the text."""

    name = "first-mention"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        first = min((c.start for c in instance.candidates if c.located), default=None)
        return [float(candidate.start == first) for candidate in instance.candidates]


class LastMention(Heuristic):
    """Takes the candidate that is mentioned last in the text: with two candidates, the second."""

    name = "last-mention"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        last = max((c.start for c in instance.candidates if c.located), default=None)
        return [float(candidate.start == last) for candidate in instance.candidates]


class NearestMention(Heuristic):
    """Takes the last candidate mentioned before the pronoun, and none if all come after it."""

    name = "nearest-mention"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        before = [c.end for c in instance.candidates if 0 <= c.end <= instance.pronoun.start]
        last = max(before, default=None)
        return [float(candidate.end == last) for candidate in instance.candidates]


class Parallelism(Heuristic):
    """Takes the first mention for a subject form and the nearest one for any other form.

    In a simple English clause the first mention is the subject and the last one the object, so
    this keeps a pronoun's grammatical role parallel to its antecedent's without a parser.
    """

    name = "parallelism"

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        # the dataset's own case column knows the forms of sets that a user added
        case = instance.columns.get("case")
        if case is None and instance.pronoun.text.lower() in _SUBJECT_FORMS:
            case = "nominative"
        return (FirstMention() if case == "nominative" else NearestMention())._choose(instance)

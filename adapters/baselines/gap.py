"""The two heuristics of GAP that KnowRef's Table 6 repeats (Webster et al., 2018)."""

import re
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from pronominal.adapters.baselines.instance_by_instance import InstanceByInstance
from pronominal.adapters.baselines.surface_roles import MentionSyntax, Role, SurfaceSyntax
from pronominal.errors import InputError
from pronominal.instances import ResolutionInstance


class GapParallelism(InstanceByInstance):
    """Takes the closest candidate in the pronoun's own grammatical role.

    A pronoun that is a subject or a direct object goes to the closest candidate that is one as
    well; any other pronoun, or one without such a candidate, to the closest candidate. One of the
    two names is always chosen, though neither is right in a tenth of the rows; a candidate that is
    not in the text never is.

    The authors' roles and syntactic distances come from a parser of theirs. Ours are those of a
    spaCy pipeline where one is given, and otherwise read from the words next to a mention, with
    sentences and words for a distance: expect another F1 than theirs.

    Args:
        pipeline: name or folder of a spaCy pipeline with a parser; None reads the surface.
    """

    name = "gap-parallelism"

    def __init__(self, pipeline: str | None = None) -> None:
        self._read: Callable[[ResolutionInstance], tuple[Role, list[MentionSyntax]]] = (
            SurfaceSyntax().read
        )
        if pipeline is not None:
            from pronominal.adapters.baselines.parsed_roles import DependencySyntax

            self._read = DependencySyntax(pipeline).read

    def _choose(self, instance: ResolutionInstance) -> list[float]:
        located = [candidate.located for candidate in instance.candidates]
        if not all(located):
            return [float(one) for one in located]
        role, mentions = self._read(instance)
        parallel = [mention.role == role != "other" for mention in mentions]
        return _closest(mentions, self._preferred(instance, parallel))

    def _preferred(self, instance: ResolutionInstance, parallel: list[bool]) -> list[bool]:
        return parallel


class GapParallelismURL(GapParallelism):
    """Takes the candidate that the Wikipedia page is about, else as `GapParallelism`.

    A candidate is preferred if one of its words is in the page's title; of two such, the closest.
    """

    name = "gap-parallelism-url"

    def _preferred(self, instance: ResolutionInstance, parallel: list[bool]) -> list[bool]:
        url = instance.columns.get("url")
        if not isinstance(url, str):
            raise InputError(
                f"{self.name} needs the page of each passage",
                cure="run it on gap, or gap-parallelism on other data",
                row=f"id {instance.id}",
            )
        title = _words(_title(url))
        about = [bool(title & _words(candidate.text)) for candidate in instance.candidates]
        return about if any(about) else parallel


def _closest(mentions: list[MentionSyntax], preferred: list[bool]) -> list[float]:
    numbers = range(len(mentions))
    chosen = min(numbers, key=lambda index: (not preferred[index], mentions[index].distance))
    return [float(index == chosen) for index in numbers]


def _title(url: str) -> str:
    """Return the title of a Wikipedia page, without what tells it from others of the name.

    >>> _title("http://en.wikipedia.org/wiki/Ann_Lee_(potter)")
    'Ann Lee'
    """
    page = unquote(urlsplit(url).path.rpartition("/")[2]).replace("_", " ")
    return re.sub(r"\s*\(.*\)$", "", page)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))

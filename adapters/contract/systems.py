"""What a system is: any object with a name and one of these methods; users subclass nothing.

Our own systems also have, where that makes sense:

- ``checkpoint``: name, folder and digest of the weights in use, ``dtype``, ``device``,
  ``parameters`` and ``engine`` (the library that computes): a run records them;
- ``self_check``: what was wrong when they were loaded, one line each, also warned of;
- ``prompting``: which prompts they want to be asked, ``question``: what their answers or scores
  are, and ``chunk``: how many instances they want to be given at a time.

They raise `InputError` where they cannot be made, and `RefusedTextError` for a text
that is too long or whose scores are not finite.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, Self, runtime_checkable

from pronominal.errors import InputError
from pronominal.instances import FillingInstance, ResolutionInstance
from pronominal.spans import Cluster, Span

Kind = Literal["clustering", "choosing", "language model"]


class AnswerWarning(UserWarning):
    """What a user should know about an answer, even with warnings switched off."""


class TextWarning(AnswerWarning):
    """What a user should know about the answer to one of several texts or documents.

    Args:
        cause: what it is, without evaluation text.
        index: which one it is, from 0, among those that the system was given.
        place: what the user knows it by.
    """

    def __init__(self, cause: str, index: int, place: str) -> None:
        super().__init__(cause, index, place)
        self.cause = cause
        self.index = index
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.cause}"

    def at(self, row: str) -> Self:
        """Return this warning for a user who knows the text by another name, as ``"id x"``."""
        return type(self)(self.cause, self.index, row)


class OversizedSentenceWarning(TextWarning):
    """A sentence is longer than a window; it was encoded in pieces that do not see each other."""

    @classmethod
    def warn(
        cls, system: str, index: int, place: str, sentences: Mapping[int, int], capacity: int
    ) -> None:
        """Warn of each sentence, given its number and its length in subwords."""
        for number, length in sentences.items():
            fault = (
                f"sentence {number} has {length} subwords and a window of {system} holds "
                f"{capacity}; it was encoded in pieces"
            )
            warnings.warn(cls(fault, index, place), stacklevel=5)


@runtime_checkable
class ClusteringSystem(Protocol):
    """A coreference system: texts in, clusters of spans out."""

    name: str

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans.

        Every cluster holds at least two different spans.
        """
        ...


@runtime_checkable
class ChoosingSystem(Protocol):
    """A system that is told the candidates: instances in, probabilities out."""

    name: str

    def choose(self, instances: Sequence[ResolutionInstance]) -> list[list[float]]:
        """Return for each instance, in order, one number in [0, 1] for each candidate."""
        ...


@runtime_checkable
class ScoringSystem(Protocol):
    """A language model that scores: slots in, log-likelihoods of their options out.

    It may have an attribute ``chunk``: how many instances it wants to be given at a time.
    """

    name: str

    def loglikelihood(self, instances: Sequence[FillingInstance]) -> list[list[float]]:
        """Return for each instance, in order, one number for each option; the highest is chosen."""
        ...


@runtime_checkable
class ContinuingSystem(ScoringSystem, Protocol):
    """A language model that scores slots and also goes on writing: two questions of one instance.

    It may have the attribute ``seed`` of what it draws.
    """

    def continuations(self, contexts: Sequence[str]) -> list[list[str]]:
        """Return for each context, in order, as many texts that follow it for every context."""
        ...


@runtime_checkable
class GeneratingSystem(Protocol):
    """A language model that writes: prompts in, continuations or answers out.

    It may have the attributes ``prompting`` (which prompts it is asked, see
    `pronominal.adapters.lm.prompting.prompts.Prompting`) and ``chunk``, how many instances are put
    into prompts at a time. A model that is asked for a chain of thought also takes the keyword
    ``max_new_tokens``.
    """

    name: str

    def generate(self, prompts: Sequence[str]) -> Sequence[str]:
        """Return for each prompt, in order, what follows it, which other prompts do not change."""
        ...


@runtime_checkable
class MultipleChoiceSystem(Protocol):
    """A language model that is offered answers: prompts and options in, log-likelihoods out.

    It may have the attributes ``prompting`` and ``chunk`` of a `GeneratingSystem`.
    """

    name: str

    def option_loglikelihoods(
        self, prompts: Sequence[str], options: Sequence[Sequence[str]]
    ) -> list[list[float]]:
        """Return for each prompt, in order, one number for each of its options."""
        ...


System = ClusteringSystem | ChoosingSystem | ScoringSystem | GeneratingSystem | MultipleChoiceSystem


def kind_of(system: object) -> Kind:
    """Return how a system answers; `InputError` when it has no name or none of the methods."""
    if isinstance(system, ClusteringSystem):
        return "clustering"
    if isinstance(system, ChoosingSystem):
        return "choosing"
    if isinstance(system, ScoringSystem | GeneratingSystem | MultipleChoiceSystem):
        return "language model"
    raise InputError(
        f"{type(system).__name__} is not a system",
        cure="give it a name and a method cluster(texts), choose(instances), "
        "loglikelihood(instances), generate(prompts) or option_loglikelihoods(prompts, options)",
    )


def refuse_bare_string(texts: Sequence[str]) -> None:
    """Raise `InputError` for one string, which would be taken for a text for each character."""
    if isinstance(texts, str):
        raise InputError("the texts are one string", cure="give a list of texts")


def contract_clusters(raw: Iterable[Iterable[Sequence[int] | None]]) -> list[Cluster]:
    """Clean a package's clusters of what every clustering system has to leave out.

    Mentions that map to no characters (None) go, then repeats inside a cluster, then clusters
    with fewer than two mentions; the order stays.
    """
    clusters = [
        list(dict.fromkeys(Span(int(m[0]), int(m[1])) for m in mentions if m is not None))
        for mentions in raw
    ]
    return [cluster for cluster in clusters if len(cluster) > 1]

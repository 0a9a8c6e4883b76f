"""Mentions as brackets at words, which CoNLL-2012 and CorefUD have in common."""

from dataclasses import dataclass, field
from itertools import combinations

from pronominal.errors import InputError
from pronominal.eval.exchange.documents import WordedText
from pronominal.spans import Cluster, Span


@dataclass(slots=True)
class WordBrackets:
    """The numbers of the clusters whose mentions have a border at one word.

    Attributes:
        closing: of mentions that end there.
        alone: of mentions that are this word.
        opening: of mentions that begin there.
    """

    closing: list[int] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)
    opening: list[int] = field(default_factory=list)


def brackets(text: WordedText) -> list[WordBrackets]:
    """Return the brackets at each word of a text.

    Raises:
        InputError: two mentions of a cluster cross, whose brackets could not be told apart.
    """
    found = [WordBrackets() for _ in text.places]
    for number, cluster in enumerate(text.clusters()):
        _refuse_crossing(cluster, text)
        for start, end in cluster:
            if end - start == 1:
                found[start].alone.append(number)
            else:
                found[start].opening.append(number)
                found[end - 1].closing.append(number)
    return found


def _refuse_crossing(cluster: Cluster, text: WordedText) -> None:
    for one, other in combinations(sorted(cluster), 2):
        if one.start < other.start < one.end < other.end:
            raise InputError(
                f"two mentions of a cluster cross (words {one.start}:{one.end} and "
                f"{other.start}:{other.end}), which brackets cannot say",
                cure="export to a format of JSON lines, to brat or to cort",
                row=f"id {text.text.instance.id}",
            )


class OpenBrackets:
    """Puts the mentions of a document together while its brackets are read.

    Of the mentions of one cluster that are open, the last one opened closes first, as in the
    reference scorer (Pradhan et al., 2014).
    """

    def __init__(self) -> None:
        self._open: dict[str, list[int]] = {}
        self._clusters: dict[str, list[Span]] = {}

    def open(self, cluster: str, start: int) -> None:
        """Begin a mention at a word."""
        self._open.setdefault(cluster, []).append(start)

    def close(self, cluster: str, end: int) -> Span:
        """End a mention before the word `end`, and return it.

        Raises:
            ValueError: the cluster has no open mention.
        """
        if not self._open.get(cluster):
            raise ValueError("a bracket closes a mention that is not open")
        span = Span(self._open[cluster].pop(), end)
        # a mention of nothing stands at an empty node
        if span.start < span.end:
            self._clusters.setdefault(cluster, []).append(span)
        return span

    def clusters(self) -> list[Cluster]:
        """Return the clusters in the order of their numbers, mentions in that of the text.

        Raises:
            ValueError: a mention is still open.
        """
        if any(self._open.values()):
            raise ValueError("a bracket opens a mention that is not closed")
        names = sorted(self._clusters, key=_natural)
        return [sorted(self._clusters[name]) for name in names]


def _natural(name: str) -> tuple[int, str]:
    """Order e9 before e10, as numbers."""
    return len(name), name

"""Mentions as brackets at words, which CoNLL-2012 and CorefUD have in common."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from pronominal.errors import InputError
from pronominal.eval.exchange.documents import WordedText
from pronominal.spans import Cluster, Span


@dataclass(slots=True)
class WordBrackets:
    """The numbers of the clusters whose mentions begin or end at one word.

    Attributes:
        closing: of mentions that end there.
        alone: of mentions that are this word.
        opening: of mentions that begin there.
    """

    closing: list[int] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)
    opening: list[int] = field(default_factory=list)

    def written(self, name: Callable[[int], str], attributes: str = "") -> list[str]:
        """Return the brackets as strings; opening ones have attributes behind the name."""
        return [
            *(f"{name(cluster)})" for cluster in self.closing),
            *(f"({name(cluster)}{attributes})" for cluster in self.alone),
            *(f"({name(cluster)}{attributes}" for cluster in self.opening),
        ]


def brackets(text: WordedText) -> list[WordBrackets]:
    """Return the brackets at each word of a text.

    `InputError` if two mentions of a cluster cross, whose brackets could not be told apart.
    """
    at_words = [WordBrackets() for _ in text.places]
    for number, cluster in enumerate(text.clusters()):
        _refuse_crossing(cluster, text)
        for start, end in cluster:
            if end - start == 1:
                at_words[start].alone.append(number)
            else:
                at_words[start].opening.append(number)
                at_words[end - 1].closing.append(number)
    return at_words


def _refuse_crossing(cluster: Cluster, text: WordedText) -> None:
    for one, other in combinations(sorted(cluster), 2):
        if one.start < other.start < one.end < other.end:
            crossing = f"words {one.start}:{one.end} and {other.start}:{other.end}"
            cause = f"two mentions of a cluster cross ({crossing}), which brackets cannot say"
            cure = "export to a format of JSON lines, to brat or to cort"
            raise InputError(cause, cure=cure, row=f"id {text.text.instance.id}")


@dataclass(slots=True)
class OpenBrackets:
    """Puts the mentions of a document together while its brackets are read.

    Of the mentions of one cluster that are open, the last one opened closes first, as in the
    reference scorer (Pradhan et al., 2014).

    Attributes:
        file: what is read.
        form: its format, as messages name it.
        line: number of the line that is being read.
        marks: the brackets of the format.
        zeros: how many mentions of empty nodes were left out.
    """

    file: Path
    form: str
    line: int
    marks: str = "()"
    zeros: int = 0
    _open: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    _clusters: dict[str, list[Span]] = field(default_factory=dict)

    def open(self, cluster: str, start: int) -> None:
        """Begin a mention at a word."""
        self._clusters.setdefault(cluster, [])
        self._open.setdefault(cluster, []).append((start, self.line))

    def close(self, cluster: str, end: int) -> None:
        """End a mention before the word `end`; `InputError` if the cluster has none open."""
        if not self._open.get(cluster):
            raise self.refusal(f"{cluster}{self.marks[1]} closes a mention that is not open")
        start, _ = self._open[cluster].pop()
        # a mention of nothing belongs to an empty node
        if start < end:
            self._clusters[cluster].append(Span(start, end))
        else:
            self.zeros += 1

    def clusters(self) -> list[Cluster]:
        """Return the clusters in the order of their numbers, mentions in that of the text.

        `InputError` for a mention that is still open names the line that opened it.
        """
        unclosed = [(line, name) for name, mentions in self._open.items() for _, line in mentions]
        if unclosed:
            self.line, name = min(unclosed)
            raise self.refusal(f"{self.marks[0]}{name} opens a mention that is not closed")
        return [sorted(self._clusters[name]) for name in self._numbered()]

    def order(self) -> list[int]:
        """Return the indices of `clusters` in the order in which the file begins them."""
        place = {name: index for index, name in enumerate(self._numbered())}
        return [place[name] for name in self._clusters if name in place]

    def _numbered(self) -> list[str]:
        # e9 comes before e10
        filled = (name for name, mentions in self._clusters.items() if mentions)
        return sorted(filled, key=lambda name: (len(name), name))

    def refusal(self, cause: str) -> InputError:
        """Return the error that names the line and the format."""
        cure = f"give a file in {self.form}"
        return InputError(cause, cure=cure, file=self.file, row=f"line {self.line}")

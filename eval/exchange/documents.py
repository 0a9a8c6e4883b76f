"""Texts on their way to other systems, and what comes back."""

import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from operator import index
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, unquote

from pronominal.decisions import Decision
from pronominal.errors import InputError
from pronominal.instances import ResolutionInstance
from pronominal.spans import Cluster, Span

if TYPE_CHECKING:
    from pronominal.adapters.words.english import EnglishWords

Mention = TypeVar("Mention", bound=Hashable)

KEY = re.compile(r"(?:(?:dw|nw|wb)[_/])?(?P<name>.+?)(?P<part>_\d+)?", re.DOTALL)
"""A document's key: a genre, a quoted id, and a part where a CoNLL-2012 file was converted."""


@dataclass(frozen=True, slots=True)
class ExportedText:
    """A text, and what a run has answered to it where predictions are exported.

    Attributes:
        instance: the row.
        clusters: of its text, in characters; None where only the text is exported.
        decision: what was decided; None where only the text is exported.
    """

    instance: ResolutionInstance
    clusters: list[Cluster] | None = None
    decision: Decision | None = None

    def key(self, genre: str) -> str:
        """Return the document's key: a genre that the system knows, and the id.

        Ids are percent-encoded, so that keys hold neither white space, brackets nor slashes.
        """
        return f"{genre}{quote(self.instance.id, safe='')}"

    def words(self, *, spaces: bool = True) -> "WordedText":
        """Return the text in words; see `EnglishWords`.

        With `spaces`, words of white space count, as they do for systems that read spaCy's words;
        formats in columns have no room for them.
        """
        document, places = _english().read(self.instance.text)
        kept = [spaces or not word.isspace() for word in chain.from_iterable(document.words)]
        keep = iter(kept)
        sentences = [[w for w in sentence if next(keep)] for sentence in document.words]
        return WordedText(
            self,
            [sentence for sentence in sentences if sentence],
            [place for place, wanted in zip(places, kept, strict=True) if wanted],
        )


@dataclass(frozen=True, slots=True)
class WordedText:
    """A text in words.

    Attributes:
        text: what it is the words of.
        sentences: the words of each sentence.
        places: the characters of each word, over all sentences.
    """

    text: ExportedText
    sentences: list[list[str]]
    places: list[Span]

    @property
    def flat(self) -> list[str]:
        """The words of all sentences."""
        return [*chain.from_iterable(self.sentences)]

    def clusters(self) -> list[Cluster]:
        """Return the text's clusters as half-open spans of words; none where it has none.

        `InputError` if a mention begins or ends inside a word.
        """
        starts = {place.start: word for word, place in enumerate(self.places)}
        ends = {place.end: word + 1 for word, place in enumerate(self.places)}
        found = self.text.clusters or []
        for start, end in chain.from_iterable(found):
            if start not in starts or end not in ends:
                cause = f"the mention {start}:{end} begins or ends inside a word"
                cure = "export to brat or fastcoref, whose mentions are characters"
                raise InputError(cause, cure=cure, row=f"id {self.text.instance.id}")
        return [[Span(starts[start], ends[end]) for start, end in cluster] for cluster in found]


@dataclass(frozen=True, slots=True)
class PredictedDocument:
    """What another system has answered to one text.

    Attributes:
        place: where it is in the file, as ``"line 7"``.
        key: the document's key; None where the format has none.
        content: its words over all sentences, or its text.
        clusters: half-open spans of the words, or of the text's characters.
        answer: what it was read to have answered, where the format has no clusters.
        order: indices of the clusters in the order in which the file begins them, where that may
            be another than theirs.
        zeros: how many mentions of empty nodes, which are no words, were left out.

    Raises:
        TypeError: the key or a word is no string.
    """

    place: str
    key: str | None
    content: Sequence[str] | str
    clusters: list[Cluster] = field(default_factory=list)
    answer: str | None = None
    order: Sequence[int] | None = None
    zeros: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.key, str | None):
            raise TypeError("the key is no string")
        whole = isinstance(self.content, str)
        if not (whole or all(isinstance(word, str) for word in self.content)):
            raise TypeError("a word is no string")

    @property
    def text(self) -> str:
        """The document's words in one string."""
        return self.content if isinstance(self.content, str) else " ".join(self.content)


def id_of(key: str | None, ids: Collection[str]) -> str | None:
    """Return the id that a document's key stands for; None if it stands for none.

    >>> id_of("wb/test-7_0", {"test-7"}), id_of("wb_a%20b", {"a b"}), id_of("dw", {"test-7"})
    ('test-7', 'a b', None)
    """
    match = KEY.fullmatch(key or "")
    if key is None or match is None:
        return None
    whole = match["name"] + (match["part"] or "")
    # what we write comes first: an id may look like another one's key
    names = (unquote(whole), key, unquote(match["name"]))
    return next((name for name in names if name in ids), None)


def inclusive(clusters: Iterable[Cluster]) -> list[list[list[int]]]:
    """Return clusters as the JSON formats have them: the last word or piece is a part of a span."""
    return [[[start, end - 1] for start, end in cluster] for cluster in clusters]


def half_open(clusters: Iterable[Iterable[Sequence[int]]], length: int) -> list[Cluster]:
    """Return clusters of `inclusive` spans as ours.

    `ValueError` if a span lies outside of the `length` words or pieces.
    """
    return [[_within(start, end + 1, length) for start, end in cluster] for cluster in clusters]


def spans(clusters: Iterable[Iterable[Sequence[int]]], length: int) -> list[Cluster]:
    """Return clusters of half-open spans as ours; errors are those of `half_open`."""
    return [[_within(start, end, length) for start, end in cluster] for cluster in clusters]


def linked(links: Iterable[Sequence[Mention]]) -> list[list[Mention]]:
    """Return clusters from links, each one or more mentions, or their names, of the same entity.

    Links that share a mention are one cluster. Clusters and their mentions are in the order in
    which they were first named.

    >>> linked([["T3", "T1"], ["T5", "T6"], ["T1", "T2"]])
    [['T3', 'T1', 'T2'], ['T5', 'T6']]
    """
    clusters: list[dict[Mention, None]] = []
    for link in links:
        joined = [cluster for cluster in clusters if not cluster.keys().isdisjoint(link)] or [{}]
        if not joined[0]:
            clusters += joined
        for cluster in joined[1:]:
            joined[0].update(cluster)
            clusters.remove(cluster)
        joined[0].update(dict.fromkeys(link))
    return [[*cluster] for cluster in clusters]


def _within(start: int, end: int, length: int) -> Span:
    if not 0 <= index(start) < index(end) <= length:
        raise ValueError(f"a mention from {start} to {end - 1} lies outside of the document")
    return Span(start, end)


@cache
def _english() -> "EnglishWords":
    from pronominal.adapters.words.english import EnglishWords

    try:
        return EnglishWords()
    except ModuleNotFoundError as error:
        raise InputError(
            f"this needs the package {error.name}", cure='pip install "pronominal[caw]"'
        ) from error

"""Documents in the subtokens of an encoder, with their gold clusters, and back."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any

from pronominal.adapters.fastcoref.categories import SubtokenWords
from pronominal.adapters.fastcoref.package import SPEAKER_END, SPEAKER_START
from pronominal.adapters.training.antecedents import GoldMentions
from pronominal.adapters.words.mention_borders import MentionBorders
from pronominal.spans import AnnotatedDocument, Cluster, Document, Span


@dataclass(frozen=True, slots=True)
class SubtokenDocument:
    """A document as LingMess and FCoref read it.

    Attributes:
        ids: of the subtokens, special tokens included.
        word_of: the word that each one is a part of; None for special tokens and speakers.
        words: the document's.
        clusters: gold clusters, half-open spans of subtokens.
        complete: whether other spans are known to corefer with nothing.
        types: the different words.
    """

    ids: Sequence[int]
    word_of: Sequence[int | None]
    words: Sequence[str]
    clusters: Sequence[Cluster]
    complete: bool
    types: SubtokenWords

    @classmethod
    def read(cls, gold: AnnotatedDocument, tokenizer: Any) -> "SubtokenDocument":
        """Read a document; a mention that begins or ends with a word of no subtokens goes."""
        words = [*chain.from_iterable(gold.document.words)]
        said, number_of = _with_speakers(gold.document, words)
        encoded = tokenizer(said, is_split_into_words=True, return_attention_mask=False)
        word_of = [None if place is None else number_of[place] for place in encoded.word_ids()]
        firsts: dict[int, int] = {}
        ends: dict[int, int] = {}
        for subtoken, word in enumerate(word_of):
            if word is not None:
                firsts.setdefault(word, subtoken)
                ends[word] = subtoken + 1
        clusters = [
            [
                Span(firsts[start], ends[end - 1])
                for start, end in cluster
                if start in firsts and end - 1 in ends
            ]
            for cluster in gold.clusters
        ]
        types = SubtokenWords.read(words, word_of)
        return cls(encoded["input_ids"], word_of, words, clusters, gold.complete, types)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def mentions(self) -> list[Span]:
        """Every gold mention."""
        return [*chain.from_iterable(self.clusters)]

    @property
    def gold(self) -> GoldMentions:
        """The gold mentions, in subtokens."""
        if self.complete:
            return GoldMentions(self.clusters)
        borders = MentionBorders(self.words, self.word_of, self.clusters)
        return GoldMentions(self.clusters, borders.exclude)

    def in_words(self, clusters: Sequence[Sequence[tuple[int, int]]]) -> list[Cluster]:
        """Return clusters of words, given first and last subtoken of each mention.

        Mentions are widened to whole words, without special tokens, and a cluster keeps two
        different ones or goes (the contract of systems).
        """
        kept = []
        for cluster in clusters:
            borders = ((self.word_of[first], self.word_of[last]) for first, last in cluster)
            words = dict.fromkeys(
                Span(first, last + 1)
                for first, last in borders
                if first is not None and last is not None
            )
            if len(words) > 1:
                kept.append(list(words))
        return kept


def _with_speakers(
    document: Document, words: Sequence[str]
) -> tuple[Sequence[str], Sequence[int | None]]:
    """Put each speaker's name before what is said, as fastcoref does (``coref_dataset.py``).

    Returns:
        The words with names, and the word of the document that each one is; None for names.
    """
    if document.speakers is None:
        return words, range(len(words))
    said: list[str] = []
    number_of: list[int | None] = []
    speakers = enumerate(chain.from_iterable(document.speakers))
    for speaker, own in groupby(speakers, key=lambda one: one[1]):
        numbers = [number for number, _ in own]
        said += [SPEAKER_START, speaker, SPEAKER_END, *(words[number] for number in numbers)]
        number_of += [None, None, None, *numbers]
    return said, number_of

"""Documents in words with their gold heads, as CAW learns them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from pronominal.adapters.caw.heads import CONJUNCTIONS, head_spans
from pronominal.adapters.caw.tokens import SubwordTokenizer, TokenizedDocument
from pronominal.adapters.training.antecedents import GoldMentions
from pronominal.adapters.words.mention_borders import MentionBorders
from pronominal.spans import AnnotatedDocument, Span


@dataclass(frozen=True, slots=True)
class WordLevelDocument:
    """A document as CAW learns it.

    Attributes:
        tokenized: what the model reads.
        numbers: the cluster of each word, as `GoldMentions` numbers them.
        opening: whether no antecedent is right for a word where none that was scored is.
        spans: the mention of each head, in the order of the heads.
        complete: whether other words are known to corefer with nothing.
    """

    tokenized: TokenizedDocument
    numbers: Sequence[int]
    opening: Sequence[bool]
    spans: Sequence[tuple[int, Span]]
    complete: bool

    @classmethod
    def read(
        cls, gold: AnnotatedDocument, tokenizer: SubwordTokenizer, place: str
    ) -> "WordLevelDocument":
        """Read a document; `place` is its name in messages."""
        words = [*chain.from_iterable(gold.document.words)]
        mention_of = head_spans(gold)
        head_of = {span: head for head, span in mention_of.items()}
        # a mention that shares its head with a shorter one has none
        clusters = [
            [Span(head_of[span], head_of[span] + 1) for span in cluster if span in head_of]
            for cluster in gold.clusters
        ]
        mentions = GoldMentions(clusters, None if gold.complete else _NoHeads(gold, words).exclude)
        alone = [Span(word, word + 1) for word in range(len(words))]
        return cls(
            tokenizer.read(gold.document, place),
            mentions.numbers(alone),
            mentions.opening(alone),
            sorted(mention_of.items()),
            gold.complete,
        )

    def __len__(self) -> int:
        return len(self.tokenized.subwords)

    @property
    def spans_in_sentences(self) -> list[tuple[int, Span]]:
        """The spans that a head's sentence covers; no other can be predicted."""
        sentence_of = self.tokenized.sentence_of
        return [(head, span) for head, span in self.spans if sentence_of(head).covers(span)]

    @property
    def kept(self) -> list[int]:
        """The words that are scored as antecedents in any case: the heads, if others are unknown.

        The rough scorer of a new head would hardly keep the few of a partial annotation.
        """
        return [] if self.complete else [head for head, _ in self.spans]


class _NoHeads:
    """Says which words certainly are no head of a mention."""

    def __init__(self, gold: AnnotatedDocument, words: Sequence[str]) -> None:
        self._borders = MentionBorders(words, range(len(words)), gold.clusters)
        self._words = words

    def exclude(self, span: tuple[int, int]) -> bool:
        """Say whether one word, as a span, certainly is no head; conjunctions may be some."""
        joins = self._words[span[0]].lower() in CONJUNCTIONS
        return not joins and self._borders.exclude(span)

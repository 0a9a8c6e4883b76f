"""Word-level coreference: a batch of tokenised documents in, clusters of word spans out."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from pronominal.adapters.caw.scorer import (
    AnaphoricityScorer,
    PairFeatures,
    Pairs,
    RoughScorer,
    WordAttention,
)
from pronominal.adapters.caw.spans import Head, SpanPredictor, best_spans
from pronominal.adapters.caw.tokens import TokenizedDocument
from pronominal.adapters.contract.refusals import NonFiniteScoresError
from pronominal.adapters.words.length_batches import length_batches
from pronominal.adapters.words.ontonotes import GENRES
from pronominal.spans import Cluster, Span

FRAME = 2
"""Positions of a window that its opening and its closing special token take."""


class Encoder(nn.Module):
    """A transformer that reads windows apart from each other, many at a time.

    Windows of similar length go together, between the tokens of `frame`. Padding is masked, so that
    a window's vectors do not depend on the others but for rounding (about 1e-6).
    """

    def __init__(
        self, transformer: Any, *, frame: tuple[int, int], padding: int, batch_size: int
    ) -> None:
        super().__init__()
        self.transformer = transformer
        self.frame = frame
        self.padding = padding
        self.batch_size = batch_size

    def forward(self, windows: Sequence[Sequence[int]]) -> Tensor:
        """Return the last hidden states of all subwords, in order, as [subwords, hidden]."""
        states = [torch.empty(0)] * len(windows)
        lengths = [len(window) for window in windows]
        for batch in length_batches(lengths, most=self.batch_size):
            hidden = self._encode([windows[index] for index in batch])
            for row, index in enumerate(batch):
                states[index] = hidden[row, 1 : 1 + len(windows[index])]
        return torch.cat(states)

    def _encode(self, windows: Sequence[Sequence[int]]) -> Tensor:
        opening, closing = self.frame
        rows = [torch.tensor([opening, *window, closing]) for window in windows]
        ids = pad_sequence(rows, batch_first=True, padding_value=self.padding)
        ids = ids.to(next(self.transformer.parameters()).device)
        output = self.transformer(ids, attention_mask=(ids != self.padding).long())
        hidden: Tensor = output.last_hidden_state
        return hidden


DUMMY = torch.tensor(1e-7).item()
"""What a link has to exceed: upstream's score for no antecedent, which is not 0, in its type."""

ENTRIES = {
    "we": "word_attention",
    "rough_scorer": "rough_scorer",
    "pw": "pair_features",
    "a_scorer": "anaphoricity_scorer",
    "sp": "span_predictor",
}
"""Which module of the model each entry of a checkpoint belongs to; ``bert`` is the encoder."""


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """The keys of ``config.toml`` that inference needs, under upstream's names.

    Attributes:
        bert_window_size: subwords in a window, its two special tokens included.
        embedding_size: size of each of the three embedded features of a pair.
        hidden_size: size of the anaphoricity scorer's hidden layers.
        n_hidden_layers: how many of these there are.
        rough_k: how many antecedents of a word the rough scorer keeps.
    """

    bert_window_size: int
    embedding_size: int
    hidden_size: int
    n_hidden_layers: int
    rough_k: int

    @property
    def capacity(self) -> int:
        """How many subwords of a text a window holds."""
        return self.bert_window_size - FRAME


class WordLevelModel(nn.Module):
    """Links words, then finds the spans whose heads the linked words are."""

    def __init__(self, encoder: Encoder, size: int, settings: Hyperparameters) -> None:
        super().__init__()
        features = settings.embedding_size
        self.settings = settings
        self.encoder = encoder
        self.word_attention = WordAttention(size)
        self.rough_scorer = RoughScorer(size, settings.rough_k)
        self.pair_features = PairFeatures(features, len(GENRES))
        self.anaphoricity_scorer = AnaphoricityScorer(
            size, 3 * features, settings.hidden_size, settings.n_hidden_layers
        )
        self.span_predictor = SpanPredictor(size)

    @property
    def scorers(self) -> list[nn.Module]:
        """Everything but the encoder, in upstream's order of names."""
        return [self.get_submodule(ENTRIES[entry]) for entry in sorted(ENTRIES)]

    @torch.inference_mode()
    def forward(self, documents: Sequence[TokenizedDocument]) -> list[list[Cluster]]:
        """Return each document's clusters as half-open word spans, as upstream gives them.

        Clusters are ordered by their head words, and so are the spans in a cluster. Two heads may
        have the same span; nothing is deduplicated.

        Args:
            documents: one batch; none of them is empty.
        """
        words = self.word_vectors(documents)
        links = best_links(self.scored_pairs(words, documents))
        clusters = connected(links)
        spans = self.head_spans(words, list(chain.from_iterable(clusters)), documents)
        answers: list[list[Cluster]] = [[] for _ in documents]
        rows = document_rows(documents)
        for cluster in clusters:
            index = _document_at(rows, cluster[0])
            first = rows[index].start
            moved = [Span(spans[head].start - first, spans[head].end - first) for head in cluster]
            answers[index].append(moved)
        return answers

    def word_vectors(self, documents: Sequence[TokenizedDocument]) -> Tensor:
        """Encode documents and return the vectors of all their words, [words, hidden]."""
        return self.combined(self.subword_states(documents), documents)

    def subword_states(self, documents: Sequence[TokenizedDocument]) -> Tensor:
        """Return the encoder's states of all subwords, [subwords, hidden]."""
        capacity = self.settings.capacity
        cuts = [(document, cut) for document in documents for cut in document.windows(capacity)]
        windows = [document.subwords[cut.start : cut.end] for document, cut in cuts]
        states: Tensor = self.encoder(windows)
        return states

    def combined(self, states: Tensor, documents: Sequence[TokenizedDocument]) -> Tensor:
        """Return the vectors of all words, [words, hidden], given the states of their subwords."""
        lengths = [
            end - start for document in documents for start, end in pairwise(document.word_starts)
        ]
        word_of = torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))
        words: Tensor = self.word_attention(states, word_of.to(states.device), len(lengths))
        return words

    def scored_pairs(
        self,
        words: Tensor,
        documents: Sequence[TokenizedDocument],
        always: Tensor | None = None,
    ) -> Pairs:
        """Return the pairs of words that may be linked, with their final scores.

        `always` says which words, [words], are scored as antecedents whatever their rough scores.
        """
        pairs: Pairs = self.rough_scorer(words, document_rows(documents), always)
        current, antecedent, device = pairs.current, pairs.antecedent, words.device
        speakers = torch.tensor([n for d in documents for n in d.speakers], device=device)
        genres = torch.tensor([d.genre for d in documents for _ in range(d.words)], device=device)
        features = self.pair_features(
            speakers[current] == speakers[antecedent], current - antecedent, genres[current]
        )
        scores = pairs.scores + self.anaphoricity_scorer(words, pairs, features)
        _require_finite(scores, current, documents)
        return replace(pairs, scores=scores)

    def head_spans(
        self, words: Tensor, heads: Iterable[int], documents: Sequence[TokenizedDocument]
    ) -> dict[int, Span]:
        """Return the span of each head; heads and spans are rows of the table of words."""
        table = head_table(sorted(heads), documents)
        if not table:
            return {}
        rows = torch.tensor(table, device=words.device)
        scores = self.span_predictor(words, rows)
        _require_finite(scores, rows[:, 0], documents)
        return {head.word: span for head, span in zip(table, best_spans(scores, rows), strict=True)}


def document_rows(documents: Sequence[TokenizedDocument]) -> list[Span]:
    """Return which rows of the batch's table of words are each document's."""
    borders = accumulate((document.words for document in documents), initial=0)
    return [Span(*rows) for rows in pairwise(borders)]


def best_links(pairs: Pairs) -> dict[int, int]:
    """Return for each word that has one its best antecedent, the words in ascending order."""
    links: dict[int, int] = {}
    best: dict[int, float] = {}
    columns = (pairs.current.tolist(), pairs.antecedent.tolist(), pairs.scores.tolist())
    for word, antecedent, score in zip(*columns, strict=True):
        if score > best.get(word, DUMMY):
            best[word], links[word] = score, antecedent
    return links


def connected(links: dict[int, int]) -> list[list[int]]:
    """Return the connected components of links from later to earlier words, each ascending.

    >>> connected({4: 1, 5: 3, 6: 4})
    [[1, 4, 6], [3, 5]]
    """
    cluster_of: dict[int, list[int]] = {}
    for word in sorted(links):
        # every word has one link, backwards: its antecedent's cluster is already there, or begins
        cluster = cluster_of.setdefault(links[word], [links[word]])
        cluster.append(word)
        cluster_of[word] = cluster
    return sorted({cluster[0]: cluster for cluster in cluster_of.values()}.values())


def head_table(heads: Sequence[int], documents: Sequence[TokenizedDocument]) -> list[Head]:
    """Describe ascending heads, given as rows of the table of words, to the span predictor."""
    rows = document_rows(documents)
    sentences = []
    for head in heads:
        index = _document_at(rows, head)
        first = rows[index].start
        start, end = documents[index].sentence_of(head - first)
        sentences.append((index, head, first + start, first + end))
    widths: dict[int, int] = {}
    for index, _, start, end in sentences:
        widths[index] = max(end - start, widths.get(index, 0))
    return [Head(head, start, end, widths[index]) for index, head, start, end in sentences]


def _document_at(rows: Sequence[Span], word: int) -> int:
    return bisect_right(rows, word, key=lambda span: span.start) - 1


def _require_finite(
    scores: Tensor, word_of: Tensor, documents: Sequence[TokenizedDocument]
) -> None:
    finite = scores.isfinite().flatten(1).all(1) if scores.dim() > 1 else scores.isfinite()
    if not finite.all():
        word = int(word_of[~finite][0])
        raise NonFiniteScoresError(_document_at(document_rows(documents), word))

"""Which words corefer: word vectors, rough and final scores of word pairs.

Parameters have the checkpoint's names, and each class says which entry of it holds them. The
pairs of a whole batch are in one list, so that nothing is padded.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from pronominal.spans import Span

DROPOUT = 0.3
"""Share of the numbers that are hidden while the model learns, as upstream trained it."""

PAIRS_AT_ONCE = 8192
"""How many pairs go through the anaphoricity scorer at once; it bounds memory only."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Candidate links between words, given as rows of a batch's table of words.

    Attributes:
        current: the later word of each pair, [pairs], ascending inside a document.
        antecedent: the earlier word, [pairs]; the most promising ones of a word first.
        scores: [pairs]; a link needs more than the dummy's score.
    """

    current: Tensor
    antecedent: Tensor
    scores: Tensor


class WordAttention(nn.Module):
    """Makes a word's vector out of its subwords' vectors (``we``)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.attn = nn.Linear(size, 1)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, states: Tensor, word_of: Tensor, words: int) -> Tensor:
        """Average each word's subwords, weighted by a softmax over them alone, to [words, hidden].

        `states` are [subwords, hidden]; `word_of`, [subwords], is the word of each.
        """
        scores = self.attn(states).squeeze(1)
        highest = scores.new_full((words,), -torch.inf).scatter_reduce(0, word_of, scores, "amax")
        weights = (scores - highest[word_of]).exp()
        weights = weights / weights.new_zeros(words).index_add(0, word_of, weights)[word_of]
        vectors = states.new_zeros(words, states.shape[1]).index_add(
            0, word_of, weights[:, None] * states
        )
        dropped: Tensor = self.dropout(vectors)
        return dropped


class RoughScorer(nn.Module):
    """Scores all pairs with a bilinear form and keeps the best (``rough_scorer``)."""

    def __init__(self, size: int, kept: int) -> None:
        super().__init__()
        self.bilinear = nn.Linear(size, size)
        self.dropout = nn.Dropout(DROPOUT)
        self.kept = kept

    def all_pairs(self, words: Tensor) -> Tensor:
        """Return the scores of every word (row) with every other, [words, words]."""
        scores: Tensor = self.dropout(self.bilinear(words)) @ words.T
        return scores

    def forward(
        self, words: Tensor, documents: Sequence[Span], always: Tensor | None = None
    ) -> Pairs:
        """Keep each word's best earlier words in its own document.

        `words` are [words, hidden], those of all documents; `documents` the rows of each. Those
        that `always` says, [words], are kept before better ones.
        """
        kept = [
            self._best(words[start:end], start, None if always is None else always[start:end])
            for start, end in documents
        ]
        return Pairs(*(torch.cat(parts) for parts in zip(*kept, strict=True)))

    def _best(
        self, words: Tensor, first: int, always: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        count = len(words)
        own = torch.arange(count, device=words.device)[:, None]
        scores = self.all_pairs(words)
        ranked = scores if always is None else scores.masked_fill(always, torch.inf)
        ranked = ranked.masked_fill(own <= own.T, -torch.inf)
        antecedent = ranked.topk(min(self.kept, count)).indices
        earlier = antecedent < own
        current = own.expand_as(antecedent)
        best = scores.gather(1, antecedent)
        return first + current[earlier], first + antecedent[earlier], best[earlier]


class PairFeatures(nn.Module):
    """Embeds speaker, distance and genre of a pair (``pw``)."""

    def __init__(self, size: int, genres: int) -> None:
        super().__init__()
        self.genre_emb = nn.Embedding(genres, size)
        self.distance_emb = nn.Embedding(9, size)
        self.speaker_emb = nn.Embedding(2, size)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, same_speaker: Tensor, distance: Tensor, genre: Tensor) -> Tensor:
        """Return [pairs, 3 * size].

        Args:
            same_speaker: whether the two words have one speaker, [pairs].
            distance: how many words lie between their beginnings, at least 1, [pairs].
            genre: the document's genre, [pairs].
        """
        # one bin each for 1 to 4, then 5-7, 8-15, 16-31, 32-63, 64 and more
        borders = torch.tensor([2, 3, 4, 5, 8, 16, 32, 64], device=distance.device)
        binned = torch.bucketize(distance, borders, right=True)
        speakers, distances = self.speaker_emb(same_speaker.long()), self.distance_emb(binned)
        features: Tensor = self.dropout(
            torch.cat([speakers, distances, self.genre_emb(genre)], dim=1)
        )
        return features


class AnaphoricityScorer(nn.Module):
    """Scores a pair from both words, their product and their features (``a_scorer``)."""

    def __init__(self, size: int, features: int, hidden_size: int, layers: int) -> None:
        super().__init__()
        sizes = [3 * size + features, *[hidden_size] * layers]
        parts: list[nn.Module] = []
        for inputs, outputs in pairwise(sizes):
            parts += [nn.Linear(inputs, outputs), nn.LeakyReLU(), nn.Dropout(DROPOUT)]
        self.hidden = nn.Sequential(*parts)
        self.out = nn.Linear(sizes[-1], 1)

    def forward(self, words: Tensor, pairs: Pairs, features: Tensor) -> Tensor:
        """Return the scores to add to the rough ones, [pairs].

        The first layer reads [current; antecedent; product; features]. It is applied part by part,
        so that what depends on one word is computed once a word and not once a pair.
        """
        layers: list[Any] = [*self.hidden, self.out]
        first, *rest = layers
        size = words.shape[1]
        current, antecedent, product, other = torch.split(
            first.weight, [size, size, size, features.shape[1]], dim=1
        )
        as_current = words @ current.T + first.bias
        as_antecedent = words @ antecedent.T
        scores = []
        for start in range(0, len(features), PAIRS_AT_ONCE):
            part = slice(start, start + PAIRS_AT_ONCE)
            i, j = pairs.current[part], pairs.antecedent[part]
            layer = as_current[i] + as_antecedent[j]
            layer += (words[i] * words[j]) @ product.T + features[part] @ other.T
            for following in rest:
                layer = following(layer)
            scores.append(layer.squeeze(1))
        return torch.cat(scores) if scores else features.new_empty(0)

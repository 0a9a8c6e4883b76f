"""neuralcoref behind the interface of all clustering systems."""

from collections.abc import Sequence

import numpy as np
from spacy.tokens import Doc

from pronominal.adapters.checkpoints.spacy_pipelines import open_spacy
from pronominal.adapters.contract.refusals import RefusedTextError, scores_not_finite
from pronominal.adapters.contract.self_check import announce, check_clusters
from pronominal.adapters.contract.systems import contract_clusters, refuse_bare_string
from pronominal.adapters.neuralcoref.features import (
    GENRE_WIDTH,
    candidate_pairs,
    pair_features,
    single_features,
)
from pronominal.adapters.neuralcoref.mentions import Mention, find_mentions
from pronominal.adapters.neuralcoref.network import Floats, Indices, score_mentions, score_pairs
from pronominal.adapters.neuralcoref.weights import open_weights
from pronominal.adapters.neuralcoref.word_vectors import DocumentVectors
from pronominal.adapters.words.english import in_characters
from pronominal.errors import InputError
from pronominal.spans import Cluster, Document, Span


class Parses:
    """A spaCy pipeline with a tagger and a parser."""

    def __init__(self, pipeline: str) -> None:
        self._spacy = open_spacy(pipeline, "name another as pipeline")
        parsed = self._spacy("Anna said that she was tired.")
        # what mentions are found by; entities are read where there are any
        for annotation in ("TAG", "POS", "DEP"):
            if not parsed.has_annotation(annotation):
                raise InputError(
                    f"the spaCy pipeline gives no {annotation}",
                    cure="name one with a tagger and a parser, such as en_core_web_sm",
                    file=pipeline,
                )

    def read(self, text: str, index: int) -> Doc:
        """Parse a text; `RefusedTextError`, with its index, if the pipeline cannot read so much."""
        if len(text) > self._spacy.max_length:
            raise RefusedTextError(
                f"{len(text)} characters, and the spaCy pipeline reads at most "
                f"{self._spacy.max_length}",
                cure="split the text",
                index=index,
            )
        return self._spacy(text)

    def read_document(self, document: Document) -> Doc:
        """Parse words and sentences as they are."""
        words = [word for sentence in document.words for word in sentence]
        starts: list[bool | int | None] = [
            place == 0 for sentence in document.words for place in range(len(sentence))
        ]
        return self._spacy(Doc(self._spacy.vocab, words=words, sent_starts=starts))


class NeuralCoref:
    """neuralcoref 4.0: each mention is linked to its best antecedent, or begins an entity.

    Args:
        checkpoint: the folder of the published weights, with ``cfg`` and ``single_model``.
        pipeline: name or folder of a spaCy pipeline that tags and parses English.
        greedyness: in [0, 1]; from above 0.5, mentions are linked whose scores speak against it.
        max_dist: how many mentions back an antecedent may lie.
        max_dist_match: the same for one that shares a noun.
        blacklist: leave out *I*, *me*, *my*, *you* and *your*.
    """

    name = "neuralcoref"
    engine = "numpy"
    dtype, device = "float32", "cpu"

    def __init__(
        self,
        checkpoint: str,
        *,
        pipeline: str = "en_core_web_sm",
        greedyness: float = 0.5,
        max_dist: int = 50,
        max_dist_match: int = 500,
        blacklist: bool = True,
    ) -> None:
        if not 0 <= greedyness <= 1:
            raise InputError(f"greedyness is {greedyness}", cure="write a number from 0 to 1")
        if max_dist < 0 or max_dist_match < 0:
            raise InputError("a distance is below 0", cure="write 0 or more mentions")
        self._weights = open_weights(checkpoint)
        self.checkpoint = self._weights.checkpoint
        layers = (*self._weights.single, *self._weights.pairs)
        self.parameters = sum(layer.weights.size + layer.bias.size for layer in layers)
        self._parses = Parses(pipeline)
        self._handicap = np.float32(50 * (greedyness - 0.5))
        self._max_dist, self._max_dist_match = max_dist, max_dist_match
        self._blacklist = blacklist
        self.self_check = announce(check_clusters(self))

    def cluster(self, texts: Sequence[str]) -> list[list[Cluster]]:
        """Return for each text, in order, its clusters as half-open character spans."""
        refuse_bare_string(texts)
        answers = []
        for index, text in enumerate(texts):
            words = self._parses.read(text, index)
            places = [Span(word.idx, word.idx + len(word)) for word in words]
            in_words = self._cluster(words, index, "texts")
            answers.append(contract_clusters(in_characters(in_words, places)))
        return answers

    def cluster_documents(self, documents: Sequence[Document]) -> list[list[Cluster]]:
        """Return for each document, in order, its clusters as half-open spans of words."""
        return [
            self._cluster(self._parses.read_document(document), index, "documents")
            for index, document in enumerate(documents)
        ]

    def _cluster(self, parsed: Doc, index: int, among: str) -> list[Cluster]:
        mentions = find_mentions(parsed, self._blacklist)
        if not mentions:
            return []
        words = DocumentVectors(parsed, self._weights.static, self._weights.tuned)
        vectors = np.stack([words.of(mention) for mention in mentions])
        pairs = candidate_pairs(mentions, self._max_dist, self._max_dist_match)
        alone, together = self._score(mentions, vectors, *pairs)
        if not (np.isfinite(alone).all() and np.isfinite(together).all()):
            raise scores_not_finite(index, self.checkpoint.name, among)
        antecedents = _best_antecedents(alone - self._handicap, together, *pairs)
        return [
            [Span(mentions[number].start, mentions[number].end) for number in numbers]
            for numbers in _merged(antecedents)
        ]

    def _score(
        self, mentions: Sequence[Mention], vectors: Floats, earlier: Indices, later: Indices
    ) -> tuple[Floats, Floats]:
        singles = single_features(mentions)
        genre = np.zeros((len(mentions), GENRE_WIDTH), dtype=np.float32)
        alone = score_mentions(self._weights.single, vectors, np.hstack([singles, genre]))
        if not len(earlier):
            return alone, np.empty(0, dtype=np.float32)
        features = pair_features(mentions, singles, earlier, later)
        return alone, score_pairs(self._weights.pairs, vectors, earlier, later, features)


def _best_antecedents(
    alone: Floats, together: Floats, earlier: Indices, later: Indices
) -> list[int]:
    """Return each mention's best antecedent; itself where none scores higher than it does alone."""
    best, scores = list(range(len(alone))), alone.copy()
    for score, antecedent, mention in zip(together, earlier, later, strict=True):
        if score > scores[mention]:
            scores[mention], best[mention] = score, int(antecedent)
    return best


def _merged(antecedents: Sequence[int]) -> list[list[int]]:
    """Return the clusters of linked mentions, each in the order in which it grew, as upstream."""
    owner = list(range(len(antecedents)))
    clusters = {number: [number] for number in owner}
    for mention, antecedent in enumerate(antecedents):
        kept, dissolved = owner[antecedent], owner[mention]
        if kept != dissolved:
            for number in clusters.pop(dissolved):
                owner[number] = kept
                clusters[kept].append(number)
    return [numbers for numbers in clusters.values() if len(numbers) > 1]

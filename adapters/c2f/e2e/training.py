"""E2E to be trained: from the beginning, or on from a checkpoint."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from torch import nn
from torch.optim.lr_scheduler import LambdaLR

from pronominal.adapters.c2f.e2e.characters import CharacterVocabulary
from pronominal.adapters.c2f.e2e.checkpoint import CONVERTED, E2EModel, open_parts, save_parts
from pronominal.adapters.c2f.e2e.embeddings import WordVectors, write_word_piece_vectors
from pronominal.adapters.c2f.e2e.encoder import WordInputs, WordReader, word_units
from pronominal.adapters.c2f.e2e.settings import BEST, E2EConfig, config_of, encoder_config
from pronominal.adapters.c2f.e2e.training_settings import E2ETraining
from pronominal.adapters.c2f.elmo.vectors import ElmoVectors
from pronominal.adapters.c2f.elmo.weights import read_elmo, weight_file
from pronominal.adapters.c2f.head.units import AntecedentScores, Units
from pronominal.adapters.c2f.learning.documents import TrainingDocument
from pronominal.adapters.c2f.learning.optimisers import EpsilonHatAdam, LookupNorms, Optimisation
from pronominal.adapters.c2f.learning.settings import Size
from pronominal.adapters.c2f.learning.training import TrainableCoarseToFine
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.checkpoints.transformers_models import torch_device
from pronominal.adapters.training.trainable import Corpus
from pronominal.adapters.words.pronoun_forms import warn_of_split_forms
from pronominal.checksums import file_sha256
from pronominal.spans import Document

SIZES: dict[Size, dict[str, Any]] = {
    "published": {},
    "small": {
        "filter_size": 16,
        "contextualization_size": 64,
        "contextualization_layers": 1,
        "feature_size": 10,
        "ffnn_size": 64,
        "max_span_width": 10,
        "max_top_antecedents": 25,
    },
}
"""What differs from upstream's ``best``. ``small`` learns sentences and short passages in minutes
on one CPU: a third of the LSTM's width and one layer of it, narrow scorers, spans of ten words."""

WINDOW = 50
"""Sentences that a training step sees of a document (upstream's ``max_training_sentences``)."""

EMBEDDINGS = "embeddings.txt"
"""Where the vectors are that were made of an encoder's word pieces."""

WHOLE_FILE = 1 << 28
"""Embedding files up to so many bytes are kept whole; of others, the words of the data."""


class TrainableE2E(TrainableCoarseToFine):
    """E2E, its embeddings and characters, and how it learns.

    Args:
        asked: the settings.
        config: sizes.
        reader: embeddings and characters.
        words: the words of all data, whose embeddings are kept.
        begins_with: digests of the files that the training begins with.
        elmo: vectors of ELMo, where the config has some.
        model: to begin with; None draws one.
    """

    name: ClassVar[str] = "e2e"
    asked: E2ETraining

    def __init__(  # noqa: PLR0913 - each one is read from a file of its own
        self,
        asked: E2ETraining,
        config: E2EConfig,
        reader: WordReader,
        words: Iterable[str],
        begins_with: Mapping[str, str],
        *,
        elmo: ElmoVectors | None = None,
        model: E2EModel | None = None,
    ) -> None:
        window = int(config.table.get("max_training_sentences", WINDOW))
        super().__init__(asked, config.head, window, "every epoch", begins_with)
        self.config = config
        self.files = (reader.context, reader.head)
        self._words = sorted(set(words))
        self._elmo = elmo
        self._model = model
        context = _KnownVectors(reader.context, self._words)
        same = reader.head is reader.context
        head = context if same else _KnownVectors(reader.head, self._words)
        self.reader = WordReader(context, head, reader.vocabulary)
        warn_of_split_forms(asked.further_pronouns, self.name, self._as_read)

    def _as_read(self, word: str) -> list[str | None]:
        """Return the word, which is never cut; None for it without vector and known letters."""
        known = any(file.vectors([word]).any() for file in self.files)
        return [word if known or any(self.reader.vocabulary.numbers(word)) else None]

    def new_model(self) -> E2EModel:
        """Return the model to train on, or a new one as upstream draws it."""
        if self._model is not None:
            return deepcopy(self._model).requires_grad_(True)
        encoder = encoder_config(self.config.table, len(self.reader.vocabulary))
        model = E2EModel(encoder, self.config.head)
        model.encoder.reset_parameters()
        model.head.reset_parameters()
        return model

    def units(self, document: Document, place: str) -> Units:
        """Return the words of a document."""
        return word_units(document, self.config.head.genres, place)

    def scores(
        self, model: nn.Module, documents: Sequence[TrainingDocument]
    ) -> list[AntecedentScores]:
        """Return the scores of each document."""
        scores: list[AntecedentScores] = model(
            self.inputs(documents), [document.units for document in documents]
        )
        return scores

    def inputs(self, documents: Sequence[TrainingDocument]) -> list[WordInputs]:
        """Return what the encoder reads of documents or windows, padded as the whole ones."""
        inputs = []
        layers = self._elmo.layers([d.document for d in documents]) if self._elmo else None
        for index, document in enumerate(documents):
            own = None if layers is None else layers[index]
            if own is not None:
                own = own[document.first_unit : document.first_unit + len(document.units)]
            inputs.append(self.reader.read(document.units, own, document.longest))
        return inputs

    def optimisation(self, model: nn.Module, updates: int) -> Optimisation:
        """Return upstream's one optimiser; how long the training lasts does not change it."""
        rates = self.asked.rates
        optimiser = EpsilonHatAdam(model.parameters(), rates.learning_rate, eps=1e-8)
        LookupNorms(model).clip_before_step(optimiser, rates.clip)
        schedule = LambdaLR(optimiser, lambda update: rates.decay ** (update // rates.decay_every))
        return [optimiser], [schedule]

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write a checkpoint that needs nothing else but ELMo."""
        _, context, head = CONVERTED
        names = (context, context if self.files[0] is self.files[1] else head)
        embeddings = {}
        for which, name, vectors in zip(("context", "head"), names, self.files, strict=True):
            whole = vectors.file.stat().st_size <= WHOLE_FILE
            embeddings[which] = (name, vectors, None if whole else self._words)
        table = {**self.config.table, "max_training_sentences": self.window}
        save_parts(folder, table, model, self.reader.vocabulary, embeddings)


def open_e2e(asked: E2ETraining, corpus: Corpus) -> TrainableE2E:
    """Return the system of a checkpoint, or a new one.

    With ``elmo_weights``, ELMo's vectors come from there; without, from what a checkpoint's config
    names, among which every document with a key has to be; a document without one has zeros, and so
    has every document where there are no such vectors.

    Args:
        asked: the settings.
        corpus: the words of the training set, whose characters get vectors, and those of all data,
            whose embeddings are kept; its folder gets `EMBEDDINGS` where these are made.

    Raises:
        InputError: a file is missing or damaged.
    """
    weights = None if asked.elmo_weights is None else Path(asked.elmo_weights)
    digests = {} if weights is None else {"elmo_weights": file_sha256(weight_file(weights))}
    if asked.checkpoint is not None:
        return _on_from(asked, asked.checkpoint, corpus, digests)
    elmo = None
    lm_size, lm_layers = 0, BEST["lm_layers"]
    if weights is not None:
        lm_size, lm_layers = shape = read_elmo(weights).shape
        elmo = _elmo("e2e", shape, weights)
    files = dict(zip(("context", "head"), _embedding_files(asked, corpus), strict=True))
    table = {**BEST, **SIZES[asked.drawn_size], "lm_size": lm_size, "lm_layers": lm_layers}
    vectors = {file: WordVectors(file, _vector_size(file)) for file in {*files.values()}}
    for which, file in files.items():
        table[f"{which}_embeddings"] = {"path": str(file), "size": vectors[file].size}
        digests[f"{which}_embeddings"] = file_sha256(file)
    # a line of the vocabulary's file is stripped when it is read
    characters = sorted({c for c in chain.from_iterable(corpus.learnt) if c.strip()})
    context, head = (vectors[file] for file in files.values())
    reader = WordReader(context, head, CharacterVocabulary(characters))
    return TrainableE2E(asked, config_of(table), reader, corpus.words, digests, elmo=elmo)


def _on_from(
    asked: E2ETraining, checkpoint: str, corpus: Corpus, digests: Mapping[str, str]
) -> TrainableE2E:
    parts = open_parts(checkpoint)
    encoder = parts.model.encoder.config
    weights = None if asked.elmo_weights is None else Path(asked.elmo_weights)
    shape = encoder.elmo_size, encoder.elmo_layers
    elmo = _elmo(f"e2e ({checkpoint})", shape, weights, parts.elmo_cache)
    begins_with = {"checkpoint": parts.checkpoint.digest, **digests}
    known = elmo if encoder.elmo_size else None
    return TrainableE2E(
        asked, parts.config, parts.reader, corpus.words, begins_with, elmo=known, model=parts.model
    )


def _elmo(
    system: str, shape: tuple[int, int], weights: Path | None, cache: Any = None
) -> ElmoVectors:
    return ElmoVectors(system, shape, cache=cache, weights=weights, device=torch_device(None))


def _embedding_files(asked: E2ETraining, corpus: Corpus) -> tuple[Path, Path]:
    if asked.embeddings_of is not None:
        size = asked.embedding_size or asked.usual_embedding_size
        file = corpus.out / EMBEDDINGS
        write_word_piece_vectors(asked.embeddings_of, corpus.words, size, file)
        return file, file
    assert asked.context_embeddings is not None
    return Path(asked.context_embeddings), Path(asked.head_embeddings or asked.context_embeddings)


def _vector_size(file: Path) -> int:
    cause, cure = "no word vectors could be read", "give GloVe's text file"
    with (
        input_error_on(OSError, cause=cause, cure=cure, file=file, quoted=False),
        file.open("rb") as lines,
    ):
        return len(lines.readline().rstrip().split(b" ")) - 1


class _KnownVectors(WordVectors):
    """The vectors of some words, looked up once and kept in memory."""

    def __init__(self, source: WordVectors, words: Sequence[str]) -> None:
        self.file, self.size = source.file, source.size
        self._row_of = {word: row for row, word in enumerate(words, start=1)}
        self._table = np.concatenate(
            [np.zeros((1, source.size), np.float32), source.vectors(words)]
        )

    def __len__(self) -> int:
        return len(self._row_of)

    def vectors(self, words: Sequence[str]) -> np.ndarray:
        """Return the words' vectors; zeros for words that are not among those."""
        rows = [self._row_of.get(word, 0) for word in words]
        return self._table[rows].reshape(len(words), self.size)

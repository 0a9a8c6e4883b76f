"""E2E to be trained: from the beginning, or on from a checkpoint."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from pronominal.adapters.c2f.e2e.characters import CharacterVocabulary
from pronominal.adapters.c2f.e2e.checkpoint import CONVERTED, WEIGHTS, E2EModel, open_parts
from pronominal.adapters.c2f.e2e.embeddings import WordVectors
from pronominal.adapters.c2f.e2e.encoder import WordInputs, WordReader
from pronominal.adapters.c2f.e2e.settings import BEST, FORMAT, E2EConfig, config_of
from pronominal.adapters.c2f.e2e.words import word_units
from pronominal.adapters.c2f.elmo.vectors import ElmoVectors
from pronominal.adapters.c2f.head.unit_batch import spans_to_keep
from pronominal.adapters.c2f.head.units import AntecedentScores, Units
from pronominal.adapters.c2f.learning.documents import TrainingDocument
from pronominal.adapters.c2f.learning.optimisers import E2ERates, Optimisation, e2e_optimisation
from pronominal.adapters.c2f.learning.training import Size
from pronominal.adapters.c2f.learning.windows import Drawn
from pronominal.adapters.checkpoints.files import write_json
from pronominal.adapters.checkpoints.tensors import write_tensors
from pronominal.adapters.checkpoints.transformers_models import torch_device
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

WHOLE_FILE = 1 << 28
"""Embedding files up to so many bytes are kept whole; of others, the words of the data."""


class E2ETrainee:
    """E2E, its embeddings and characters, and how it learns.

    Args:
        config: sizes.
        reader: embeddings and characters.
        rates: how fast it learns.
        words: the words of all data, whose embeddings are kept.
        elmo: vectors of ELMo, where the config has some.
        model: to begin with; None draws one.

    Attributes:
        digest: identifies the checkpoint that the training begins with; empty without one.
    """

    system = "e2e"
    drawn: Drawn = "every epoch"

    def __init__(
        self,
        config: E2EConfig,
        reader: WordReader,
        rates: E2ERates,
        words: Iterable[str],
        elmo: ElmoVectors | None = None,
        model: E2EModel | None = None,
    ) -> None:
        self.digest = ""
        self.window = int(config.table.get("max_training_sentences", WINDOW))
        self.config = config
        self.rates = rates
        self.files = (reader.context, reader.head)
        self._words = sorted(set(words))
        self._elmo = elmo
        self._model = model
        context = _KnownVectors(reader.context, self._words)
        same = reader.head is reader.context
        head = context if same else _KnownVectors(reader.head, self._words)
        self.reader = WordReader(context, head, reader.vocabulary)

    def new_model(self) -> E2EModel:
        """Return a model to begin with; what is drawn comes from torch's random numbers."""
        if self._model is not None:
            return deepcopy(self._model).requires_grad_(True)
        model = E2EModel(self.config.encoder(len(self.reader.vocabulary)), self.config.head)
        model.encoder.reset_parameters()
        model.head.reset_parameters()
        return model

    def units(self, document: Document, place: str) -> Units:
        """Return what the encoder reads of a document.

        Raises:
            InputError: its genre does not exist, or its speakers are not one for each word.
        """
        return word_units(document, self.config.head.genres, place)

    def scores(
        self, model: nn.Module, documents: Sequence[TrainingDocument]
    ) -> list[AntecedentScores]:
        """Return the scores of each document."""
        found: list[AntecedentScores] = model(
            self.inputs(documents), [document.units for document in documents]
        )
        return found

    def inputs(self, documents: Sequence[TrainingDocument]) -> list[WordInputs]:
        """Return what the encoder reads of documents or windows, padded as the whole ones."""
        found = []
        layers = self._elmo.layers([d.document for d in documents]) if self._elmo else None
        for index, document in enumerate(documents):
            own = None if layers is None else layers[index]
            if own is not None:
                own = own[document.first_unit : document.first_unit + len(document.units)]
            found.append(self.reader.read(document.units, own, document.longest))
        return found

    def spans_to_keep(self, units: int) -> int:
        """Return how many spans of a document of so many words are kept."""
        return spans_to_keep(units, self.config.head)

    def optimisation(self, model: nn.Module, updates: int) -> Optimisation:
        """Return upstream's optimiser; how long the training lasts does not change it."""
        return e2e_optimisation(model, self.rates)

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write a checkpoint that needs nothing else but ELMo."""
        vocabulary, *embeddings = CONVERTED
        table = {**self.config.table, "format": FORMAT, "char_vocab_path": vocabulary}
        table |= {"lm_path": "", "max_training_sentences": self.window}
        same = self.files[0] is self.files[1]
        names = (embeddings[0], embeddings[0] if same else embeddings[1])
        for which, name, vectors in zip(("context", "head"), names, self.files, strict=True):
            table[f"{which}_embeddings"] = {"path": name, "size": vectors.size}
            whole = vectors.file.stat().st_size <= WHOLE_FILE
            vectors.save(folder / name, None if whole else self._words)
        write_json(folder / "config.json", table)
        self.reader.vocabulary.save(folder / vocabulary)
        write_tensors(folder / WEIGHTS[0], model.state_dict())


def e2e_from_scratch(  # noqa: PLR0913 - each one is an option of the command
    size: Size,
    rates: E2ERates,
    *,
    words: Sequence[str],
    learnt: Sequence[str],
    context: tuple[Path, int],
    head: tuple[Path, int],
    elmo: ElmoVectors | None = None,
) -> E2ETrainee:
    """Return a system without weights.

    Args:
        size: one of `SIZES`.
        rates: how fast it learns.
        words: of all data, whose embeddings are kept.
        learnt: of the training data; their characters get vectors.
        context: file of the embeddings that the LSTM reads, and their size.
        head: likewise, of those that head attention averages.
        elmo: where ELMo's vectors come from; None for a system without ELMo.
    """
    lm_size, lm_layers = elmo.shape if elmo is not None else (0, BEST["lm_layers"])
    table = {**BEST, **SIZES[size], "lm_size": lm_size, "lm_layers": lm_layers}
    table["context_embeddings"] = {"path": str(context[0]), "size": context[1]}
    table["head_embeddings"] = {"path": str(head[0]), "size": head[1]}
    vectors = WordVectors(*context)
    # a line of the vocabulary's file is stripped when it is read
    characters = sorted({c for c in chain.from_iterable(learnt) if c.strip()})
    reader = WordReader(
        vectors,
        vectors if head == context else WordVectors(*head),
        CharacterVocabulary(characters),
    )
    return E2ETrainee(config_of(table), reader, rates, words, elmo)


def e2e_from_checkpoint(
    checkpoint: str, rates: E2ERates, words: Iterable[str], elmo_weights: str | None = None
) -> E2ETrainee:
    """Return a system with weights, to be trained on.

    Args:
        checkpoint: its folder or Hub id.
        rates: how fast it learns.
        words: of all data, whose embeddings are kept.
        elmo_weights: ELMo's weight file or folder; without, the vectors that the checkpoint's
            config names, which every document with a key has to be among; a document without one
            has zeros, and so has every document where there are no such vectors.

    Raises:
        InputError: the checkpoint cannot be read.
    """
    parts = open_parts(checkpoint)
    size, layers = parts.model.encoder.config.elmo_size, parts.model.encoder.config.elmo_layers
    elmo = ElmoVectors(
        f"e2e ({checkpoint})",
        (size, layers),
        cache=parts.elmo_cache,
        weights=None if elmo_weights is None else Path(elmo_weights),
        device=torch_device(None),
    )
    model = parts.model
    trainee = E2ETrainee(parts.config, parts.reader, rates, words, elmo if size else None, model)
    trainee.digest = parts.checkpoint.digest
    return trainee


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

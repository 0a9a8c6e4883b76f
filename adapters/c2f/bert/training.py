"""BERT and SpanBERT to be trained: an encoder under a new head, or on from a checkpoint."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transformers
from torch import nn

from pronominal.adapters.c2f.bert.checkpoint import canonical_tensors, open_parts
from pronominal.adapters.c2f.bert.encoder import TransformerModel
from pronominal.adapters.c2f.bert.pieces import FRAME, VOCABULARIES, WordPieces, framed, segments
from pronominal.adapters.c2f.bert.settings import FORMAT, LIMITED, PUBLISHED, head_config
from pronominal.adapters.c2f.bert.spanbert import SpanBERT
from pronominal.adapters.c2f.bert.weights import FILES
from pronominal.adapters.c2f.head.unit_batch import spans_to_keep
from pronominal.adapters.c2f.head.units import AntecedentScores, Units
from pronominal.adapters.c2f.learning.documents import TrainingDocument
from pronominal.adapters.c2f.learning.optimisers import (
    Optimisation,
    Recipe,
    TransformerRates,
    transformer_optimisation,
)
from pronominal.adapters.c2f.learning.training import Size
from pronominal.adapters.c2f.learning.windows import Drawn
from pronominal.adapters.checkpoints.encoders import pretrained
from pronominal.adapters.checkpoints.files import open_checkpoint, write_json
from pronominal.adapters.checkpoints.tensors import write_tensors
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.spans import Document

SPANBERT_BASE: dict[str, Any] = {
    **PUBLISHED,
    "max_segment_len": 384,
    "max_training_sentences": 3,
    "feature_emb_size": 20,
    "ffnn_size": 3000,
    "ffnn_depth": 1,
    "max_span_width": 30,
    "coref_depth": 2,
    "use_width_prior": True,
    "use_distance_prior": True,
    "use_segment_distance": True,
}
"""The keys of coref-hoi's configuration ``spanbert_base``, with the published depth of 2."""

SIZES: dict[Size, dict[str, Any]] = {
    "published": {},
    "small": {
        "feature_emb_size": 10,
        "ffnn_size": 150,
        "max_span_width": 10,
        "max_top_antecedents": 25,
    },
}
"""What differs from `SPANBERT_BASE`. ``small`` is a head for short texts and one CPU."""


@dataclass(frozen=True, slots=True)
class _Start:
    """What a training begins with: an encoder, or a whole model."""

    model: TransformerModel
    tokenizer: WordPieces
    table: dict[str, Any]
    pretrained: bool
    digest: str


class TransformerTrainee:
    """A transformer encoder under the coarse-to-fine head, and how it learns.

    Args:
        start: what `transformer_from_encoder` or `transformer_from_checkpoint` found.
        recipe: whose optimisers, windows and initialisation it learns with.
        rates: how fast.

    Attributes:
        digest: identifies the files that the training begins with.
    """

    system = "spanbert"

    def __init__(self, start: _Start, recipe: Recipe, rates: TransformerRates) -> None:
        self.digest = start.digest
        self.recipe = recipe
        self.rates = rates
        self.window = int(start.table["max_training_sentences"])
        self.drawn: Drawn = "every epoch" if recipe == "tensorflow" else "once"
        self._start = start
        self._capacity = int(start.table["max_segment_len"]) - FRAME

    def new_model(self) -> TransformerModel:
        """Return a model to begin with; what is drawn comes from torch's random numbers."""
        model = deepcopy(self._start.model).requires_grad_(True)
        if self._start.pretrained:
            model.head.reset_parameters()
        return model

    def units(self, document: Document, place: str) -> Units:
        """Return what the encoder reads of a document.

        Raises:
            InputError: its speakers are not one for each word.
        """
        pieces = self._start.tokenizer.read(document, place)
        cut = segments(pieces, self._capacity)
        return framed(pieces, cut, document.genre, document.key)

    def scores(
        self, model: nn.Module, documents: Sequence[TrainingDocument]
    ) -> list[AntecedentScores]:
        """Return the scores of each document."""
        found: list[AntecedentScores] = model([document.units for document in documents])
        return found

    def spans_to_keep(self, units: int) -> int:
        """Return how many spans of a document of so many pieces are kept."""
        return spans_to_keep(units, self._start.model.head.config)

    def optimisation(self, model: nn.Module, updates: int) -> Optimisation:
        """Return the recipe's optimisers."""
        return transformer_optimisation(model, self.recipe, self.rates, updates)

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write a checkpoint in the form that ``pronominal convert c2f`` writes."""
        assert isinstance(model, TransformerModel)
        (file,) = FILES["safetensors"]
        self._start.tokenizer.save(folder)
        write_json(folder / "config.json", {**self._start.table, "format": FORMAT})
        write_json(folder / "bert_config.json", model.encoder.config.to_dict())
        write_tensors(folder / file, canonical_tensors(model))


def transformer_from_encoder(
    encoder: str, size: Size, recipe: Recipe, rates: TransformerRates
) -> TransformerTrainee:
    """Return a system of a pretrained BERT or SpanBERT and a head without weights.

    Args:
        encoder: folder or Hub id, with its tokenizer.
        size: one of `SIZES`.
        recipe: whose optimisers.
        rates: how fast.

    Raises:
        InputError: it is no BERT, or a file is missing or damaged.
    """
    found = open_checkpoint(encoder, others=(*VOCABULARIES, "tokenizer_config.json"))
    bert = _bert(found.folder)
    tokenizer = WordPieces.of_checkpoint(found.folder)
    table = {**SPANBERT_BASE, **SIZES[size], LIMITED: recipe == "tensorflow"}
    longest = bert.config.max_position_embeddings
    table["max_segment_len"] = min(table["max_segment_len"], longest)
    head = head_config(table, bert.config.hidden_size)
    model = TransformerModel(bert, tokenizer.numbers, head)
    start = _Start(model, tokenizer, table, True, found.digest)
    return TransformerTrainee(start, recipe, rates)


def transformer_from_checkpoint(
    checkpoint: str, recipe: Recipe, rates: TransformerRates
) -> TransformerTrainee:
    """Return a system with weights, to be trained on.

    Segments of a checkpoint without ``config.json`` get SpanBERT's length.

    Raises:
        InputError: the checkpoint cannot be read.
    """
    parts = open_parts(checkpoint, segment_lengths=SpanBERT.segment_lengths)
    table = {**SPANBERT_BASE, **parts.settings.table}
    start = _Start(parts.model, parts.tokenizer, table, False, parts.checkpoint.digest)
    return TransformerTrainee(start, recipe, rates)


def _bert(folder: Path) -> Any:
    cause, cure = "the encoder cannot be loaded", "give a BERT or a SpanBERT of transformers"
    with silent_transformers(), input_error_on(Exception, cause=cause, cure=cure, file=folder):
        kind = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        if kind.model_type != "bert":
            raise ValueError(f"it is a model of the type {kind.model_type}")
    model_class: Any = transformers.BertModel
    return pretrained(model_class, folder, folder, cure=cure, strict=False, add_pooling_layer=False)

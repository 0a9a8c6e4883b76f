"""BERT and SpanBERT to be trained: an encoder under a new head, or on from a checkpoint."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, ClassVar

import transformers
from torch import nn
from torch.optim import Adam, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from pronominal.adapters.c2f.bert.checkpoint import FILES, TOKENIZER, canonical_tensors, open_parts
from pronominal.adapters.c2f.bert.encoder import TransformerModel
from pronominal.adapters.c2f.bert.pieces import FRAME, UNKNOWN, WordPieces, framed, segments
from pronominal.adapters.c2f.bert.settings import FORMAT, LIMITED, PUBLISHED, head_config
from pronominal.adapters.c2f.bert.system import SpanBERT
from pronominal.adapters.c2f.bert.training_settings import TransformerTraining
from pronominal.adapters.c2f.head.units import AntecedentScores, Units
from pronominal.adapters.c2f.learning import optimisers
from pronominal.adapters.c2f.learning.documents import Drawn, TrainingDocument
from pronominal.adapters.c2f.learning.optimisers import EpsilonHatAdam, LookupNorms, Optimisation
from pronominal.adapters.c2f.learning.settings import Size
from pronominal.adapters.c2f.learning.training import TrainableCoarseToFine
from pronominal.adapters.checkpoints.encoders import pretrained
from pronominal.adapters.checkpoints.files import open_checkpoint
from pronominal.adapters.checkpoints.tensors import write_tensors
from pronominal.adapters.checkpoints.third_party import input_error_on
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.adapters.training.optimisation import decay_groups
from pronominal.adapters.training.trainable import Corpus
from pronominal.adapters.words.pronoun_forms import warn_of_split_forms
from pronominal.json_files import write_json
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

NOT_DECAYED = ("bias", "LayerNorm.weight")
"""How the names of the encoder's parameters end that weight decay leaves alone."""


class TrainableTransformer(TrainableCoarseToFine):
    """A transformer encoder under the coarse-to-fine head, and how it learns.

    Args:
        asked: the settings.
        model: to begin with; its head is drawn anew where the training begins with an encoder.
        tokenizer: of the encoder.
        table: all keys of the config.
        begins_with: digests of the files that the training begins with.
    """

    name: ClassVar[str] = "spanbert"
    asked: TransformerTraining

    def __init__(
        self,
        asked: TransformerTraining,
        model: TransformerModel,
        tokenizer: WordPieces,
        table: dict[str, Any],
        begins_with: Mapping[str, str],
    ) -> None:
        drawn: Drawn = "every epoch" if asked.recipe == "tensorflow" else "once"
        window = int(table["max_training_sentences"])
        super().__init__(asked, model.head.config, window, drawn, begins_with)
        self._model = model
        self._tokenizer = tokenizer
        self._table = table
        self._capacity = int(table["max_segment_len"]) - FRAME
        longest = self.head.max_span_width
        warn_of_split_forms(asked.further_pronouns, self.name, self._cut, longest)

    def _cut(self, word: str) -> list[str | None]:
        return [None if piece == UNKNOWN else piece for piece in self._tokenizer.of_word(word)]

    def new_model(self) -> TransformerModel:
        """Return the model to train on, or the encoder under a newly drawn head."""
        model = deepcopy(self._model).requires_grad_(True)
        if self.asked.checkpoint is None:
            model.head.reset_parameters()
        return model

    def units(self, document: Document, place: str) -> Units:
        """Return the framed word pieces of a document."""
        pieces = self._tokenizer.read(document, place)
        cut = segments(pieces, self._capacity)
        return framed(pieces, cut, document.genre, document.key)

    def scores(
        self, model: nn.Module, documents: Sequence[TrainingDocument]
    ) -> list[AntecedentScores]:
        """Return the scores of each document."""
        scores: list[AntecedentScores] = model([document.units for document in documents])
        return scores

    def optimisation(self, model: nn.Module, updates: int) -> Optimisation:
        """Return the recipe's optimisers of encoder and head, in this order."""
        rates, upstream = self.asked.rates, self.asked.recipe
        named = dict(model.named_parameters())
        encoder = {name: weight for name, weight in named.items() if name.startswith("encoder.")}
        head = [weight for name, weight in named.items() if name not in encoder]
        groups = decay_groups(encoder, rates.weight_decay, NOT_DECAYED)
        rising = int(updates * rates.warmup)
        if upstream == "tensorflow":
            first: Optimizer = EpsilonHatAdam(
                groups, rates.encoder, eps=1e-6, corrected=False, decayed="before"
            )
            # upstream's adam_eps does not reach this one, which keeps TensorFlow's
            second: Optimizer = EpsilonHatAdam(head, rates.task, eps=1e-8)
            clip_before_step = LookupNorms(model).clip_before_step
            # TensorFlow's decay counts from the first update on, and drops when the rise is over
            falling = updates
        else:
            first = EpsilonHatAdam(groups, rates.encoder, eps=1e-6)
            second = Adam(head, rates.task, eps=1e-6)
            clip_before_step = optimisers.clip_before_step
            falling = updates - rising
        for optimiser in (first, second):
            clip_before_step(optimiser, rates.clip)

        def left(update: int, falling: int) -> float:
            return max(0.0, (updates - update) / max(1, falling))

        schedules = [
            LambdaLR(first, lambda done: done / rising if done < rising else left(done, falling)),
            LambdaLR(second, lambda done: left(done, updates)),
        ]
        return [first, second], schedules

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write a checkpoint in the form that ``pronominal convert c2f`` writes."""
        assert isinstance(model, TransformerModel)
        (file,) = FILES["safetensors"]
        self._tokenizer.save(folder)
        write_json(folder / "config.json", {**self._table, "format": FORMAT})
        write_json(folder / "bert_config.json", model.encoder.bert.config.to_dict())
        write_tensors(folder / file, canonical_tensors(model))


def open_transformer(
    asked: TransformerTraining, corpus: Corpus | None = None
) -> TrainableTransformer:
    """Return the system of a checkpoint, or a pretrained BERT or SpanBERT under a new head.

    Segments of a checkpoint without ``config.json`` get SpanBERT's length.

    Args:
        asked: the settings.
        corpus: word pieces need to know nothing of the data.

    Raises:
        InputError: the checkpoint cannot be read, the encoder is no BERT, or its files are damaged.
    """
    if asked.checkpoint is not None:
        parts = open_parts(asked.checkpoint, segment_lengths=SpanBERT.segment_lengths)
        table = {**SPANBERT_BASE, **parts.settings.table}
        digests = {"checkpoint": parts.checkpoint.digest}
        return TrainableTransformer(asked, parts.model, parts.tokenizer, table, digests)
    assert asked.encoder is not None
    files = open_checkpoint(asked.encoder, others=TOKENIZER)
    bert = _bert(files.folder)
    tokenizer = WordPieces.of_checkpoint(files.folder)
    limited = asked.recipe == "tensorflow"
    table = {**SPANBERT_BASE, **SIZES[asked.drawn_size], LIMITED: limited}
    longest = bert.config.max_position_embeddings
    table["max_segment_len"] = min(table["max_segment_len"], longest)
    head = head_config(table, bert.config.hidden_size)
    model = TransformerModel(bert, tokenizer.numbers, head)
    return TrainableTransformer(asked, model, tokenizer, table, {"encoder": files.digest})


def _bert(folder: Path) -> Any:
    cause, cure = "the encoder cannot be loaded", "give a BERT or a SpanBERT of transformers"
    with silent_transformers(), input_error_on(Exception, cause=cause, cure=cure, file=folder):
        kind = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
        if kind.model_type != "bert":
            raise ValueError(f"it is a model of the type {kind.model_type}")
    model_class: Any = transformers.BertModel
    return pretrained(model_class, folder, folder, cure=cure, strict=False, add_pooling_layer=False)

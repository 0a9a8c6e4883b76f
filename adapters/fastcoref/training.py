"""LingMess and FCoref to be trained: an encoder under a new head, or on from a checkpoint."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence
from torch.optim import AdamW
from torch.optim.lr_scheduler import LambdaLR

from pronominal.adapters.checkpoints.encoders import open_encoder
from pronominal.adapters.checkpoints.files import open_checkpoint
from pronominal.adapters.checkpoints.tensors import write_tensors
from pronominal.adapters.checkpoints.transformers_models import torch_device
from pronominal.adapters.contract.refusals import NonFiniteScoresError
from pronominal.adapters.fastcoref.categories import GROUPS, pronoun_groups
from pronominal.adapters.fastcoref.documents import SubtokenDocument
from pronominal.adapters.fastcoref.fcoref import FCoref
from pronominal.adapters.fastcoref.lingmess import LingMess
from pronominal.adapters.fastcoref.package import FastcorefSystem, Parts, create_clusters
from pronominal.adapters.fastcoref.ranking import (
    ExpertRanker,
    RankedSpans,
    SpanRanker,
    SubtokenBatch,
)
from pronominal.adapters.fastcoref.training_settings import FastcorefTraining
from pronominal.adapters.training.antecedents import Targets, marginal_losses, mention_losses
from pronominal.adapters.training.optimisation import decay_groups
from pronominal.adapters.training.trainable import CardText, Corpus, Training, beginning_of
from pronominal.adapters.words.length_batches import UnitBatches, length_batches
from pronominal.adapters.words.pronoun_forms import cut_by, warn_of_split_forms
from pronominal.json_files import write_json
from pronominal.spans import AnnotatedDocument, Cluster

NOT_DECAYED = ("bias", "biases", "LayerNorm.weight")
"""How the names of parameters end that weight decay leaves alone; the norms of the head are not
among them (``trainer.py`` of fastcoref)."""

Unit = tuple[SubtokenDocument, ...]
"""Texts that stay in one batch."""

READ_AT_ONCE = 64
"""Texts that are read together where nothing is learnt."""


class TrainableFastcoref:
    """LingMess or FCoref, and how it learns.

    Args:
        asked: the settings.
        parts: the model to begin with, its tokenizer, and how long a text may be.
        begins_with: digests of the files that the training begins with.
    """

    name: ClassVar[str]
    ranker: ClassVar[type[SpanRanker]]

    def __init__(
        self, asked: FastcorefTraining, parts: Parts, begins_with: Mapping[str, str]
    ) -> None:
        self.asked = asked
        self.title = self.name
        self.begins_with = {"begins_with": dict(begins_with)}
        self._parts = parts
        self._head: dict[str, Any] = parts.model.config.coref_head
        self._padding = parts.tokenizer.pad_token_id
        longest = self._head["max_span_length"]
        warn_of_split_forms(asked.further_pronouns, self.name, cut_by(parts.tokenizer), longest)

    def new_model(self) -> SpanRanker:
        """Return the model to train on, or the encoder under a newly drawn head."""
        model = deepcopy(self._parts.model).requires_grad_(True)
        if self.asked.encoder is not None:
            draw_head(model)
        return self.ranker(model, self._parts.segment_length)

    def read(self, gold: AnnotatedDocument, place: str) -> SubtokenDocument:
        """Return a document with its gold clusters in subtokens."""
        return SubtokenDocument.read(gold, self._parts.tokenizer)

    def why_not(self, document: SubtokenDocument) -> str:
        """Say why a document cannot be learnt; empty where it can."""
        limit, origin = self._parts.limit
        if len(document) > limit:
            return f"{len(document)} subtokens, and {self.name} reads at most {limit} ({origin})"
        keeps = len(document) * self._head["top_lambda"] >= 1
        return "" if keeps else "it is too short to keep a span"

    def learn(self, units: Sequence[Unit]) -> None:
        """Take the training set, in what stays together in a batch."""
        self._batches = UnitBatches(units, self.asked.texts_in_batch, length=len)

    @property
    def updates_in_epoch(self) -> int:
        """Batches of one pass over the training set."""
        return self._batches.in_epoch

    def training(self, model: SpanRanker, *, seed: int, updates: int) -> Training:
        """Return what the loop needs to train a model: fastcoref's AdamW and schedule."""
        rates, own = self.asked.rates, model.model
        encoder = f"{own.base_model_prefix}."
        if rates.freeze_embeddings:
            own.base_model.embeddings.requires_grad_(False)
        if getattr(own.base_model, "pooler", None) is not None:
            own.base_model.pooler.requires_grad_(False)
        groups = []
        for of_encoder, rate in ((True, rates.encoder), (False, rates.task)):
            named = {
                name: weight
                for name, weight in own.named_parameters()
                if name.startswith(encoder) == of_encoder
            }
            decayed = decay_groups(named, rates.weight_decay, NOT_DECAYED)
            groups += [{**group, "lr": rate} for group in decayed]
        optimiser = AdamW(groups, betas=rates.betas, eps=rates.epsilon, fused=True)
        rising = updates * rates.warmup

        def factor(update: int) -> float:
            left = (updates - update) / max(1.0, updates - rising)
            return update / max(1.0, rising) if update < rising else max(0.0, left)

        schedule = LambdaLR(optimiser, factor)
        batches = self._batches.drawn(seed)
        return Training(model, [optimiser], [schedule], batches, self.loss, updates)

    def loss(self, model: nn.Module, units: Sequence[Unit], batch: Sequence[Unit]) -> Tensor:
        """Return a share's part of a batch's loss, as fastcoref sums it (``modeling_lingmess.py``).

        Each scorer's losses are added up over the spans of a text and divided by the spans of the
        batch's longest one; the mean over the texts is added up over the scorers.
        """
        device = next(model.parameters()).device
        documents = [*chain.from_iterable(units)]
        read = self._read(documents, device, keep_mentions=True)
        ranked: RankedSpans = model(read)
        targets, numbers = _targets(ranked, documents)
        if not ranked.scores[..., 0].isfinite().all() or ranked.mention_scores.isnan().any():
            raise NonFiniteScoresError(0)
        there = ranked.there[:, None]
        losses = (marginal_losses(ranked.scores, targets) * there).sum(1)
        partial = [not document.complete for document in documents]
        if any(partial):
            which = torch.tensor(partial, device=device)[:, None] & ranked.there
            losses = losses + mention_losses(ranked.mention_scores, numbers) * which
        if len(units) < len(batch):
            read = self._read([*chain.from_iterable(batch)], device, keep_mentions=True)
        return losses.sum() / (len(read.ids) * read.spans_to_keep(self._head["top_lambda"]).max())

    def predict(
        self, model: SpanRanker, documents: Sequence[SubtokenDocument]
    ) -> list[list[Cluster]]:
        """Return the clusters that a model finds in documents, in words."""
        device = next(model.parameters()).device
        answers: list[list[Cluster]] = [[] for _ in documents]
        lengths = [0 if self.why_not(document) else len(document) for document in documents]
        for numbers in length_batches(lengths, most=READ_AT_ONCE):
            batch = [documents[number] for number in numbers]
            ranked = model(self._read(batch, device, keep_mentions=False))
            for row, number in enumerate(numbers):
                answers[number] = documents[number].in_words(_clusters(ranked, row))
        return answers

    def _read(
        self, documents: Sequence[SubtokenDocument], device: torch.device, *, keep_mentions: bool
    ) -> SubtokenBatch:
        ids = [torch.tensor(document.ids) for document in documents]
        return SubtokenBatch(
            ids=pad_sequence(ids, batch_first=True, padding_value=self._padding).to(device),
            lengths=torch.tensor([len(document) for document in documents], device=device),
            words=[document.types for document in documents],
            kept=[
                () if document.complete or not keep_mentions else self._short(document)
                for document in documents
            ],
        )

    def _short(self, document: SubtokenDocument) -> list[Any]:
        longest = self._head["max_span_length"]
        return [span for span in document.mentions if span.end - span.start <= longest]

    def save(self, model: SpanRanker, folder: Path) -> None:
        """Write a checkpoint that fastcoref reads, too."""
        self._parts.tokenizer.save_pretrained(folder)
        own = model.model
        config = {**own.config.to_dict(), "architectures": [self._parts.architecture]}
        write_json(folder / "config.json", config)
        tensors = own.state_dict()
        write_tensors(folder / "model.safetensors", tensors, metadata={"format": "pt"})

    def card_text(self) -> CardText:
        """Return what the model card says of the system."""
        given = self.asked.checkpoint or self.asked.encoder or ""
        (digest,) = self.begins_with["begins_with"].values()
        return CardText(
            title=self._parts.architecture.removesuffix("Model"),
            summary="Clusters the mentions of a text.",
            settings=self.asked.identity(),
            beginning=beginning_of(given, digest),
            libraries=["library_name: fastcoref"],
            use=[
                "or in fastcoref, which was written for transformers 4:",
                "",
                "```python",
                f"from fastcoref import {self._parts.package_class}",
                "",
                f'predictions = {self._parts.package_class}("FOLDER").predict(texts=TEXTS)',
                "```",
                "",
            ],
        )


class TrainableLingMess(TrainableFastcoref):
    """LingMess, whose categories know the pronouns that it learns."""

    name: ClassVar[str] = "lingmess"
    ranker: ClassVar[type[SpanRanker]] = ExpertRanker

    def __init__(
        self, asked: FastcorefTraining, parts: Parts, begins_with: Mapping[str, str]
    ) -> None:
        super().__init__(asked, parts, begins_with)
        if asked.further_pronouns:
            groups = pronoun_groups(self._head.get(GROUPS), asked.further_pronouns)
            self._head[GROUPS] = groups


class TrainableFCoref(TrainableFastcoref):
    """FCoref, which encodes a long text in segments."""

    name: ClassVar[str] = "fcoref"
    ranker: ClassVar[type[SpanRanker]] = SpanRanker


def open_lingmess(asked: FastcorefTraining, corpus: Corpus | None = None) -> TrainableLingMess:
    """Return LingMess to be trained; it needs to know nothing of the data.

    Raises:
        InputError: a checkpoint or an encoder cannot be read.
    """
    return TrainableLingMess(asked, *_parts(LingMess, asked))


def open_fcoref(asked: FastcorefTraining, corpus: Corpus | None = None) -> TrainableFCoref:
    """Return FCoref to be trained; see `open_lingmess`."""
    return TrainableFCoref(asked, *_parts(FCoref, asked))


def _parts(system: type[FastcorefSystem], asked: FastcorefTraining) -> tuple[Parts, dict[str, str]]:
    if asked.checkpoint is not None:
        checkpoint = open_checkpoint(asked.checkpoint)
        parts = system.parts(checkpoint, torch_device("cpu"))
        return parts, {"checkpoint": checkpoint.digest}
    assert asked.encoder is not None
    encoder, _, files = open_encoder(asked.encoder)
    return system.new_parts(encoder, files, asdict(asked.head)), {"encoder": files.digest}


def draw_head(model: Any) -> None:
    """Draw all weights but the encoder's anew, as fastcoref and transformers draw them.

    The encoder's pooler, which nothing reads, is drawn too: not every encoder comes with one.
    """
    head = [part for name, part in model.named_children() if name != model.base_model_prefix]
    pooler = getattr(model.base_model, "pooler", None)
    for part in (*head, *([] if pooler is None else [pooler])):
        for module in part.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=model.config.initializer_range)
                nn.init.zeros_(module.bias)
            elif isinstance(module, nn.LayerNorm):
                module.reset_parameters()
    if hasattr(model, "reset_parameters"):
        model.reset_parameters()


def _targets(ranked: RankedSpans, documents: Sequence[SubtokenDocument]) -> tuple[Targets, Tensor]:
    """Return what is right for each scorer, and the number of each span's cluster."""
    numbers, opening = [], []
    starts, ends = ranked.starts.tolist(), ranked.ends.tolist()
    counts = ranked.there.sum(1).tolist()
    for row, document in enumerate(documents):
        inclusive = zip(starts[row][: counts[row]], ends[row], strict=False)
        spans = [(first, last + 1) for first, last in inclusive]
        gold, absent = document.gold, len(starts[row]) - len(spans)
        numbers.append(gold.numbers(spans) + [0] * absent)
        opening.append(gold.opening(spans) + [False] * absent)
    of_spans = torch.tensor(numbers, device=ranked.starts.device)
    scorers = ranked.scored.shape[1]
    each = of_spans[:, None].expand(-1, scorers, -1)
    first = torch.tensor(opening, device=of_spans.device)[:, None].expand_as(each)
    antecedents = each[:, :, None].expand_as(ranked.scored)
    return Targets.of(each, antecedents, ranked.scored, first), of_spans


def _clusters(ranked: RankedSpans, row: int) -> list[Sequence[tuple[int, int]]]:
    """Return a text's clusters of first and last subtokens; a tie goes to the antecedent."""
    count = int(ranked.there[row].sum())
    scores = ranked.scores[row, -1, :count]
    best = torch.cat([scores[:, 1:], scores[:, :1]], dim=1).argmax(1).tolist()
    spans = [*zip(ranked.starts[row].tolist(), ranked.ends[row].tolist(), strict=True)]
    none = scores.shape[1] - 1
    links = [(spans[i], spans[j]) for i, j in enumerate(best) if j != none]
    found: list[Sequence[tuple[int, int]]] = create_clusters(np.array(links)) if links else []
    return found

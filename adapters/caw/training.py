"""CAW to be trained: an encoder under a new head, or on from a checkpoint."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.optim import Adam
from torch.optim.lr_scheduler import LambdaLR

from pronominal.adapters.caw.checkpoint import Described, open_parts
from pronominal.adapters.caw.documents import WordLevelDocument
from pronominal.adapters.caw.learning import LearningModel, Losses
from pronominal.adapters.caw.loading import load_model, new_model, write_model
from pronominal.adapters.caw.model import Hyperparameters, WordLevelModel
from pronominal.adapters.caw.tokens import SubwordTokenizer
from pronominal.adapters.caw.training_settings import CAWTraining
from pronominal.adapters.training.trainable import CardText, Corpus, Training, beginning_of
from pronominal.adapters.words.length_batches import UnitBatches, length_batches
from pronominal.adapters.words.pronoun_forms import cut_by, warn_of_split_forms
from pronominal.spans import AnnotatedDocument, Cluster

Unit = tuple[WordLevelDocument, ...]
"""Documents that stay in one batch."""

WINDOWS_AT_ONCE = 64
"""Windows that go through the encoder together."""


class TrainableCAW:
    """CAW, and how it learns.

    Args:
        asked: the settings.
        model: to begin with; its head is drawn anew where the training begins with an encoder.
        tokenizer: of the encoder.
        described: what a checkpoint says besides its tensors.
        begins_with: digests of the files that the training begins with.
    """

    name: ClassVar[str] = "caw"

    def __init__(
        self,
        asked: CAWTraining,
        model: WordLevelModel,
        tokenizer: SubwordTokenizer,
        described: Described,
        begins_with: Mapping[str, str],
    ) -> None:
        self.asked = asked
        self.title = self.name
        self.begins_with = {"begins_with": dict(begins_with)}
        self._model = model
        self._tokenizer = tokenizer
        self._described = described
        warn_of_split_forms(asked.further_pronouns, self.name, cut_by(tokenizer.tokenizer))

    def new_model(self) -> LearningModel:
        """Return the model to train on, or the encoder under a newly drawn head."""
        model = deepcopy(self._model).requires_grad_(True)
        if self.asked.encoder is not None:
            draw_head(model)
        weight, dropout = self.asked.bce_loss_weight, self.asked.head_dropout
        return LearningModel(model, bce_weight=weight, dropout=dropout)

    def read(self, gold: AnnotatedDocument, place: str) -> WordLevelDocument:
        """Return a document with its gold heads."""
        return WordLevelDocument.read(gold, self._tokenizer, place)

    def why_not(self, document: WordLevelDocument) -> str:
        """Say why a document cannot be learnt; empty where it can."""
        return "" if document.tokenized.words > 1 else "it is too short to link a word"

    def learn(self, units: Sequence[Unit]) -> None:
        """Take the training set, in what stays together in a batch."""
        self._batches = UnitBatches(units, self.asked.texts_in_batch, length=len)
        heads = fmean(len(document.spans) for unit in units for document in unit)
        # upstream divides the losses of a document's spans by their mean number in all documents
        self._heads = max(heads, 1e-9)

    @property
    def updates_in_epoch(self) -> int:
        """Batches of one pass over the training set."""
        return self._batches.in_epoch

    def training(self, model: LearningModel, *, seed: int, updates: int) -> Training:
        """Return what the loop needs to train a model: upstream's two Adams and schedules."""
        rates, own = self.asked.rates, model.model
        transformer: Any = own.encoder.transformer
        if rates.freeze_embeddings:
            transformer.embeddings.requires_grad_(False)
        if getattr(transformer, "pooler", None) is not None:
            transformer.pooler.requires_grad_(False)
        optimisers = [
            Adam([one for one in weights if one.requires_grad], lr=rate)
            for weights, rate in (
                (transformer.parameters(), rates.encoder),
                (chain.from_iterable(part.parameters() for part in own.scorers), rates.task),
            )
        ]
        schedules = [
            LambdaLR(optimisers[0], _Rising(updates, round(updates * rates.warmup))),
            LambdaLR(optimisers[1], _Rising(updates, 0)),
        ]
        batches = self._batches.drawn(seed)
        return Training(model, optimisers, schedules, batches, self.loss, updates)

    def loss(self, model: nn.Module, units: Sequence[Unit], batch: Sequence[Unit]) -> Tensor:
        """Return what a share adds to a batch's mean over documents of upstream's loss."""
        losses: Losses = model([*chain.from_iterable(units)])
        return (losses.words + losses.spans / self._heads / 2).sum() / sum(map(len, batch))

    def predict(
        self, model: LearningModel, documents: Sequence[WordLevelDocument]
    ) -> list[list[Cluster]]:
        """Return the clusters that a model finds in documents, in words.

        A cluster keeps two different mentions or goes.
        """
        answers: list[list[Cluster]] = [[] for _ in documents]
        lengths = [len(document) for document in documents]
        for batch in length_batches(lengths, most=WINDOWS_AT_ONCE):
            found = model.model([documents[number].tokenized for number in batch])
            for number, clusters in zip(batch, found, strict=True):
                different = ([*dict.fromkeys(cluster)] for cluster in clusters)
                answers[number] = [cluster for cluster in different if len(cluster) > 1]
        return answers

    def save(self, model: LearningModel, folder: Path) -> None:
        """Write a checkpoint in the form that ``pronominal convert caw`` writes."""
        write_model(folder, model.model, self._tokenizer, self._described)

    def card_text(self) -> CardText:
        """Return what the model card says of the system."""
        given = self.asked.checkpoint or self.asked.encoder or ""
        (digest,) = self.begins_with["begins_with"].values()
        return CardText(
            title="CAW-coref",
            summary="Links words, and finds the mentions of which they are the heads.",
            settings=self.asked.identity(),
            beginning=beginning_of(given, digest),
        )


class _Rising:
    """A learning rate that rises from 0 and falls to 0, both evenly; as upstream's schedules."""

    def __init__(self, updates: int, rising: int) -> None:
        self._updates, self._rising = updates, rising

    def __call__(self, update: int) -> float:
        if update < self._rising:
            return update / self._rising
        return max(0.0, (self._updates - update) / max(1, self._updates - self._rising))


def open_caw(asked: CAWTraining, corpus: Corpus | None = None) -> TrainableCAW:
    """Return CAW to be trained; it needs to know nothing of the data.

    Raises:
        InputError: a checkpoint or an encoder cannot be read.
    """
    if asked.checkpoint is not None:
        parts = open_parts(asked.checkpoint)
        model, tokenizer = load_model(parts, batch_size=WINDOWS_AT_ONCE)
        digests = {"checkpoint": parts.checkpoint.digest}
        return TrainableCAW(asked, model, tokenizer, parts.described, digests)
    assert asked.encoder is not None
    head = asked.head
    settings = Hyperparameters(
        bert_window_size=head.bert_window_size,
        embedding_size=head.embedding_size,
        hidden_size=head.hidden_size,
        n_hidden_layers=head.n_hidden_layers,
        rough_k=head.rough_k,
    )
    model, tokenizer, digest = new_model(asked.encoder, settings, batch_size=WINDOWS_AT_ONCE)
    described = Described("trained", model.settings, {})
    return TrainableCAW(asked, model, tokenizer, described, {"encoder": digest})


def draw_head(model: WordLevelModel) -> None:
    """Draw all weights but the encoder's anew, as torch draws them; upstream leaves it so.

    The encoder's pooler, which nothing reads, is drawn too: not every encoder comes with one.
    """
    pooler = getattr(model.encoder.transformer, "pooler", None)
    for part in (*model.scorers, *([] if pooler is None else [pooler])):
        for module in part.modules():
            if isinstance(module, nn.Linear | nn.Conv1d | nn.Embedding):
                module.reset_parameters()

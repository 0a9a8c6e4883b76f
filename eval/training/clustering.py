"""Trainings of systems that cluster the mentions of a text."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

import pyarrow as pa
from torch import nn

from pronominal.adapters.catalogue.trainable import open_trainable
from pronominal.adapters.training.settings import TrainingSettings
from pronominal.adapters.training.trainable import Corpus, TrainableSystem, Validation
from pronominal.adapters.words.english import in_characters
from pronominal.errors import InputError
from pronominal.eval.exchange.gold_conll2012 import AnnotatedDocument
from pronominal.eval.runs.decision_rules import by_offsets
from pronominal.eval.scores.conll import conll_scores
from pronominal.eval.training.data.row_documents import RowDocument, RowReader
from pronominal.eval.training.data.rows import RESOLUTION, TrainingData
from pronominal.eval.training.data.versions import (
    LeftOut,
    Version,
    originals_first,
    unswitched,
    versions,
)
from pronominal.eval.training.measures.figures import OUTCOMES
from pronominal.eval.training.preparation import PreparedTraining
from pronominal.spans import Cluster, Document


class TrainableClusterer(TrainableSystem, Protocol):
    """A system that learns the clusters of documents."""

    def read(self, document: Document, clusters: Sequence[Cluster], place: str) -> Any:
        """Return a document, called `place` in messages, with its gold clusters, in words."""

    def can_learn(self, document: Any) -> bool:
        """Say whether what was read is long enough."""

    def learn(self, documents: Sequence[Any]) -> None:
        """Take the training set."""

    def predict(self, model: Any, documents: Sequence[Any]) -> list[list[Cluster]]:
        """Return the clusters that a model finds in documents, in words."""


def prepare_clusterer(data: TrainingData, asked: TrainingSettings, out: Path) -> PreparedTraining:
    """Make documents of the rows, and open a clusterer that reads them.

    A system may make files in `out`, the folder of the trainings. `InputError` where a file is
    missing or damaged, or nothing is left to learn from.
    """
    reader = RowReader()
    rows, left_out = versions(data.rows, "train", reader.read, switching=asked.switching)
    stopping_rows, unreadable = versions(data.validation_rows, "validation", reader.read)
    stopping = originals_first(stopping_rows)
    learnt = [version.content.gold for version in originals_first(rows)] + [*data.documents]
    if not learnt or not (stopping or data.validation_documents):
        raise InputError(
            f"{len(learnt)} documents can be learnt from, and {len(stopping)} rows stopped by",
            cure="give rows whose right candidate is in the text",
        )
    corpus = Corpus(_words(learnt), _words([*learnt, *_others(data, stopping, reader)]), out)
    system: TrainableClusterer = open_trainable(asked, corpus)
    names = [(version.instance.id, version.name) for version in originals_first(rows)]
    for number, gold in enumerate(data.documents, start=len(names)):
        names.append((gold.document.key or f"document {number}", "original"))
    read = _read(system, learnt)
    long_enough = [document for document in read if system.can_learn(document)]
    if not long_enough:
        raise InputError(
            f"none of {len(read)} documents has enough words for a span to be kept",
            cure="give longer documents",
        )
    system.learn(long_enough)
    too_short = [
        LeftOut("train", *name, "it is too short to keep a span")
        for name, document in zip(names, read, strict=True)
        if not system.can_learn(document)
    ]
    return PreparedTraining(
        data=data,
        system=system,
        learnt={
            "train_rows": len(data.rows),
            "train_documents": len(long_enough),
            "validation_rows": len(data.validation_rows),
            "validation_documents": len(data.validation_documents),
        },
        left_out=[*left_out, *unreadable, *too_short, *unswitched(data.tests)],
        validate=ClusterValidation(system, stopping, data.validation_documents),
        figures=OUTCOMES,
    )


def _others(
    data: TrainingData, stopping: Sequence[Version[RowDocument]], reader: RowReader
) -> list[AnnotatedDocument]:
    """Return what is not learnt but read: documents to stop by and to test on."""
    tested = chain.from_iterable(
        originals_first(versions(split.instances(), "test", reader.read)[0])
        for split in data.tests.values()
    )
    return [version.content.gold for version in (*stopping, *tested)] + [*data.validation_documents]


class ClusterValidation:
    """Measures a model on rows by their outcomes, and on documents by CoNLL's F1.

    The score is the share of rows that are answered right, the mean over those whose first and
    those whose second mention is right; CoNLL's F1; or the mean of both where there is both.
    """

    def __init__(
        self,
        system: TrainableClusterer,
        rows: Sequence[Version[RowDocument]],
        documents: Sequence[AnnotatedDocument],
    ) -> None:
        self._system = system
        self._rows = rows
        self._gold = [document.clusters for document in documents]
        self._table = pa.Table.from_pylist([row.instance.to_row() for row in rows], RESOLUTION)
        self._row_documents = _read(system, [row.content.gold for row in rows])
        self._documents = _read(system, documents)

    def __call__(self, model: nn.Module) -> Validation:
        """Return score and figures of a model in evaluation mode."""
        figures: dict[str, Any] = {}
        scores: list[float] = []
        if self._rows:
            predicted = self._system.predict(model, self._row_documents)
            decisions = [
                by_offsets(row.instance, in_characters(clusters, list(row.content.places)))
                for row, clusters in zip(self._rows, predicted, strict=True)
            ]
            figures["rows"] = OUTCOMES.of(self._table, decisions)
            balanced = figures["rows"]["balanced_correct"]
            scores.append(figures["rows"]["correct"] if balanced is None else balanced)
        if self._documents:
            predicted = self._system.predict(model, self._documents)
            measured = conll_scores(self._gold, predicted)
            figures["documents"] = {name: score._asdict() for name, score in measured.items()}
            scores.append(measured["conll"].f1)
        return Validation(fmean(scores), figures)


def _read(system: TrainableClusterer, documents: Sequence[AnnotatedDocument]) -> list[Any]:
    return [
        system.read(gold.document, gold.clusters, f"document {gold.document.key or number}")
        for number, gold in enumerate(documents)
    ]


def _words(documents: Iterable[AnnotatedDocument]) -> list[str]:
    return sorted({w for gold in documents for sentence in gold.document.words for w in sentence})

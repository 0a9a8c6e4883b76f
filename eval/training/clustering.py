"""Trainings of systems that cluster the mentions of a text."""

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, Protocol

import pyarrow as pa
from torch import nn

from pronominal.adapters.catalogue.trainable import open_trainable
from pronominal.adapters.training.settings import ClusteringTraining
from pronominal.adapters.training.trainable import Corpus, TrainableSystem, Validation
from pronominal.adapters.words.english import in_characters
from pronominal.errors import InputError
from pronominal.eval.runs.decision_rules import by_offsets
from pronominal.eval.scores.conll import conll_scores
from pronominal.eval.statistics.switched_pairs import Answers
from pronominal.eval.training.data.row_documents import RowDocument, RowReader
from pronominal.eval.training.data.rows import RESOLUTION, TrainingData
from pronominal.eval.training.data.training_texts import (
    TrainingText,
    training_texts,
    with_further_pronouns,
)
from pronominal.eval.training.data.versions import (
    LeftOut,
    Version,
    originals_first,
    unswitched,
    versions,
)
from pronominal.eval.training.measures.figures import OUTCOMES, switching_figures
from pronominal.eval.training.preparation import PreparedTraining
from pronominal.spans import AnnotatedDocument, Cluster


class TrainableClusterer(TrainableSystem, Protocol):
    """A system that learns the clusters of documents."""

    asked: ClusteringTraining

    def read(self, gold: AnnotatedDocument, place: str) -> Any:
        """Return a document, called `place` in messages, as the system reads it."""

    def why_not(self, document: Any) -> str:
        """Say why what was read cannot be learnt; empty where it can."""

    def learn(self, units: Sequence[tuple[Any, ...]]) -> None:
        """Take the training set, in what has to stay together in a batch."""

    def predict(self, model: Any, documents: Sequence[Any]) -> list[list[Cluster]]:
        """Return the clusters that a model finds in documents, in words."""


def prepare_clusterer(data: TrainingData, asked: ClusteringTraining, out: Path) -> PreparedTraining:
    """Make documents of the rows, and open a clusterer that reads them.

    A system may make files in `out`, the folder of the trainings. `InputError` where a file is
    missing or damaged, or nothing is left to learn from.
    """
    reader = RowReader(complete=asked.unannotated == "negative")
    rows, left_out = versions(data.rows, "train", reader.read, switching=asked.switching)
    in_both = asked.validate_by == "right-in-both"
    stopping, unreadable = versions(
        data.validation_rows, "validation", reader.read, switching=in_both
    )
    texts = training_texts(rows, data.documents, pairs=asked.pair_batches)
    further, unreplaced = with_further_pronouns(texts, asked.further_pronouns)
    learnt = [text.gold for unit in (*texts, *further) for text in unit]
    if not learnt or not (stopping or data.validation_documents):
        raise InputError(
            f"{len(learnt)} documents can be learnt from, and {len(stopping)} rows stopped by",
            cure="give rows whose right candidate is in the text",
        )
    others = _others(data, stopping, reader)
    corpus = Corpus(_words(learnt), _words([*learnt, *others]), out)
    system: TrainableClusterer = open_trainable(asked, corpus)
    units, unlearnable = _read_units(system, [*texts, *further])
    system.learn(units)
    return PreparedTraining(
        data=data,
        system=system,
        learnt={
            "train_rows": len(data.rows),
            "train_documents": sum(map(len, units)),
            "validation_rows": len(data.validation_rows),
            "validation_documents": len(data.validation_documents),
        },
        left_out=[*left_out, *unreadable, *unreplaced, *unlearnable, *unswitched(data.tests)],
        validate=ClusterValidation(system, stopping, data.validation_documents),
        figures=OUTCOMES,
    )


def _read_units(
    system: TrainableClusterer, units: Sequence[tuple[TrainingText, ...]]
) -> tuple[list[tuple[Any, ...]], list[LeftOut]]:
    """Return what the system reads of each unit that it can learn, and the rest by name."""
    kept, left_out = [], []
    for unit in units:
        read = [system.read(text.gold, f"document {text.id}") for text in unit]
        reasons = [system.why_not(document) for document in read]
        for text, reason in zip(unit, reasons, strict=True):
            if reason:
                left_out.append(LeftOut("train", text.id, text.version, reason))
        learnt = tuple(one for one, why in zip(read, reasons, strict=True) if not why)
        if learnt:
            kept.append(learnt)
    if not kept:
        raise InputError(
            f"none of {len(left_out)} documents can be learnt: {left_out[0].reason}",
            cure="give others",
        )
    return kept, left_out


def _others(
    data: TrainingData, stopping: Sequence[tuple[Version[RowDocument], ...]], reader: RowReader
) -> list[AnnotatedDocument]:
    """Return what is not learnt but read: documents to stop by and to test on."""
    tested = chain.from_iterable(
        originals_first(versions(split.instances(), "test", reader.read)[0])
        for split in data.tests.values()
    )
    read = (*originals_first(stopping), *tested)
    return [version.content.gold for version in read] + [*data.validation_documents]


class ClusterValidation:
    """Measures a model on rows by their outcomes, and on documents by CoNLL's F1.

    The score of rows is the share that is right in both versions, over the rows that were given
    in both, or else the share that is right, the mean over those whose first and those whose
    second mention is right. With rows and documents it is the mean of both scores.
    """

    def __init__(
        self,
        system: TrainableClusterer,
        rows: Sequence[tuple[Version[RowDocument], ...]],
        documents: Sequence[AnnotatedDocument],
    ) -> None:
        self._system = system
        self._originals = _Rows(system, [row[0] for row in rows])
        self._switched = _Rows(system, [version for row in rows for version in row[1:]])
        self._gold = [document.clusters for document in documents]
        self._documents = _read(system, documents)

    def __call__(self, model: nn.Module) -> Validation:
        """Return score and figures of a model in evaluation mode."""
        figures: dict[str, Any] = {}
        scores: list[float] = []
        if self._originals.rows:
            answers = self._originals.answers(model)
            figures["rows"] = OUTCOMES.of(*answers)
            balanced = figures["rows"]["balanced_correct"]
            scores.append(figures["rows"]["correct"] if balanced is None else balanced)
            if self._switched.rows:
                pairs = switching_figures(answers, self._switched.answers(model))
                figures["switching"] = pairs
                scores = [pairs["consistently_correct"]]
        if self._documents:
            predicted = self._system.predict(model, self._documents)
            measured = conll_scores(self._gold, predicted)
            figures["documents"] = {name: score._asdict() for name, score in measured.items()}
            scores.append(measured["conll"].f1)
        return Validation(fmean(scores), figures)


class _Rows:
    """Rows that a training is stopped by, as a system reads them."""

    def __init__(self, system: TrainableClusterer, rows: Sequence[Version[RowDocument]]) -> None:
        self.rows = rows
        self._system = system
        self._table = pa.Table.from_pylist([row.instance.to_row() for row in rows], RESOLUTION)
        self._documents = _read(system, [row.content.gold for row in rows])

    def answers(self, model: nn.Module) -> Answers:
        """Return the rows' table, and a model's decision for each."""
        predicted = self._system.predict(model, self._documents)
        return self._table, [
            by_offsets(row.instance, in_characters(clusters, list(row.content.places)))
            for row, clusters in zip(self.rows, predicted, strict=True)
        ]


def _read(system: TrainableClusterer, documents: Sequence[AnnotatedDocument]) -> list[Any]:
    return [
        system.read(gold, f"document {gold.document.key or number}")
        for number, gold in enumerate(documents)
    ]


def _words(documents: Iterable[AnnotatedDocument]) -> list[str]:
    return sorted({w for gold in documents for sentence in gold.document.words for w in sentence})

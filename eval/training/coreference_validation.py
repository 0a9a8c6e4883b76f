"""How good a coreference system is while it is trained."""

from collections.abc import Sequence
from dataclasses import asdict
from statistics import fmean
from typing import Any

from torch import nn

from pronominal.adapters.c2f.learning.documents import TrainingDocument
from pronominal.adapters.c2f.learning.training import Trainee, predict
from pronominal.adapters.training import Validation
from pronominal.adapters.words.english import in_characters
from pronominal.eval.exchange.gold_conll2012 import AnnotatedDocument
from pronominal.eval.runs.decision_rules import by_offsets
from pronominal.eval.scores.conll import conll_scores
from pronominal.eval.training.coreference_documents import RowDocument, with_units
from pronominal.eval.training.data import resolution_table
from pronominal.eval.training.figures import outcome_figures


class CoreferenceValidation:
    """Measures a model on rows by their outcomes, and on documents by CoNLL's F1.

    The score is the share of rows that are answered right, the mean over those whose first and
    those whose second mention is right; CoNLL's F1; or the mean of both where there is both.

    Args:
        trainee: the system.
        rows: rows to stop by.
        documents: documents to stop by.
    """

    def __init__(
        self,
        trainee: Trainee,
        rows: Sequence[RowDocument],
        documents: Sequence[AnnotatedDocument],
    ) -> None:
        self._trainee = trainee
        self._rows = rows
        self._documents = documents
        self._table = resolution_table([row.instance for row in rows])
        self._units = [with_units(rows, trainee), with_units(documents, trainee)]

    def __call__(self, model: nn.Module) -> Validation:
        """Return score and figures of a model in evaluation mode."""
        rows, documents = self._units
        figures: dict[str, Any] = {}
        scores: list[float] = []
        if rows:
            figures["rows"] = self._row_figures(model, rows)
            balanced = figures["rows"]["balanced_correct"]
            scores.append(figures["rows"]["correct"] if balanced is None else balanced)
        if documents:
            found = predict(self._trainee, model, documents)
            gold = [document.clusters for document in self._documents]
            figures["documents"] = {k: asdict(v) for k, v in conll_scores(gold, found).items()}
            scores.append(figures["documents"]["conll"]["f1"])
        return Validation(fmean(scores), figures)

    def _row_figures(self, model: nn.Module, rows: Sequence[TrainingDocument]) -> dict[str, Any]:
        decisions = [
            by_offsets(row.instance, in_characters(clusters, list(row.places)))
            for row, clusters in zip(self._rows, predict(self._trainee, model, rows), strict=True)
        ]
        return outcome_figures(self._table, decisions)

"""A dataset's scores as a metric of Hugging Face's `evaluate`.

``evaluate.load(pronominal.eval.exchange.evaluate_metric.__file__, dataset="out/winopron")`` opens
it, as do programs that take the path of a metric.
"""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.decisions import NONE, Decision
from pronominal.errors import InputError
from pronominal.eval.scores import as_task, task_of
from pronominal.eval.tables.tidy import named_figures
from pronominal.eval.task import Answered

NO_CHOICE = -1
"""A prediction that chooses nothing."""

INPUTS = """
Args:
    predictions: for each row the index of what was chosen; -1 for no choice.
    references: the rows' labels, in the order of the dataset, all of them; another order is told
        by `ids`.
    ids: the rows' ids, in the order of `predictions`.

Returns:
    Figures by their names, such as ``accuracy`` and ``accuracy/pronoun_set=xe``; shares are in
    [0, 1]. What needs answers to other splits, such as switched rows, is not among them.
"""


class PronounScores(evaluate.Metric):  # type: ignore[misc]  # the package is untyped
    """The scores of one split of a dataset.

    Args:
        dataset: a built dataset's folder, its id on the Hub, a `datasets.Dataset`, or what
            `pronominal.load_split` returned.
        config: of the dataset; its default one without.
        split: of the config.
        task: a task of your own, or its place, ``module:attribute``.
        evaluates: what every metric of `evaluate` takes, such as ``keep_in_memory``.
    """

    def __init__(
        self,
        *,
        dataset: Any,
        config: str | None = None,
        split: str = "test",
        task: Any = None,
        **evaluates: Any,
    ) -> None:
        self._rows = dataset if isinstance(dataset, Split) else load_split(dataset, config, split)
        self._task = task_of(self._rows.dataset_name, as_task(task))
        super().__init__(**evaluates)

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=f"The scores of {self._rows.dataset_name}, as 'pronominal score' has them.",
            citation="",
            inputs_description=INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("int64"), "references": datasets.Value("int64")}
            ),
        )

    def _compute(
        self,
        predictions: Sequence[int],
        references: Sequence[int],
        ids: Sequence[str] | None = None,
    ) -> dict[str, float]:
        rows, table = self._rows, self._rows.table
        order = {one: place for place, one in enumerate(table["id"].to_pylist())}
        ids = [*order] if ids is None else [*ids]
        if len(ids) != len(predictions) or sorted(ids) != sorted(order):
            cause = f"{len(predictions)} predictions for the {rows.num_rows} rows of the split"
            raise InputError(cause, cure="give one prediction for each row, and its id in ids")
        labels = table["label"].to_pylist()
        if [labels[order[one]] for one in ids] != [*references]:
            cause = "the references are not the labels of the rows"
            raise InputError(cause, cure="give them in the order of the dataset, or the ids too")
        decisions = [NONE] * rows.num_rows
        for one, choice in zip(ids, predictions, strict=True):
            decisions[order[one]] = self._decision(one, choice)
        return named_figures(self._task.measures, self._task.scores_of(Answered(rows, decisions)))

    def _decision(self, row: str, choice: int) -> Decision:
        options = self._rows.choices[0]
        if not NO_CHOICE <= choice < len(options):
            cause = f"the prediction is {choice}, and there are {len(options)} to choose from"
            raise InputError(cause, cure="count from 0; -1 is no choice", row=f"id {row}")
        return NONE if choice == NO_CHOICE else Decision(choice)

"""A dataset's scores while the `Trainer` of transformers trains a model of the user's own."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from transformers import Trainer, TrainerCallback

from pronominal.adapters import System
from pronominal.dataset_scripts.reading.loading import load_split
from pronominal.dataset_scripts.reading.split import Split
from pronominal.eval.evaluation import evaluate_systems
from pronominal.eval.runs.asked_systems import asked_systems
from pronominal.eval.runs.runner import refuse_unfit
from pronominal.eval.scores import as_task, task_of
from pronominal.eval.tables.comparison import FAILED
from pronominal.eval.tables.tidy import named_figures
from pronominal.eval.task import Task

if TYPE_CHECKING:
    from datasets import Dataset

READING = "offsets"
"""The decision rule for clusters and generations."""


class EvaluationCallback(TrainerCallback):
    """Scores the model on a split whenever the `Trainer` evaluates.

    Each figure is called ``eval_DATASET_CONFIG_MEASURE``, with ``/SUBSET`` behind it for a part of
    the rows, such as ``eval_ruff_distractors_1_accuracy/pronoun_set=xe``; shares are in [0, 1], as
    in `pronominal.Results.scores`. They are in the trainer's log, hence in its history and wherever
    it reports to, and among the metrics by which it finds the best model
    (``metric_for_best_model``). ``..._failed`` counts rows that the model could not answer.

    Args:
        trainer: what trains the model; the callback is added to it by ``trainer.add_callback``.
        dataset: a built dataset's folder, its id on the Hub, a `datasets.Dataset`, or what
            `pronominal.load_split` returned.
        config: of the dataset; its default one without.
        split: of the config.
        system: what answers with the model: an object with a ``name`` and one of the methods of a
            system. Without one the model is a language model, asked to fill slots as the system
            ``lm`` is.
        task: a task of your own, or its place, ``module:attribute``.
        limit: the first rows only, no more than so many.

    Raises:
        InputError: there are no such rows, or the system cannot answer them.
    """

    def __init__(  # noqa: PLR0913 - each one is an option of `pronominal.evaluate`
        self,
        trainer: Trainer,
        dataset: "str | Path | Dataset | Split",
        *,
        config: str | None = None,
        split: str = "test",
        system: System | None = None,
        task: Task | str | None = None,
        limit: int | None = None,
    ) -> None:
        rows = dataset if isinstance(dataset, Split) else load_split(dataset, config, split)
        self._split = rows.limited(limit)
        self._task = task_of(rows.dataset_name, as_task(task))
        self._system = _language_model(trainer) if system is None else system
        refuse_unfit(self._system, self._split, READING)
        self._trainer = trainer

    def on_evaluate(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Add the figures to the metrics of an evaluation, and log them."""
        model = self._trainer.model
        assert model is not None
        learning = model.training
        model.eval()
        try:
            figures = self._figures()
        finally:
            model.train(learning)
        given["metrics"].update(figures)
        self._trainer.log(figures)

    def _figures(self) -> dict[str, float]:
        asked, objects = asked_systems(self._system)
        with TemporaryDirectory() as folder:
            out = Path(folder)
            done = evaluate_systems(
                self._split, asked, out, READING, task=self._task, systems=objects
            )
        scores = done[asked[0].label].scores
        figures = named_figures(self._task.measures, scores)
        if FAILED in scores:
            figures[FAILED] = scores[FAILED]
        about = f"eval_{self._split.dataset_name}_{self._split.config}"
        return {f"{about}_{name}": value for name, value in figures.items()}


def _language_model(trainer: Trainer) -> System:
    # it needs a later transformers than trainers of other models do
    from pronominal.adapters.lm.scoring.system import LanguageModel

    return LanguageModel.in_memory(trainer.model, trainer.processing_class)

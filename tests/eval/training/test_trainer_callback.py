"""While transformers' own Trainer trains, a model is scored by our tasks."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")
pytest.importorskip("transformers")

import torch
import transformers

import pronominal
from pronominal import InputError
from pronominal.adapters.checkpoints.transformers_models import silent_transformers
from pronominal.eval.training.trainer_callback import EvaluationCallback
from tests.adapters.lm.language_models import CAUSAL, FORMS, MASKED, filled, own_instances

TEXTS = filled(own_instances())


def trainer_of(family: tuple[Any, Any], folder: Path, **arguments: Any) -> transformers.Trainer:
    """A real trainer of a tiny model, which learns to say *xe* and evaluates after six steps."""
    tokenizer = family[0](TEXTS)
    rows = [{"input_ids": ids} for ids in tokenizer(["xe xe xe"] * 8)["input_ids"]]

    def collate(chosen: list[Any]) -> dict[str, torch.Tensor]:
        ids = torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(row["input_ids"]) for row in chosen], batch_first=True
        )
        return {"input_ids": ids, "labels": ids}

    given = {"max_steps": 6, "eval_steps": 6, "eval_strategy": "steps", "learning_rate": 0.1}
    settings = transformers.TrainingArguments(
        *(str(folder),),
        **(given | arguments),
        per_device_train_batch_size=4,
        report_to="none",
        use_cpu=True,
        disable_tqdm=True,
    )
    return transformers.Trainer(
        model=family[1](len(tokenizer)),
        args=settings,
        data_collator=collate,
        train_dataset=rows,
        eval_dataset=rows[:2],
        processing_class=tokenizer,
    )


@pytest.mark.parametrize("family", [CAUSAL["gpt2"], MASKED["bert"]], ids=["causal", "masked"])
def test_a_language_model_is_scored_as_the_system_lm_scores_it(
    family: tuple[Any, Any], own_ruff: str, tmp_path: Path
) -> None:
    trainer = trainer_of(family, tmp_path / "trained", eval_on_start=True)
    callback = EvaluationCallback(trainer, own_ruff, config="distractors_0", limit=24)
    trainer.add_callback(callback)
    with silent_transformers():
        trainer.train()
        trainer.save_model(str(tmp_path / "saved"))
        asked = f"lm={tmp_path / 'saved'}"
        results = pronominal.evaluate(
            own_ruff, asked, config="distractors_0", limit=24, out=tmp_path / "runs"
        )
    name = "eval_ruff_distractors_0_accuracy"
    logged = [entry for entry in trainer.state.log_history if name in entry]
    assert [entry["step"] for entry in logged] == [0, 6]
    first, last = ([entry[f"{name}/pronoun_set={form}"] for form in FORMS] for entry in logged)
    assert first != last
    table = results.to_pandas()
    for row in table[table.measure == "accuracy"].itertuples():
        key = name if row.subset == "overall" else f"{name}/{row.subset}"
        assert logged[-1][key] == pytest.approx(row.value, nan_ok=True), key


def test_a_figure_of_ours_chooses_the_best_model(own_ruff: str, tmp_path: Path) -> None:
    name = "eval_ruff_distractors_0_accuracy"
    trainer = trainer_of(
        CAUSAL["gpt2"],
        *(tmp_path,),
        save_strategy="best",
        metric_for_best_model=name,
        greater_is_better=True,
    )
    trainer.add_callback(EvaluationCallback(trainer, own_ruff, config="distractors_0", limit=24))
    with silent_transformers():
        trainer.train()
    logged = [entry[name] for entry in trainer.state.log_history if name in entry]
    assert trainer.state.best_metric == max(logged)


class FirstIfLarge:
    """Chooses by a weight of the model that is trained; it cannot answer texts about tea."""

    name = "by-weight"

    def __init__(self, model: Any) -> None:
        self.model = model
        self.asked_while_training = False

    def choose(self, instances: Any) -> list[list[float]]:
        self.asked_while_training |= self.model.training
        first = float(next(self.model.parameters()).sum() > 0)
        return [[first, 1 - first] for _ in instances]


def test_a_system_of_the_users_own_holds_the_model(sample: Path, tmp_path: Path) -> None:
    trainer = trainer_of(CAUSAL["gpt2"], tmp_path)
    system = FirstIfLarge(trainer.model)
    rows = pronominal.load_split(sample, "double")
    trainer.add_callback(EvaluationCallback(trainer, rows, system=system, limit=16))
    with silent_transformers():
        metrics = trainer.evaluate()
    assert metrics["eval_sample_double_accuracy"] == 0.5
    assert metrics["eval_sample_double_accuracy/pronoun_set=xe"] == 0.5
    assert not system.asked_while_training


def test_rows_that_the_model_cannot_answer_are_refused_before_training(
    sample: Path, tmp_path: Path
) -> None:
    trainer = trainer_of(CAUSAL["gpt2"], tmp_path)
    with pytest.raises(InputError, match="fills slots"):
        EvaluationCallback(trainer, sample, config="double")

"""Hugging Face's evaluate opens our scores as a metric."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("evaluate")

import evaluate

import pronominal
from pronominal import InputError
from pronominal.eval.exchange import evaluate_metric


@pytest.fixture(scope="module")
def metric(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("cache")
    place = evaluate_metric.__file__
    return evaluate.load(place, dataset=str(sample), config="double", cache_dir=str(folder))


@pytest.fixture(scope="module")
def rows(sample: Path) -> Any:
    return pronominal.load_split(sample, "double").dataset


def test_the_metric_has_the_figures_of_score(metric: Any, rows: Any) -> None:
    chosen = [place % 3 - 1 for place in range(len(rows))]
    given = [
        {"id": one, "choice": None if choice < 0 else choice, "abstained": "none" if choice < 0
         else None} for one, choice in zip(rows["id"], chosen, strict=True)
    ]  # fmt: skip
    scores = pronominal.score(rows, given).scores["predictions"]
    found = metric.compute(predictions=chosen, references=rows["label"])
    assert found["accuracy"] == scores["overall"]["accuracy"]
    xe = scores["by_pronoun_set"]["xe"]["accuracy"]
    assert found["accuracy/pronoun_set=xe"] == xe
    assert found["pronoun_consistency"] == scores["pronoun_consistency"]["score"]


def test_batches_in_another_order_have_ids(metric: Any, rows: Any) -> None:
    shuffled = rows.shuffle(seed=1)
    for start in range(0, len(rows), 100):
        batch = shuffled[start : start + 100]
        metric.add_batch(predictions=batch["label"], references=batch["label"])
    assert metric.compute(ids=shuffled["id"])["accuracy"] == 1


def test_what_does_not_fit_is_refused(metric: Any, rows: Any) -> None:
    labels = rows["label"]
    with pytest.raises(InputError, match="3 predictions for the 576 rows"):
        metric.compute(predictions=labels[:3], references=labels[:3])
    with pytest.raises(InputError, match="the references are not the labels"):
        metric.compute(predictions=labels, references=[0] * len(labels))
    with pytest.raises(InputError, match="the prediction is 2"):
        metric.compute(predictions=[2, *labels[1:]], references=labels)

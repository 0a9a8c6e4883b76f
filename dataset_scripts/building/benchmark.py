"""``eval.yaml``: which splits of a dataset are benchmarks on the Hub, and how Inspect asks them.

The Hub makes a leaderboard of each task, and ``inspect eval hf/ORG/NAME/TASK`` runs it; the fields
are those of hub-docs' *eval-results* and of inspect_ai's ``_eval/task/hf.py``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.card import card_header
from pronominal.dataset_scripts.building.script import BuiltSplit

EVAL_YAML = "eval.yaml"
FRAMEWORK = "inspect-ai"
"""One of the frameworks that the Hub knows; it refuses a file that names another one."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """What a dataset's card says under ``benchmark``.

    Attributes:
        description: what is asked, in one sentence.
        splits: the splits that are tasks, as ``CONFIG/SPLIT``.
        choices: the column of the answers that ``label`` is an index of, or one column for each;
            None where `question` numbers the answers as ``label`` does, since no column has them.
        question: the prompt, a template of Inspect with the text as ``{prompt}``.
        told: columns that stand in the log beside each answer.
    """

    description: str
    splits: tuple[str, ...]
    choices: str | tuple[str, ...] | None
    question: str
    told: tuple[str, ...]

    @classmethod
    def of(cls, dataset: str) -> "Benchmark | None":
        """Return the benchmark of a dataset; None where its card declares none."""
        content = card_header(dataset).get("benchmark") if dataset in DATASETS else None
        if content is None:
            return None
        choices = content.get("choices")
        return cls(
            description=content["description"],
            splits=tuple(content["splits"]),
            choices=tuple(choices) if isinstance(choices, list) else choices,
            question=content["question"],
            told=tuple(content["told"]),
        )

    def asks(self, config: str, split: str) -> bool:
        """Whether a split is a task."""
        return f"{config}/{split}" in self.splits

    def tasks(self) -> list[tuple[str, str]]:
        """Return config and split of each task."""
        return [(config, split) for config, _, split in (one.partition("/") for one in self.splits)]

    def task(self, dataset: str, config: str, split: str) -> dict[str, Any]:
        """Return a split's task as ``eval.yaml`` has it."""
        asked: dict[str, Any] = {"input": "text", "target": "label"}
        question = {"name": "prompt_template", "args": {"template": self.question}}
        if self.choices is None:
            solver, scorer = {"name": "generate"}, {"name": "answer", "args": {"pattern": "word"}}
        else:
            solver, scorer = {"name": "multiple_choice"}, {"name": "choice"}
            asked["choices"] = self.choices if isinstance(self.choices, str) else [*self.choices]
        return {
            "id": task_id(dataset, config, split),
            "config": config,
            "split": split,
            "field_spec": {**asked, "metadata": ["id", *self.told, "canary"]},
            "solvers": [question, solver],
            "scorers": [scorer],
        }


def task_id(dataset: str, config: str, split: str) -> str:
    """Return what a split is called on the Hub, such as ``winopron_double``."""
    return "_".join((dataset, config, *([] if split == "test" else [split])))


def write_eval_yaml(page: str, name: str, built: Sequence[BuiltSplit], folder: Path) -> None:
    """Write the tasks of what was built, where the card `page` declares a benchmark."""
    benchmark = Benchmark.of(page)
    if benchmark is None:
        return
    asked = [split for split in built if benchmark.asks(split.config, split.name)]
    content = {
        "name": card_header(page)["pretty_name"] if name == page else name,
        "description": benchmark.description,
        "evaluation_framework": FRAMEWORK,
        "tasks": [benchmark.task(name, split.config, split.name) for split in asked],
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=100)
    (folder / EVAL_YAML).write_text(text, encoding="utf-8", newline="\n")

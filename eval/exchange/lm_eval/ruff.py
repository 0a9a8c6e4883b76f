"""RUFF in lm-evaluation-harness: tasks of the type ``multiple_choice``.

They compare the log-likelihoods of each option and of what follows it. This is the model's own
choice between whole sentences, since the text before the slot is the same. Each number of
distractors has a task for each of the paper's samples, and a group whose accuracy is their mean.
"""

from typing import Any

from pronominal.dataset_scripts.ruff import SEEDS
from pronominal.dataset_scripts.ruff.assembly import SETTINGS
from pronominal.eval.exchange.lm_eval.tasks import Function, mean, task

CODE = (("pronominal.eval.exchange.lm_eval", "filling"),)


def groups(place: str, max_new_tokens: int) -> dict[str, list[dict[str, Any]]]:
    """Return the tasks by group, see `HarnessTasks`."""
    scoring = {
        "output_type": "multiple_choice",
        "doc_to_text": Function("filling.context"),
        "doc_to_choice": Function("filling.choices"),
        "doc_to_target": "label",
        "target_delimiter": "",
        "metric_list": [mean("acc")],
    }
    return {
        f"ruff_{config}": [
            task(f"ruff_{config}_seed_{seed}", place, config, f"seed_{seed}") | scoring
            for seed in SEEDS
        ]
        for config in (f"distractors_{number}" for number in SETTINGS)
    }

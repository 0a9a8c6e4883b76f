"""RUFF and WinoPron as tasks of lm-evaluation-harness, which load the published datasets."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from pronominal.adapters.lm.prompting.prompts import filled, read_templates
from pronominal.atomic import new_folder
from pronominal.dataset_scripts.reading.folders import require_dataset_id
from pronominal.dataset_scripts.ruff import SEEDS
from pronominal.dataset_scripts.ruff.assembly import SETTINGS
from pronominal.eval.exchange.lm_eval import DATASETS

MAX_NEW_TOKENS = 5
"""The most new tokens of an answer: the paper's for FLAN-T5 (RUFF, F.1)."""

VERSION = 1.0
"""Version of the tasks: raised when their numbers change."""

FILLING = (("pronominal.eval.exchange.lm_eval", "filling"),)
PROMPTING = (
    ("pronominal.adapters.lm.prompting", "answers"),
    ("pronominal.eval.exchange.lm_eval", "prompting"),
)
"""The code beside the tasks, as (package, module): without imports, so that it works anywhere."""


def export_tasks(
    out: Path,
    places: Mapping[str, str] = MappingProxyType({}),
    max_new_tokens: int = MAX_NEW_TOKENS,
) -> list[str]:
    """Write a folder for ``lm_eval --include_path``.

    RUFF's tasks are of the type ``multiple_choice``: the log-likelihood of each option and of what
    follows it. This is the model's own choice between whole sentences, since the text before
    the slot is the same. Each number of distractors has a task for each of the paper's samples,
    and a group whose accuracy is their mean. WinoPron's tasks are generations, one for each
    prompt, and a group for each config.

    Args:
        out: the folder to make or replace.
        places: a key of `DATASETS` -> the folder, or the id on the Hub where it is another one;
            `InputError` if it is neither.
        max_new_tokens: the longest answer to a prompt.

    Returns:
        The names of the groups.
    """
    found = {name: _place(places.get(name, place)) for name, place in DATASETS.items()}
    groups = {**_ruff(found["ruff"]), **_winopron(found["winopron"], max_new_tokens)}
    with new_folder(out) as folder:
        for group, tasks in groups.items():
            (folder / group).mkdir()
            _write(folder / group / f"_{group}.yaml", _group(group, tasks))
            for task in tasks:
                _write(folder / group / f"{task['task']}.yaml", task)
            for package, module in FILLING if group.startswith("ruff") else PROMPTING:
                source = files(package).joinpath(f"{module}.py").read_text("utf-8")
                (folder / group / f"{module}.py").write_text(source, "utf-8")
    return [*groups]


def _ruff(place: str) -> dict[str, list[dict[str, Any]]]:
    scoring = {
        "output_type": "multiple_choice",
        "doc_to_text": _Function("filling.context"),
        "doc_to_choice": _Function("filling.choices"),
        "doc_to_target": "label",
        "target_delimiter": "",
        "metric_list": [_mean("acc")],
    }
    return {
        f"ruff_{config}": [
            _task(f"ruff_{config}_seed_{seed}", place, config, f"seed_{seed}") | scoring
            for seed in SEEDS
        ]
        for config in (f"distractors_{number}" for number in SETTINGS)
    }


def _winopron(place: str, max_new_tokens: int) -> dict[str, list[dict[str, Any]]]:
    writing = {
        "output_type": "generate_until",
        "doc_to_target": "{{candidates[label].text}}",
        "generation_kwargs": {"until": [], "do_sample": False, "max_gen_toks": max_new_tokens},
        "process_results": _Function("prompting.process_results"),
        "metric_list": [_mean("acc"), _mean("none", False), _mean("both", False)],
    }
    options = ("{{candidates[0].text}}", "{{candidates[1].text}}")
    # each template in the harness's own language
    prompts = {
        name: filled(template, order, "{{text}}", "{{pronoun.text}}", options)
        for name, (template, order) in read_templates("winopron").texts.items()
    }
    return {
        f"winopron_{config}": [
            _task(f"winopron_{config}_{name.replace('-', '_')}", place, config, "test")
            | {"doc_to_text": prompt}
            | writing
            for name, prompt in prompts.items()
        ]
        for config in ("double", "single")
    }


def _task(name: str, place: str, config: str, split: str) -> dict[str, Any]:
    return {
        "task": name,
        "dataset_path": place,
        "dataset_name": config,
        "test_split": split,
        "metadata": {"version": VERSION},
    }


def _group(name: str, tasks: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "group": name,
        "task": [task["task"] for task in tasks],
        "aggregate_metric_list": [{"metric": "acc", "aggregation": "mean"}],
        "metadata": {"version": VERSION},
    }


def _mean(metric: str, higher_is_better: bool = True) -> dict[str, Any]:
    return {"metric": metric, "aggregation": "mean", "higher_is_better": higher_is_better}


def _place(dataset: str) -> str:
    """Return a folder's absolute path, so that tasks work from anywhere, or a Hub id as it is."""
    if Path(dataset).is_dir():
        return str(Path(dataset).resolve())
    require_dataset_id(dataset)
    return dataset


class _Function(str):
    """The name of a function in a file beside the task, ``file.function``."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Writes functions with the harness's tag."""


_Dumper.add_representer(
    _Function, lambda dumper, name: dumper.represent_scalar("!function", str(name))
)


def _write(path: Path, task: Mapping[str, Any]) -> None:
    path.write_text(yaml.dump(task, Dumper=_Dumper, sort_keys=False, allow_unicode=True), "utf-8")

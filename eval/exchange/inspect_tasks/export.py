"""Datasets as tasks of inspect_ai, the same questions as in their ``eval.yaml``."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from pronominal.atomic import new_folder
from pronominal.dataset_scripts.building.benchmark import Benchmark, task_id
from pronominal.eval.exchange.lm_eval import DATASETS
from pronominal.eval.exchange.lm_eval.export import place_of

CODE = "asking"
"""The module that is copied beside the tasks."""
WRITTEN = "written by pronominal export inspect"
HEAD = '''"""Tasks of {name} for inspect_ai.

{description}

{written}.
"""

from asking import asked
from inspect_ai import Task, task

CHOICES = {choices!r}
QUESTION = {question!r}
TOLD = {told!r}
PLACE = {place!r}
'''
TASK = """

@task
def {id}() -> Task:
    return asked(PLACE, {config!r}, {split!r}, CHOICES, QUESTION, TOLD)
"""


def export_tasks(out: Path, places: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Write a folder with a file of tasks for each dataset, and the code that they share.

    Args:
        out: the folder to make or replace.
        places: name of a dataset -> the folder, or the id on the Hub where it is another one;
            `InputError` if it is neither.

    Returns:
        The names of the tasks, as ``FILE@TASK``.
    """
    of_datasets = {name: place_of(places.get(name, hub_id)) for name, hub_id in DATASETS.items()}
    names: list[str] = []
    with new_folder(out) as folder:
        code = files(__package__).joinpath(f"{CODE}.py").read_text("utf-8")
        (folder / f"{CODE}.py").write_text(code, "utf-8", newline="\n")
        for dataset, place in of_datasets.items():
            benchmark = Benchmark.of(dataset)
            assert benchmark is not None
            head = HEAD.format(
                name=dataset,
                description=benchmark.description,
                written=WRITTEN,
                choices=benchmark.choices,
                question=benchmark.question,
                told=benchmark.told,
                place=place,
            )
            tasks = {task_id(dataset, *split): split for split in benchmark.tasks()}
            body = (TASK.format(id=one, config=c, split=s) for one, (c, s) in tasks.items())
            (folder / f"{dataset}.py").write_text("".join((head, *body)), "utf-8", newline="\n")
            names += [f"{out / dataset}.py@{name}" for name in tasks]
    return names


def is_export(folder: Path) -> bool:
    """Say whether a folder holds an earlier export and nothing else."""
    ours = {f"{name}.py" for name in (*DATASETS, CODE)}
    there = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    return there == ours and all(
        WRITTEN in (folder / f"{name}.py").read_text("utf-8", "replace") for name in DATASETS
    )

"""Datasets as tasks of lm-evaluation-harness, which load the published datasets."""

from collections.abc import Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import cast

from pronominal.atomic import new_folder
from pronominal.dataset_scripts.reading.folders import require_dataset_id
from pronominal.eval.exchange.lm_eval import DATASETS
from pronominal.eval.exchange.lm_eval.tasks import MAX_NEW_TOKENS, HarnessTasks, group, write


def export_tasks(
    out: Path,
    places: Mapping[str, str] = MappingProxyType({}),
    max_new_tokens: int = MAX_NEW_TOKENS,
) -> list[str]:
    """Write a folder for ``lm_eval --include_path``: for each group its tasks and their code.

    Args:
        out: the folder to make or replace.
        places: a key of `DATASETS` -> the folder, or the id on the Hub where it is another one;
            `InputError` if it is neither.
        max_new_tokens: the longest answer to a prompt.

    Returns:
        The names of the groups.
    """
    of_datasets = {name: place_of(places.get(name, hub_id)) for name, hub_id in DATASETS.items()}
    names: list[str] = []
    with new_folder(out) as folder:
        for dataset, place in of_datasets.items():
            module = cast(HarnessTasks, import_module(f"{__package__}.{dataset}"))
            groups = module.groups(place, max_new_tokens)
            names += groups
            for name, tasks in groups.items():
                (folder / name).mkdir()
                write(folder / name / f"_{name}.yaml", group(name, tasks))
                for task in tasks:
                    write(folder / name / f"{task['task']}.yaml", task)
                _copy(module.CODE, folder / name)
    return names


def _copy(code: tuple[tuple[str, str], ...], folder: Path) -> None:
    for package, module in code:
        source = files(package).joinpath(f"{module}.py").read_text("utf-8")
        (folder / f"{module}.py").write_text(source, "utf-8", newline="\n")


def place_of(dataset: str) -> str:
    """Return a folder's absolute path, so that tasks work from anywhere, or a Hub id as it is."""
    if Path(dataset).is_dir():
        return str(Path(dataset).resolve())
    require_dataset_id(dataset)
    return dataset

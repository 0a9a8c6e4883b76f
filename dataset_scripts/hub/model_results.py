"""Results of a model, offered to its repository on the Hub as a pull request."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pronominal.dataset_scripts.reading.hub_client import hub_client, hub_errors
from pronominal.errors import InputError
from pronominal.names import is_hub_id

if TYPE_CHECKING:
    from huggingface_hub import HfApi

RESULTS = ".eval_results"
AGAIN = "write it again with 'pronominal report RUNS --eval-results FOLDER'"

Results = Mapping[tuple[str, str], float]
"""Dataset and task -> value."""


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """Files for the folder ``.eval_results``.

    Attributes:
        files: path in the repository -> its content.
        results: what they say.
    """

    files: Mapping[str, bytes]
    results: Results


def read_results(folder: Path) -> ResultFiles:
    """Read and check ``FOLDER/.eval_results/*.yaml``, which huggingface_hub takes unchecked.

    Raises:
        InputError: there is none, or an entry has no ``ORG/NAME``, no task, no finite value in
            [0, 1], or a date that is none.
    """
    found = sorted((folder / RESULTS).glob("*.yaml"))
    if not found:
        cause = f"there is no {RESULTS}/*.yaml"
        raise InputError(
            cause, cure="give FOLDER/LABEL of 'report --eval-results FOLDER'", file=folder
        )
    files, results = {}, {}
    for file in found:
        content = file.read_bytes()
        files[f"{RESULTS}/{file.name}"] = content
        for key, value in _checked(content, file):
            if key in results:
                raise InputError(f"{key[1]} has two values", cure=AGAIN, file=file)
            results[key] = value
    return ResultFiles(files, results)


def _checked(content: bytes, file: Path) -> Iterator[tuple[tuple[str, str], float]]:
    try:
        entries = yaml.safe_load(content)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError("it is no YAML", cure=AGAIN, file=file) from error
    if not isinstance(entries, list):
        raise InputError("it is no list of results", cure=AGAIN, file=file)
    for number, entry in enumerate(entries, start=1):
        fault = _fault(entry)
        if fault is not None:
            raise InputError(fault, cure=AGAIN, file=file, row=f"entry {number}")
        yield (entry["dataset"]["id"], entry["dataset"]["task_id"]), float(entry["value"])


def _fault(entry: Any) -> str | None:
    """Return what is wrong with an entry, or None."""
    dataset = entry.get("dataset") if isinstance(entry, dict) else None
    if not isinstance(dataset, dict):
        return "it has no dataset"
    if not is_hub_id(str(dataset.get("id"))):
        return "its dataset is no ORG/NAME"
    if not isinstance(dataset.get("task_id"), str):
        return "it has no task_id"
    value = entry.get("value")
    number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not number or not 0 <= value <= 1:
        return "its value is no share in [0, 1]"
    date = entry.get("date")
    try:
        if date is not None:
            datetime.fromisoformat(date)
    except (TypeError, ValueError):
        return "its date is no quoted day or time of ISO 8601"
    return None


def offer_results(given: ResultFiles, model: str) -> str:
    """Open a pull request with results, and return its address; that of one that has them already.

    Main and the open pull requests are looked at first, and compared by dataset and task: file
    names are free.

    Raises:
        InputError: the model's repository cannot be read, has these results already, or the Hub
            takes no pull request.
    """
    if not is_hub_id(model):
        raise InputError(f"'{model}' is no name of a repository", cure="give it as ORG/NAME")
    api = hub_client()
    with hub_errors(model):
        there = _results_at(api, model, "main")
        if all(there.get(key) == value for key, value in given.results.items()):
            raise InputError("it has these results already", cure="nothing is to do", file=model)
        for request in api.get_repo_discussions(
            model, discussion_type="pull_request", discussion_status="open"
        ):
            offered = _results_at(api, model, f"refs/pr/{request.num}")
            if all(offered.get(key) == value for key, value in given.results.items()):
                return request.url
        return _open(api, given, model)


def _results_at(api: "HfApi", model: str, revision: str) -> dict[tuple[str, str], float]:
    """Return the results that a revision of a model's repository holds; none of damaged files."""
    found: dict[tuple[str, str], float] = {}
    for path in api.list_repo_files(model, revision=revision):
        if path.startswith(f"{RESULTS}/") and path.endswith(".yaml"):
            file = Path(api.hf_hub_download(model, path, revision=revision))
            try:
                found |= dict(_checked(file.read_bytes(), file))
            except InputError:
                continue
    return found


def _open(api: "HfApi", given: ResultFiles, model: str) -> str:
    from huggingface_hub import CommitOperationAdd

    tasks = sorted(task for _, task in given.results)
    made = api.create_commit(
        model,
        [CommitOperationAdd(path, content) for path, content in given.files.items()],
        commit_message=f"Evaluation results: {tasks[0]}"
        + (f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""),
        commit_description="Scores by pronominal; how each came about stands in its notes.",
        create_pr=True,
    )
    return str(made.pr_url)

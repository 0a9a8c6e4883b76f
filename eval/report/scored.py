"""The runs that a report shows, grouped by the rows that they answer."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pronominal.dataset_scripts.published import PublishedSplit
from pronominal.dataset_scripts.streaming import read_joined
from pronominal.errors import InputError
from pronominal.eval import scorer
from pronominal.eval.evaluation import SCORE
from pronominal.eval.run_store import read_answers, read_description
from pronominal.eval.significance import AGAINST, against

AGAIN = "run 'pronominal evaluate' again"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The systems that were run on one split.

    Attributes:
        dataset: its name.
        config: of it.
        split: of the config.
        digest: of the rows; the same names may stand for those of another build.
        scores: label -> what ``score.json`` says.
        runs: label -> the content of ``run.json``.
        folders: label -> the run's folder.
    """

    dataset: str
    config: str
    split: str
    digest: str
    scores: dict[str, dict[str, Any]] = field(default_factory=dict)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Config and split."""
        return f"{self.dataset} / {self.config} / {self.split}"


def read_comparisons(folders: Iterable[Path]) -> list[Comparison]:
    """Read every scored run in some folders, at any depth; a folder may be a run itself.

    Raises:
        InputError: a folder has no scored run, one is damaged, or two runs of the same rows have
            one label.
    """
    found: dict[tuple[str, ...], Comparison] = {}
    for folder in folders:
        files = sorted(folder.rglob(SCORE))
        if not files:
            cure = "make some with 'pronominal evaluate'"
            raise InputError("there is no scored run", cure=cure, file=folder)
        for file in files:
            _add(found, file)
    return [found[key] for key in sorted(found)]


def _add(found: dict[tuple[str, ...], Comparison], file: Path) -> None:
    run, scores = read_description(file.parent), _read_scores(file)
    rows, label = run["dataset"], run["label"]
    key = (rows["name"], rows["config"], rows["split"], rows["digest"])
    comparison = found.setdefault(key, Comparison(*key))
    earlier = comparison.folders.setdefault(label, file.parent)
    if earlier.resolve() != file.parent.resolve():
        raise InputError(
            f"this run and that in {earlier} are both called {label}",
            cure="evaluate one of them under another label",
            file=file.parent,
        )
    comparison.scores[label], comparison.runs[label] = scores, run


def _read_scores(file: Path) -> dict[str, Any]:
    try:
        scores = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError("it is damaged", cure=AGAIN, file=file) from error
    if not isinstance(scores, dict) or not scores:
        raise InputError("it holds no scores", cure=AGAIN, file=file)
    return scores


def rows_of(comparison: Comparison, datasets: Iterable[str]) -> PublishedSplit | None:
    """Return the rows of a comparison from the first built dataset that has the very same ones."""
    for place in datasets:
        try:
            split = read_joined(place, comparison.config, comparison.split)
        except InputError:
            continue  # another dataset: it has no such config
        if split.digest == comparison.digest:
            return split
    return None


def add_tests(comparison: Comparison, split: PublishedSplit) -> None:
    """Test every two systems against each other where the scores hold no tests yet."""
    right_of = getattr(scorer(comparison.dataset), "right", None)
    scores = comparison.scores
    if right_of is None or len(scores) < 2 or any(AGAINST in score for score in scores.values()):
        return
    right: dict[str, dict[str, Any]] = {}
    for label, folder in comparison.folders.items():
        for measure, items in right_of(split.table, read_answers(folder, split)).items():
            right.setdefault(measure, {})[label] = items
    tests: Mapping[str, Any] = against(right)
    for label, found in tests.items():
        scores[label] = scores[label] | {AGAINST: found}

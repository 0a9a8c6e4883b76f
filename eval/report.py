"""One self-contained page from a folder of runs: opens offline, holds no evaluation text."""

import json
from collections import defaultdict
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

from pronominal.atomic import new_file
from pronominal.errors import InputError
from pronominal.eval import scorer
from pronominal.eval.evaluation import SCORE
from pronominal.eval.run_store import read_description
from pronominal.eval.tables import Table

AGAIN = "run 'pronominal evaluate' again"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The systems that were run on one split.

    Attributes:
        title: dataset, config and split.
        tables: the tables that ``pronominal evaluate`` prints.
        bars: one (heading, [(system, accuracy in [0, 1])]) for each case and pronoun set.
        runs: the content of each ``run.json``, by label.
    """

    title: str
    tables: list[Table]
    bars: list[tuple[str, list[tuple[str, float]]]]
    runs: dict[str, dict[str, Any]]


def write_report(runs: Path, out: Path) -> int:
    """Write the page and return how many runs it shows.

    Args:
        runs: a folder of runs made by ``pronominal evaluate``.
        out: the HTML file.

    Raises:
        InputError: there is no scored run.
    """
    groups: dict[str, dict[str, tuple[dict[str, Any], dict[str, Any]]]] = defaultdict(dict)
    for path in sorted(runs.glob(f"*/{SCORE}")):
        run = read_description(path.parent)
        # the same name may stand for other rows, such as those of a build with further pronouns
        rows = run["dataset"]
        title = f"{rows['name']} / {rows['config']} / {rows['split']} ({rows['digest'][:8]})"
        groups[title][run["label"]] = (run, _read_score(path))
    if not groups:
        raise InputError(
            "there is no scored run", cure="make some with 'pronominal evaluate'", file=runs
        )
    comparisons = [_comparison(title, group) for title, group in groups.items()]
    source = files("pronominal.eval").joinpath("report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    page = environment.from_string(source).render(comparisons=comparisons)
    with new_file(out) as beside:
        beside.write_text(page, encoding="utf-8")
    return sum(len(group) for group in groups.values())


def _read_score(path: Path) -> dict[str, Any]:
    try:
        score = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            "it is damaged", cure="run 'pronominal evaluate' again", file=path
        ) from error
    if not isinstance(score, dict) or not score:
        raise InputError("it holds no scores", cure="run 'pronominal evaluate' again", file=path)
    return score


def _comparison(title: str, group: dict[str, tuple[dict[str, Any], dict[str, Any]]]) -> Comparison:
    scores = {label: score for label, (_, score) in group.items()}
    runs = {label: run for label, (run, _) in group.items()}
    dataset = next(iter(runs.values()))["dataset"]["name"]
    bars = [
        (key, [(label, score[by][key]["accuracy"]) for label, score in scores.items()])
        for by in ("by_case", "by_pronoun_set")
        for key, block in next(iter(scores.values())).get(by, {}).items()
        if block["n"]
    ]
    return Comparison(title, [*scorer(dataset).tables(scores)], bars, runs)

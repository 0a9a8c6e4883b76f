"""``pronominal score``: predictions of a run, or of a file from elsewhere."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.arguments import Config, DatasetPlace, Full, Json, TaskPlace
from pronominal.cli.printing import exit_with_failures, print_results
from pronominal.errors import InputError


def score(
    context: typer.Context,
    dataset: DatasetPlace,
    predictions: Annotated[
        Path, typer.Option("--predictions", "-p", help="A predictions file, or a run's folder.")
    ],
    name: Annotated[
        str | None, typer.Argument(help="The dataset's name; that of its folder without it.")
    ] = None,
    config: Config = None,
    split: Annotated[
        str | None,
        typer.Option(help="A split; without it the run's own, or what the file answers."),
    ] = None,
    reading: Annotated[
        str | None,
        typer.Option(help="Read the predictions' clusters anew: see 'pronominal run --reading'."),
    ] = None,
    task: TaskPlace = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="KEY=VALUE, an option of your own task, or answers to a companion split."
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the scores in the run's folder, for reports.")
    ] = False,
    full: Full = False,
    as_json: Json = False,
) -> None:
    """Score predictions with the dataset's own metrics."""
    from pronominal.dataset_scripts.reading.loading import dataset_name, load_split
    from pronominal.eval import results
    from pronominal.eval.evaluation import answered_split
    from pronominal.eval.runs.asked_systems import parse_settings
    from pronominal.eval.scores import as_task, task_of

    own = as_task(task)
    name = name or dataset_name(dataset, config)
    scoring = task_of(name, own)  # refuses a dataset without scores before anything is read
    given = context.obj | parse_settings(settings or [])
    split = split or answered_split(scoring, dataset, config, predictions)
    rows = load_split(dataset, config, split)
    if rows.dataset_name != name:
        cure = f"pronominal score {rows.dataset_name}"
        raise InputError(f"the folder holds {rows.dataset_name}", cure=cure, file=dataset)
    scored = results.score(rows, predictions, task=own, reading=reading, keep=keep, **given)
    (scores,) = scored.scores.values()
    if as_json:
        print(json.dumps(scores.content, indent=2))
    else:
        print_results(scored, full=full)
    exit_with_failures(scored.failed())

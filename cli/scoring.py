"""``pronominal score``: predictions of a run, or of a file from elsewhere."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pronominal.cli.arguments import DATASET_HELP, Config, Full, Json, TaskPlace
from pronominal.cli.printing import exit_with_failures, print_results
from pronominal.errors import InputError
from pronominal.names import closest

if TYPE_CHECKING:
    from pronominal.dataset_scripts.reading.split import Split
    from pronominal.eval.task import Task


def score(
    context: typer.Context,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN]",
            help="A run's folder, which says all the rest; or a dataset's name, to be sure.",
        ),
    ] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", "-d", help=DATASET_HELP)] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", "-p", help="A predictions file, or a run's folder."),
    ] = None,
    config: Config = None,
    split: Annotated[
        str | None,
        typer.Option(help="A split; without it the run's own, or what the file answers."),
    ] = None,
    reading: Annotated[
        str | None,
        typer.Option(
            help="Read the predictions' clusters anew: see 'pronominal evaluate --reading'."
        ),
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
    """Score predictions with the dataset's own metrics.

    A run's folder says which rows it answers, and runs beside it answer companion splits, such as
    KnowRef's switched rows: 'pronominal score RUN' is enough where the dataset is still there.
    """
    from pronominal.eval import results
    from pronominal.eval.runs.asked_systems import parse_settings
    from pronominal.eval.runs.record import is_run
    from pronominal.eval.scores import as_task

    own = as_task(task)
    given = context.obj | parse_settings(settings or [])
    if predictions is None:
        name, predictions = None, _run_at(name)
    elif name is not None and is_run(Path(name)):
        cure = f"type 'pronominal score {name}', or 'pronominal score --predictions {predictions}'"
        raise InputError("a run stands where a dataset's name does", cure=cure, file=name)
    rows = _rows_of(predictions, name, dataset, config, split, own)
    scored = results.score(rows, predictions, task=own, reading=reading, keep=keep, **given)
    (scores,) = scored.scores.values()
    if as_json:
        print(json.dumps(scores.content, indent=2))
    else:
        print_results(scored, full=full)
    exit_with_failures(scored.failed())


def _rows_of(
    predictions: Path,
    name: str | None,
    dataset: str | None,
    config: str | None,
    split: str | None,
    own: "Task | None",
) -> "Split":
    """Read the rows that predictions answer; what is not given is what their run says."""
    from pronominal.dataset_scripts.reading.loading import dataset_name, load_split
    from pronominal.eval.evaluation import answered_split
    from pronominal.eval.runs.record import place_of_rows, read_record, run_of
    from pronominal.eval.scores import task_of

    run = run_of(predictions)
    if run is not None:
        config = config or read_record(run).dataset.config
        dataset = dataset or place_of_rows(run)
    if dataset is None:
        raise InputError("no dataset is given", cure="add --dataset FOLDER")
    name = name or dataset_name(dataset, config)
    scoring = task_of(name, own)  # refuses a dataset without scores before anything is read
    split = split or answered_split(scoring, dataset, config, predictions)
    rows = load_split(dataset, config, split)
    if rows.dataset_name != name:
        cure = f"pronominal score {rows.dataset_name}"
        raise InputError(f"the folder holds {rows.dataset_name}", cure=cure, file=dataset)
    return rows


def _run_at(place: str | None) -> Path:
    """Return the folder of a run that the argument names."""
    from pronominal.eval.runs.record import RUN, is_run

    cure = "type 'pronominal score RUN', or add --predictions FILE"
    if place is None:
        raise InputError("no run's folder and no predictions are given", cure=cure)
    folder = Path(place)
    if folder.is_file():
        cure = f"type --predictions {place}, or the folder of its run alone"
        raise InputError("this is a file", cure=cure, file=place)
    if not folder.is_dir():
        near = closest(folder.name, [one.name for one in folder.parent.glob("*")])
        cure = cure if near is None else f"did you mean '{folder.with_name(near)}'?"
        raise InputError("there is no such folder", cure=cure, file=place)
    if not is_run(folder):
        runs = sorted(file.parent for file in folder.glob(f"*/{RUN}"))
        if runs:
            cure = f"name one, such as {runs[0]}, or type 'pronominal report {folder}'"
        raise InputError("this is no run's folder", cure=cure, file=place)
    return folder

"""``pronominal export``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pronominal.cli.arguments import Config
from pronominal.cli.declared_options import shared_parameters, taking
from pronominal.cli.progress import progress_bar
from pronominal.errors import InputError
from pronominal.eval.exchange import FORMATS, inspect_tasks, lm_eval
from pronominal.names import unknown_name
from pronominal.overwriting import refuse_overwriting
from pronominal.settings import read_options

EVERY_EVAL_EVER = "every-eval-ever"
TARGETS = {name: entry.options for name, entry in FORMATS.items()}
TARGETS[EVERY_EVAL_EVER] = ()
TARGETS[inspect_tasks.NAME] = lm_eval.PLACES
TARGETS[lm_eval.NAME] = (*lm_eval.PLACES, lm_eval.MAX_NEW_TOKENS)
"""For whom something is exported -> the options that this has."""


@taking(shared_parameters((name, option) for name, own in TARGETS.items() for option in own))
def export(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help=f"For whom: {', '.join(TARGETS)}.")],
    target: Annotated[
        Path | None, typer.Argument(metavar="[OUT]", help="The file or folder to make.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The same, as an option.")] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", help="A built dataset's folder, or its id on the Hub."),
    ] = None,
    config: Config = None,
    split: Annotated[str | None, typer.Option(help="A split; 'test' without it.")] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            help="A run, or a predictions file: its clusters are written, too; for every-eval-ever "
            "a folder of runs, whose scores are."
        ),
    ] = None,
    **options: Any,
) -> None:
    """Write a dataset for another coreference system, tasks for inspect_ai or lm-eval, or scores.

    What is written of a dataset holds evaluation sentences: keep it off the web.
    """
    if form not in TARGETS:
        raise unknown_name("format", form, TARGETS)
    places = [place for place in (target, out) if place is not None]
    if len(places) != 1:
        raise InputError("there is not one place to write to", cure="add --out FILE")
    rows = {"dataset": dataset, "config": config, "split": split, "predictions": predictions}
    if form == EVERY_EVAL_EVER:
        _export_results(places[0], rows)
        return
    tasks = form in (inspect_tasks.NAME, lm_eval.NAME)
    asked = options | rows if tasks else options
    given = {name: value for name, value in asked.items() if value is not None}
    own = read_options(form, TARGETS[form], given)
    if tasks:
        _export_tasks(form, places[0], own)
    else:
        _export_rows(form, places[0], rows, own)


def _export_rows(form: str, out: Path, rows: dict[str, Any], options: dict[str, Any]) -> None:
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval.exchange.exporting import export as export_rows

    if rows["dataset"] is None:
        raise InputError("no dataset is given", cure="add --dataset FOLDER")
    if out.is_dir() and any(out.iterdir()):
        raise InputError("there is something already", cure="choose another folder", file=out)
    if not out.is_dir():
        refuse_overwriting(out)
    split = load_split(rows["dataset"], rows["config"], rows["split"] or "test")
    with progress_bar(f"{form} of {split.dataset_name}", split.num_rows) as progress:
        export_rows(
            split, form, out, predictions=rows["predictions"], options=options, progress=progress
        )
    print(out)


def _export_results(out: Path, rows: dict[str, Any]) -> None:
    from pronominal.eval.exchange.every_eval_ever import export_results

    for name in ("dataset", "config", "split"):
        if rows[name] is not None:
            raise InputError(f"{EVERY_EVAL_EVER} takes no --{name}", cure="leave it out")
    if rows["predictions"] is None:
        raise InputError("no runs are given", cure="add --predictions RUNS")
    print(*export_results(rows["predictions"], out), sep="\n")


def _export_tasks(form: str, out: Path, options: dict[str, Any]) -> None:
    if out.exists() and not (out.is_dir() and (not any(out.iterdir()) or _ours(out))):
        raise InputError("there is something already", cure="choose another folder", file=out)
    places = {one.name: options[one.name] for one in lm_eval.PLACES if one.name in options}
    if form == inspect_tasks.NAME:
        from pronominal.eval.exchange.inspect_tasks.export import export_tasks as export_inspect

        for name in export_inspect(out, places):
            print(f"inspect eval {name}")
        return
    from pronominal.eval.exchange.lm_eval.export import export_tasks

    length = {name: value for name, value in options.items() if name not in places}
    groups = export_tasks(out, places, **length)
    print(f"lm_eval --include_path {out} --tasks {','.join(groups)}")


def _ours(folder: Path) -> bool:
    """Say whether a folder holds an earlier export and nothing else."""
    from pronominal.eval.exchange.inspect_tasks.export import is_export

    return is_export(folder) or all(
        path.is_dir() and (path / f"_{path.name}.yaml").exists() for path in folder.iterdir()
    )

"""``pronominal evaluate``: several systems on one split, compared."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pronominal.cli.arguments import (
    DATASET_HELP,
    READINGS,
    Config,
    Full,
    Json,
    Margin,
    Markdown,
    Settings,
    Strict,
    SwitchAtTest,
    SystemNames,
    SystemsFile,
    TaskPlace,
    as_share,
)
from pronominal.cli.printing import exit_with_failures, print_results
from pronominal.cli.progress import loud_warnings, progress_bar
from pronominal.errors import InputError

if TYPE_CHECKING:
    from pronominal.eval.runs.runner import SystemSettings


def evaluate(
    experiment: Annotated[
        Path | None, typer.Argument(help="A TOML file with these options and the systems.")
    ] = None,
    dataset: Annotated[str | None, typer.Option("--dataset", "-d", help=DATASET_HELP)] = None,
    system: SystemNames = None,
    config: Config = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-m", help="No more than the first so many rows.")
    ] = None,
    full: Full = False,
    save: Annotated[
        Path | None, typer.Option(help="Folder for scores.parquet and scores.csv, a row a figure.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of runs.", show_default="runs"),
    ] = None,
    device: Annotated[str | None, typer.Option(help="Where systems compute: cuda or cpu.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="How much they take at once.")] = None,
    dtype: Annotated[str | None, typer.Option(help="What they compute in: bfloat16, say.")] = None,
    settings: Settings = None,
    switch_at_test: SwitchAtTest = False,
    systems_file: SystemsFile = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="A split, or several: seed_13+seed_17+seed_19.", show_default="test"
        ),
    ] = None,
    reading: Annotated[
        str | None,
        typer.Option(help=f"{READINGS} That of the plan, or offsets, without it. Finished runs "
                     "are read anew and not run again."),
    ] = None,
    task: TaskPlace = None,
    as_json: Json = False,
    markdown: Markdown = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
    strict: Strict = False,
    margin: Margin = None,
    plan: Annotated[
        Path | None, typer.Option(help="What was planned with 'pronominal plan': reported first.")
    ] = None,
) -> None:  # fmt: skip
    """Run and score several systems on one split and print the comparison.

    Finished runs are scored as they are, without their systems. All systems also run over companion
    splits, whose answers some scores use: rows with switched candidates, for the consistency, or
    rows without context, for the reasons of errors.
    """
    from pronominal.eval import results
    from pronominal.eval.runs import asked_systems
    from pronominal.eval.runs.experiments import Experiment, read_experiment
    from pronominal.eval.runs.runner import SWITCH_AT_TEST

    read = Experiment({}, [], {}) if experiment is None else read_experiment(experiment)
    given: dict[str, Any] = {
        "dataset": dataset,
        "config": config,
        "split": split,
        "out": out,
        "task": task,
    }
    given |= {"reading": reading, "plan": plan, "limit": limit, "margin": margin, "save": save}
    if "margin" in read.options:
        read.options["margin"] = as_share(read.options["margin"])
    options: dict[str, Any] = read.options | {k: v for k, v in given.items() if v is not None}
    place, where = options.pop("dataset", None), options.pop("save", None)
    asked = read.systems + asked_systems.parse_systems(system or [])
    if systems_file is not None:
        asked += _systems_of(systems_file)
    if place is None:
        raise InputError("no dataset is given", cure="add --dataset FOLDER")
    if not asked and "plan" not in options:
        raise InputError("no system is given", cure="add --system NAME or --systems FILE")
    shared = {"device": device, "batch_size": batch_size, "dtype": dtype}
    told = read.settings | {k: v for k, v in shared.items() if v is not None}
    told |= asked_systems.parse_settings(settings or [])
    told |= {SWITCH_AT_TEST: True} if switch_at_test else {}
    with loud_warnings():
        compared = results.evaluate(
            place,
            asked_systems.with_settings(asked, told),
            **{"reading": None, **options, "strict": strict or options.get("strict", False)},
            progress=progress_bar,
        )
    if where is not None:
        compared.save(where)
    if as_json:
        scores = {label: one.content for label, one in compared.scores.items()}
        print(json.dumps(scores, indent=2))
    else:
        print_results(compared, full=full, markdown=markdown, latex=latex)
    exit_with_failures(compared.failed())


def _systems_of(place: Path) -> list["SystemSettings"]:
    """Return the systems of a file, or of a paper: those of its pack that can be run here."""
    from pronominal.eval.papers.packs.machine import Machine
    from pronominal.eval.papers.packs.resolved import pack_systems
    from pronominal.eval.runs.asked_systems import read_systems

    packed = None if place.exists() else pack_systems(str(place), Machine.here())
    if packed is None:
        return read_systems(place)
    systems, left_out = packed
    for row, why in left_out.items():
        print(f"pronominal: {row} is left out: {why}", file=sys.stderr)
    return systems

"""``pronominal evaluate``: several systems on one split, compared."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pronominal.cli.arguments import (
    DATASET_HELP,
    READINGS,
    Config,
    Full,
    Json,
    Limit,
    Margin,
    Markdown,
    Settings,
    Strict,
    SwitchAtTest,
    SystemNames,
    SystemsFile,
    TaskPlace,
    Until,
)
from pronominal.cli.printing import exit_with_failures, print_results
from pronominal.cli.progress import loud_warnings, progress_bar
from pronominal.errors import InputError

if TYPE_CHECKING:
    from pronominal.eval.runs.experiments import Experiment
    from pronominal.eval.runs.runner import SystemSettings


ExperimentFile = Annotated[
    Path | None, typer.Argument(help="A TOML file with these options and the systems.")
]
Dataset = Annotated[str | None, typer.Option("--dataset", "-d", help=DATASET_HELP)]
Save = Annotated[
    Path | None, typer.Option(help="Folder for scores.parquet and scores.csv, a row a figure.")
]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Folder of runs; 'runs' without it.")]
Device = Annotated[str | None, typer.Option(help="Where systems compute: cuda or cpu.")]
BatchSize = Annotated[int | None, typer.Option(help="How much they take at once.")]
Dtype = Annotated[str | None, typer.Option(help="What they compute in: bfloat16, say.")]
SplitName = Annotated[
    str | None,
    typer.Option(help="A split, 'test' without it, or several: seed_13+seed_17+seed_19."),
]
ReadingName = Annotated[
    str | None,
    typer.Option(
        help=f"{READINGS} That of the plan, or offsets, without it. Finished runs are read anew "
        "and not run again."
    ),
]
Latex = Annotated[bool, typer.Option("--latex", help="Print LaTeX.")]
PlanFile = Annotated[
    Path | None, typer.Option(help="What was planned with 'pronominal plan': reported first.")
]


def evaluate(
    experiment: ExperimentFile = None,
    dataset: Dataset = None,
    system: SystemNames = None,
    config: Config = None,
    limit: Limit = None,
    until: Until = None,
    full: Full = False,
    save: Save = None,
    out: Out = None,
    device: Device = None,
    batch_size: BatchSize = None,
    dtype: Dtype = None,
    settings: Settings = None,
    switch_at_test: SwitchAtTest = False,
    systems_file: SystemsFile = None,
    split: SplitName = None,
    reading: ReadingName = None,
    task: TaskPlace = None,
    as_json: Json = False,
    markdown: Markdown = False,
    latex: Latex = False,
    strict: Strict = False,
    margin: Margin = None,
    plan: PlanFile = None,
) -> None:
    """Run and score several systems on one split and print the comparison.

    Finished runs are scored as they are, without their systems. All systems also run over companion
    splits, whose answers some scores use: rows with switched candidates, for the consistency, or
    rows without context, for the reasons of errors.
    """
    from pronominal.eval.results import evaluate_experiment

    given: dict[str, Any] = {"dataset": dataset, "config": config, "split": split, "out": out}
    given |= {"task": task, "reading": reading, "plan": plan, "limit": limit}
    given |= {"until": until, "margin": margin, "save": save}
    shared = {"device": device, "batch_size": batch_size, "dtype": dtype}
    read = _experiment(experiment, given, shared)
    read.settings.update(_settings(settings, switch_at_test=switch_at_test))
    read.systems.extend(_systems(system, systems_file))
    read.options.update({"strict": True} if strict else {})
    with loud_warnings():
        compared = evaluate_experiment(read, progress=progress_bar)
    if as_json:
        scores = {label: one.content for label, one in compared.scores.items()}
        print(json.dumps(scores, indent=2))
    else:
        print_results(compared, full=full, markdown=markdown, latex=latex)
    if (folder := read.options.get("save")) is not None:
        print(f"pronominal: {folder}: scores.parquet and scores.csv written", file=sys.stderr)
    exit_with_failures(compared.failed())


def _experiment(
    file: Path | None, options: Mapping[str, Any], settings: Mapping[str, Any]
) -> "Experiment":
    """Read an experiment's file, if there is one; what the command line has goes before."""
    from pronominal.eval.runs.experiments import Experiment, read_experiment

    if file is not None and not file.is_file():
        cause = (
            f"{file}: an argument without an option is the file of an experiment, and this is none"
        )
        raise InputError(cause, cure="each system needs its own -s, and a dataset -d")
    read = Experiment({}, [], {}) if file is None else read_experiment(file)
    for of_file, given in ((read.options, options), (read.settings, settings)):
        of_file.update({name: value for name, value in given.items() if value is not None})
    return read


def _settings(given: list[str] | None, *, switch_at_test: bool) -> dict[str, Any]:
    from pronominal.eval.runs.asked_systems import parse_settings
    from pronominal.eval.runs.runner import SWITCH_AT_TEST

    return parse_settings(given or []) | ({SWITCH_AT_TEST: True} if switch_at_test else {})


def _systems(names: list[str] | None, file: Path | None) -> Iterator["SystemSettings"]:
    from pronominal.eval.runs.asked_systems import parse_systems

    yield from parse_systems(names or [])
    yield from [] if file is None else _systems_of(file)


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

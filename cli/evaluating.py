"""``pronominal evaluate``: several systems on one split, compared."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pronominal.cli.arguments import (
    READINGS,
    Config,
    DatasetPlace,
    Json,
    Margin,
    Markdown,
    Out,
    SplitName,
    Strict,
    SystemNames,
    SystemsFile,
    TaskPlace,
)
from pronominal.cli.printing import exit_with_failures, print_tables
from pronominal.cli.progress import loud_warnings, progress_bar
from pronominal.errors import InputError

if TYPE_CHECKING:
    from pronominal.eval.runs.runner import SystemSettings


def evaluate(
    dataset: DatasetPlace,
    system: SystemNames = None,
    systems_file: SystemsFile = None,
    config: Config = None,
    split: SplitName = "test",
    out: Out = Path("runs"),
    reading: Annotated[
        str | None, typer.Option(help=f"{READINGS} That of the plan, or offsets, without it.")
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
) -> None:
    """Run and score several systems on one split and print the comparison.

    They also run over companion splits, whose answers some scores use: rows with switched
    candidates, for the consistency, or rows without context, for the reasons of errors.
    """
    from pronominal.eval import results
    from pronominal.eval.runs.asked_systems import Asked

    asked: list[Asked] = [*(system or [])]
    if systems_file is not None:
        asked += _systems_of(systems_file)
    if not asked and plan is None:
        raise InputError("no system is given", cure="add --system NAME or --systems FILE")
    with loud_warnings():
        compared = results.evaluate(
            dataset,
            asked,
            config=config,
            split=split,
            out=out,
            task=task,
            reading=reading,
            strict=strict,
            margin=margin,
            plan=plan,
            progress=progress_bar,
        )
    if as_json:
        scores = {label: one.content for label, one in compared.scores.items()}
        print(json.dumps(scores, indent=2))
    else:
        print_tables(compared.tables(), markdown=markdown, latex=latex)
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

"""``pronominal datasets``, ``build`` and ``validate``."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from pronominal.cli.running import Json
from pronominal.dataset_scripts import DATASETS, BuildOptions, Sources, dataset_script
from pronominal.dataset_scripts.personal_names import FIFTEEN_NAMES, load_names
from pronominal.errors import InputError
from pronominal.pronouns import PRONOUN_SETS, load_pronoun_sets

Name = Annotated[str, typer.Argument(help="A dataset: see 'pronominal datasets'.")]
SourcesFolder = Annotated[
    Path | None,
    typer.Option(
        "--sources",
        help="Folder with one folder of upstream files for each repository. "
        "Without it the files are downloaded at pinned commits.",
    ),
]


def datasets(as_json: Json = False) -> None:
    """List the datasets that can be built."""
    if as_json:
        rows = [{"name": name, "summary": summary} for name, summary in DATASETS.items()]
        print(json.dumps(rows, indent=2))
        return
    table = Table("dataset", "what it is", box=None)
    for name, summary in DATASETS.items():
        table.add_row(name, summary)
    Console().print(table)


def build(
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder in which the dataset's folder is made.")],
    sources: SourcesFolder = None,
    pronouns: Annotated[
        Path | None,
        typer.Option(help="TOML file with further pronoun sets, for datasets made of templates."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Build also what is not published by default (RUFF)."),
    ] = False,
    repair_case: Annotated[
        bool,
        typer.Option("--repair-case", help="Give switched names the case of their new places."),
    ] = False,
    names: Annotated[
        Path | None,
        typer.Option(
            help="CSV or TSV file with the columns name and association (fem, masc, neutral), "
            "for WinoNB: instead of the paper's fifteen names."
        ),
    ] = None,
    allow_changed: Annotated[
        bool,
        typer.Option(
            "--allow-changed",
            help="Use upstream files that are not the pinned ones; the card names them.",
        ),
    ] = False,
) -> None:
    """Build a dataset: OUT/NAME with Parquet files, card and checksums."""
    from pronominal.dataset_scripts.building.build import build as build_dataset

    options = BuildOptions(
        pronoun_sets=load_pronoun_sets(pronouns) if pronouns else PRONOUN_SETS,
        everything=everything,
        repair_case=repair_case,
        names=load_names(names) if names else FIFTEEN_NAMES,
    )
    built = build_dataset(dataset_script(name), Sources(sources, allow_changed), options, out)
    for split in built:
        print(f"{split.config:12} {split.name:12} {split.rows:>9,} rows  {split.digest}")
    print(out / name)


def validate(name: Name, sources: SourcesFolder = None) -> None:
    """Check the upstream files of a dataset; exit 1 and print one line for each violation."""
    found = 0
    try:
        for violation in dataset_script(name).violations(Sources(sources)):
            found += 1
            print(violation)
    except InputError as error:
        if not found:
            raise
        print(error)
    if found:
        raise typer.Exit(1)
    print(f"{name}: every check passed")

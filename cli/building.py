"""``pronominal datasets``, ``build`` and ``validate``."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from pronominal.cli.arguments import Json
from pronominal.cli.declared_options import shared_parameters, taking
from pronominal.dataset_scripts import DATASETS
from pronominal.dataset_scripts.building.options import BuildOptions
from pronominal.dataset_scripts.building.script import built_name, dataset_script
from pronominal.dataset_scripts.building.sources import Sources
from pronominal.errors import InputError

Name = Annotated[str, typer.Argument(help="A dataset: see 'pronominal datasets'.")]
SourcesFolder = Annotated[
    Path | None,
    typer.Option(
        "--sources",
        help="Upstream files that you have: a folder with one folder for each repository. "
        "Without it they are downloaded, at pinned commits.",
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


OPTIONS = [(name, option) for name in DATASETS for option in dataset_script(name).OPTIONS]


@taking(shared_parameters(OPTIONS))
def build(
    name: Name,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder in which the dataset's folder is made.")
    ],
    sources: SourcesFolder = None,
    allow_changed: Annotated[
        bool,
        typer.Option(
            "--allow-changed",
            help="Use upstream files that are not the pinned ones; the card names them.",
        ),
    ] = False,
    **options: Any,
) -> None:
    """Build a dataset: OUT/NAME with Parquet files, card and checksums."""
    from pronominal.dataset_scripts.building.build import write_dataset

    script = dataset_script(name)
    asked = BuildOptions.read(name, script.OPTIONS, {k: v for k, v in options.items() if v})
    for split in write_dataset(script, Sources(sources, allow_changed), asked, out):
        print(f"{split.config:12} {split.name:12} {split.rows:>9,} rows  {split.digest}")
    print(out / built_name(script, asked))


def validate(name: Name, sources: SourcesFolder = None) -> None:
    """Check the upstream files of a dataset; exit 1 and print one line for each violation."""
    count = 0
    try:
        for violation in dataset_script(name).violations(Sources(sources)):
            count += 1
            print(violation)
    except InputError as error:
        if not count:
            raise
        print(error)
    if count:
        raise typer.Exit(1)
    print(f"{name}: every check passed")

"""``pronominal reproduce``."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from pronominal.cli.running import Json
from pronominal.errors import InputError


def reproduce(
    table: Annotated[
        str, typer.Argument(metavar="PAPER[:TABLE]", help="Such as knowref or knowref:3.")
    ],
    runs: Annotated[
        list[Path] | None,
        typer.Option(help="A run, or a folder of scored runs; each row takes the run of its name."),
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROW=FOLDER",
            help="The run of a row, or the folder of its seeds, such as bert-knowref=FOLDER; of "
            "several, mean and spread.",
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="A built dataset, for tables about the data alone; several if need be."),
    ] = None,
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> int:
    """Print a paper's figures, ours from the given runs, and the difference.

    A row without a run stays empty. Exits with 1 if a table about the data differs from the
    paper's and no one knows why.
    """
    from pronominal.eval.papers.figures import paper_tables
    from pronominal.eval.papers.reproduce import reproduce as compare
    from pronominal.eval.runs.scored import Run, read_runs

    tables = paper_tables(table)
    named: dict[str, list[Run]] = {}
    for argument in run or []:
        row, _, folder = argument.partition("=")
        if not row or not folder:
            raise InputError(f"'{argument}' names no run", cure="write --run ROW=FOLDER")
        named.setdefault(row, []).extend(read_runs(Path(folder)))
    given = [one for folder in runs or [] for one in read_runs(folder)]
    reproductions = compare(tables, given, named, dataset or [])
    if as_json:
        print(json.dumps([one.to_json() for one in reproductions], indent=2))
    else:
        for one in reproductions:
            shown = one.to_table()
            if markdown:
                print(shown.to_markdown())
            else:
                Console().print(shown.to_rich())
    return int(any(one.unexplained for one in reproductions))

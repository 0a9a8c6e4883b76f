"""``pronominal report`` and ``reproduce``."""

import json
from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.progress import progress_bar
from pronominal.cli.running import Json, Margin, Markdown, print_tables
from pronominal.errors import InputError


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs made by 'evaluate'.")],
    out: Annotated[Path, typer.Option(help="The HTML file.")] = Path("report.html"),
    dataset: Annotated[
        list[str] | None,
        typer.Option(help="A built dataset of the runs, for its text; give it once a dataset."),
    ] = None,
    include_text: Annotated[
        bool,
        typer.Option(help="Show rows that systems answer differently: evaluation text on disk."),
    ] = False,
    markdown: Annotated[Path | None, typer.Option(help="File for all tables, as Markdown.")] = None,
    latex: Annotated[Path | None, typer.Option(help="File for all tables, as LaTeX.")] = None,
    csv: Annotated[
        Path | None, typer.Option(help="Folder of its own for every table, as CSV.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(help="Folder of its own for every chart, as SVG.")
    ] = None,
    hub_metadata: Annotated[
        Path | None,
        typer.Option(help="Folder for each system's scores as model-card metadata of the Hub."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(help="A task of your own, as MODULE:ATTRIBUTE, for all of the runs."),
    ] = None,
    margin: Margin = None,
) -> None:
    """Write one self-contained page about the runs in some folders."""
    from pronominal.eval.report import write_report
    from pronominal.eval.task import load_task

    own = None if task is None else load_task(task)
    if include_text and not dataset:
        cure = "add --dataset FOLDER, which holds the text"
        raise InputError("--include-text has nowhere to take it from", cure=cure)
    with progress_bar("splits", 0) as progress:
        write_report(
            runs,
            out,
            datasets=dataset or (),
            include_text=include_text,
            markdown=markdown,
            latex=latex,
            csv=csv,
            svg=svg,
            task=own,
            margin=margin,
            progress=progress,
        )
    print(out)
    if hub_metadata is not None:
        from pronominal.eval.report.hub_metadata import write_hub_metadata

        for file in write_hub_metadata(runs, hub_metadata, own):
            print(file)


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
    markdown: Markdown = False,
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
        print_tables((one.to_table() for one in reproductions), markdown=markdown)
    return int(any(one.unexplained for one in reproductions))

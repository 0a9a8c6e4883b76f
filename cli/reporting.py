"""``pronominal report``."""

from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.progress import progress_bar


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
) -> None:
    """Write one self-contained page about the runs in some folders."""
    from pronominal.errors import InputError
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
            progress=progress,
        )
    print(out)
    if hub_metadata is not None:
        from pronominal.eval.report.hub_metadata import write_hub_metadata

        for file in write_hub_metadata(runs, hub_metadata, own):
            print(file)

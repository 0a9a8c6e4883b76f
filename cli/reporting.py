"""``pronominal report``."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[Path, typer.Argument(help="A folder of runs made by 'evaluate'.")],
    out: Annotated[Path, typer.Option(help="The HTML file.")] = Path("report.html"),
    hub_metadata: Annotated[
        Path | None,
        typer.Option(help="Folder for each system's scores as model-card metadata of the Hub."),
    ] = None,
) -> None:
    """Write one self-contained page about the runs in a folder."""
    from pronominal.eval.report import write_report

    write_report(runs, out)
    print(out)
    if hub_metadata is not None:
        from pronominal.eval.hub_metadata import write_hub_metadata

        for file in write_hub_metadata(runs, hub_metadata):
            print(file)

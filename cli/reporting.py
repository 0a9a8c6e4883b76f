"""``pronominal report``."""

from pathlib import Path
from typing import Annotated

import typer


def report(
    runs: Annotated[Path, typer.Argument(help="A folder of runs made by 'evaluate'.")],
    out: Annotated[Path, typer.Option(help="The HTML file.")] = Path("report.html"),
) -> None:
    """Write one self-contained page about the runs in a folder."""
    from pronominal.eval.report import write_report

    write_report(runs, out)
    print(out)

"""``pronominal leaderboard`` and ``check-run``."""

from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.arguments import ReadingName, TaskPlaces

Datasets = Annotated[
    list[str] | None,
    typer.Option("--dataset", "-d", help="A built dataset's folder or Hub id; once a dataset."),
]


def leaderboard(
    runs: Annotated[
        list[Path] | None, typer.Argument(help="Folders of runs, of submissions for instance.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the pages.")] = Path(
        "site"
    ),
    name: Annotated[str, typer.Option(help="What it is called.")] = "Pronoun leaderboard",
    dataset: Datasets = None,
    reading: ReadingName = "offsets",
    papers: Annotated[
        bool, typer.Option("--papers/--no-papers", help="Show the papers' published figures.")
    ] = True,
    id_key: Annotated[
        Path | None,
        typer.Option(
            help="Publish each run's answers under opaque ids made with this key, a file; where "
            "there is none, it is made."
        ),
    ] = None,
    task: TaskPlaces = None,
) -> None:
    """Write static pages with the places of runs: one for each dataset, one for each system.

    Runs that answered other rows or by another rule, or not all rows, are named and not ranked.
    """
    from pronominal.eval.leaderboard import write_leaderboard
    from pronominal.eval.report import own_tasks

    entries = write_leaderboard(
        runs or [],
        out,
        name=name,
        datasets=dataset or (),
        reading=reading,
        papers=papers,
        tasks=own_tasks(task),
        key=id_key,
    )
    print(f"{out / 'index.html'}: {entries:,} entries")

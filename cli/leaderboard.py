"""``pronominal leaderboard`` and ``check-run``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pronominal.cli.arguments import Json, ReadingName, TaskPlaces
from pronominal.errors import printable

if TYPE_CHECKING:
    from pronominal.eval.leaderboard.checks import Checked

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


def check_run(
    folder: Annotated[Path, typer.Argument(help="A submission: the folder of a run, or of some.")],
    dataset: Datasets = None,
    task: TaskPlaces = None,
    as_json: Json = False,
) -> int:
    """Say whether submitted runs are complete, hold no text, and have the scores that they say.

    With the dataset, the answers are scored again and its sentences are looked for in every file,
    archives included. Exits with 1 if something is wrong.
    """
    from pronominal.eval.leaderboard.checks import check_runs
    from pronominal.eval.report import own_tasks

    checked = check_runs(folder, dataset or (), own_tasks(task))
    if as_json:
        print(json.dumps([_told(one) for one in checked], indent=2))
    else:
        for one in checked:
            for line in one.faults or [_sound(one)]:
                print(printable(f"{one.folder}: {line}"))
    return int(any(one.faults for one in checked))


def _sound(one: "Checked") -> str:
    assert one.record is not None
    about = f"{one.record.dataset}, {one.record.dataset.rows:,} rows, {one.record.label}"
    if one.serves:
        return f"sound; {about}; for the scores of another run"
    again = "scored again, with the same result" if one.scored else "not scored again"
    return f"sound; {about}; {again}"


def _told(one: "Checked") -> dict[str, object]:
    record = one.record
    return {
        "folder": str(one.folder),
        "label": record and record.label,
        "rows": record and str(record.dataset),
        "digest": record and record.dataset.digest,
        "scored_again": one.scored,
        "faults": one.faults,
    }

"""``pronominal report`` and ``reproduce``."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pronominal.cli.arguments import Json, Margin, Markdown, TaskPlaces
from pronominal.cli.printing import print_tables
from pronominal.cli.progress import progress_bar
from pronominal.errors import InputError, printable

if TYPE_CHECKING:
    from pronominal.eval.task import Task

Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset",
        "-d",
        help="A built dataset of the runs, for outcomes and text of its rows; give it once a "
        "dataset.",
    ),
]
IncludeText = Annotated[
    bool,
    typer.Option("--include-text", help="Show the text of rows: evaluation text on disk."),
]
MarkdownFile = Annotated[Path | None, typer.Option(help="File for all tables, as Markdown.")]
LatexFile = Annotated[Path | None, typer.Option(help="File for all tables, as LaTeX.")]
CsvFolder = Annotated[Path | None, typer.Option(help="Folder of its own for every table, as CSV.")]
SvgFolder = Annotated[Path | None, typer.Option(help="Folder of its own for every figure, as SVG.")]
ScoresFolder = Annotated[
    Path | None, typer.Option(help="Folder for scores.parquet and scores.csv, a row a figure.")
]
MetadataFolder = Annotated[
    Path | None,
    typer.Option(help="Folder for each system's scores as model-card metadata of the Hub."),
]
ResultsFolder = Annotated[
    Path | None,
    typer.Option(help="Folder for each system's .eval_results, which its repository holds."),
]


Systems = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        "-s",
        help="A run's label: compare these alone. Without it, the best 20 of each split.",
    ),
]
Papers = Annotated[
    bool, typer.Option("--papers", help="Show the papers' published figures as reference marks.")
]
Released = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LABEL=DATE",
        help="When a model came out, such as mine=2025-01: marks data that is older.",
    ),
]


def report(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs made by 'evaluate'.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file.")] = Path("report.html"),
    dataset: Datasets = None,
    system: Systems = None,
    papers: Papers = False,
    released: Released = None,
    include_text: IncludeText = False,
    markdown: MarkdownFile = None,
    latex: LatexFile = None,
    csv: CsvFolder = None,
    svg: SvgFolder = None,
    scores: ScoresFolder = None,
    hub_metadata: MetadataFolder = None,
    eval_results: ResultsFolder = None,
    task: TaskPlaces = None,
    margin: Margin = None,
    plan: Annotated[
        Path | None, typer.Option(help="What was planned with 'pronominal plan': shown first.")
    ] = None,
) -> None:
    """Write one self-contained page about the runs in some folders."""
    from pronominal.eval import report as reports

    if include_text and not dataset:
        cure = "add --dataset FOLDER, which holds the text"
        raise InputError("--include-text has nowhere to take it from", cure=cure)
    files = {"markdown": markdown, "latex": latex, "csv": csv, "svg": svg}
    files["scores"] = scores
    tasks = reports.own_tasks(task)
    _say_unscored(runs, tasks)
    with progress_bar("splits", 0) as progress:
        reports.report(
            runs,
            out,
            datasets=dataset or (),
            task=tasks,
            systems=system or (),
            papers=papers,
            released=_dates(released or []),
            include_text=include_text,
            margin=margin,
            plan=plan,
            progress=progress,
            **files,
        )
    print(out)
    if hub_metadata is not None:
        from pronominal.eval.report.hub_metadata import write_hub_metadata

        for file in write_hub_metadata(runs, hub_metadata, tasks):
            print(file)
    if eval_results is not None:
        from pronominal.eval.report.eval_results import write_eval_results

        written = write_eval_results(runs, eval_results, tasks)
        print(*written.files, sep="\n")
        for one in written.left_out:
            print(f"pronominal: {printable(one)}", file=sys.stderr)


def _dates(given: Iterable[str]) -> dict[str, str]:
    """Return the dates of models by their labels."""
    dates = {}
    for one in given:
        label, equals, dates[label] = one.partition("=")
        if not equals:
            raise InputError(f"'{one}' is no date of a model", cure="write LABEL=2025-01")
    return dates


def _say_unscored(folders: Iterable[Path], tasks: "Sequence[Task]" = ()) -> None:
    """Say on stderr which runs have no scores yet, and how to go on with them."""
    from pronominal.eval.report.unscored import unscored_runs

    for run in unscored_runs(folders, tasks):
        print(f"pronominal: {printable(str(run))}", file=sys.stderr)


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
        typer.Option(
            "--dataset",
            "-d",
            help="A built dataset, for tables about the data or rows; several if need be.",
        ),
    ] = None,
    include_text: Annotated[
        bool,
        typer.Option("--include-text", help="Print the rows' text, where a table lists rows."),
    ] = False,
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
        if not (found := read_runs(Path(folder))):
            cure = f"'pronominal report {folder}' says how to go on"
            raise InputError("none of its runs has scores", cure=cure, file=folder)
        named.setdefault(row, []).extend(found)
    _say_unscored(runs or [])
    given = [one for folder in runs or [] for one in read_runs(folder)]
    reproductions = compare(tables, given, named, dataset or [], include_text=include_text)
    if as_json:
        print(json.dumps([one.to_json() for one in reproductions], indent=2))
    else:
        print_tables((t for one in reproductions for t in one.tables()), markdown=markdown)
    return int(any(one.unexplained for one in reproductions))

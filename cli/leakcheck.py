"""``pronominal leakcheck`` and ``overlap``."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import DownloadColumn, SpinnerColumn
from rich.table import Table

from pronominal.cli.arguments import Json
from pronominal.cli.progress import progress_bar
from pronominal.errors import InputError, printable
from pronominal.overwriting import refuse_overwriting

if TYPE_CHECKING:
    from pronominal.dataset_scripts.leakcheck.index import LeakIndex

Datasets = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset",
        "-d",
        help="A built dataset's folder, or its id on the Hub; give it once each.",
    ),
]
IndexFile = Annotated[
    Path | None, typer.Option(help="An index that leakcheck wrote, instead of datasets.")
]
Exclude = Annotated[
    list[str] | None,
    typer.Option(help="Pattern of paths to leave out, such as 'cards/*'; give it once each."),
]


def leakcheck(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files and folders; in a repository, the files that git does not ignore and "
            "everything in its history.",
            show_default=False,
        ),
    ] = None,
    dataset: Datasets = None,
    index: IndexFile = None,
    write_index: Annotated[
        Path | None, typer.Option(help="Write the index of the datasets; it holds no sentence.")
    ] = None,
    exclude: Exclude = None,
    history: Annotated[
        bool, typer.Option("--history/--no-history", help="Look into git history too.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Find evaluation sentences and canaries; print file, line and row, never the sentence.

    Reads text of every kind, JSONL, Parquet, zip, and what gzip, bzip2, xz or Zstandard packed.
    Exits with 1 if something was found, and with 2 if nothing was and a file could not be read.
    """
    from pronominal.dataset_scripts.leakcheck.finder import Survey, leakcheck

    if not paths and write_index is None:
        raise InputError("there is nothing to look into", cure="give a file or folder")
    known = _asked_index(dataset or [], index, write_index)
    survey, found = Survey(), []
    failure: InputError | None = None
    try:
        with progress_bar("bytes read", None, SpinnerColumn(), DownloadColumn()) as progress:
            for leak in leakcheck(
                paths or [],
                known,
                exclude=exclude or [],
                history=history,
                survey=survey,
                progress=progress,
            ):
                found.append({**leak.origin._asdict(), "line": leak.line, "found": leak.source})
                if not as_json:
                    print(printable(str(leak)))
    except InputError as error:
        failure = error
    if as_json:
        told = asdict(survey)
        told["unreadable"] += [str(failure)] if failure else []
        print(json.dumps({"leaks": found, **told}, indent=2))
    if failure:
        raise failure
    print(_summary(known, survey.documents, survey.size, len(found)), file=sys.stderr)
    for complaint in survey.unreadable:
        print(f"pronominal: {printable(complaint)}", file=sys.stderr)
    if found or survey.unreadable:
        raise typer.Exit(1 if found else 2)


def overlap(
    corpus: Annotated[list[str], typer.Argument(help="Files and folders of the corpus.")],
    dataset: Datasets = None,
    index: IndexFile = None,
    exclude: Exclude = None,
    as_json: Json = False,
) -> None:
    """Say how much of a dataset a corpus holds, by hashed runs of eight words.

    Prints shares for each split, never a sentence. Exits with 2 if a file could not be read.
    """
    from pronominal.dataset_scripts.leakcheck.finder import Survey
    from pronominal.dataset_scripts.leakcheck.overlap import overlap as count

    known = _asked_index(dataset or [], index)
    survey = Survey()
    with progress_bar("bytes read", None, SpinnerColumn(), DownloadColumn()) as progress:
        found = count(corpus, known, exclude=exclude or [], survey=survey, progress=progress)
    if as_json:
        told = {"splits": [asdict(split) for split in found], **asdict(survey)}
        print(json.dumps(told, indent=2))
    else:
        table = Table("split", "rows", "whole", "half", "any", "mean of runs", box=None)
        for split in found:
            shares = [f"{share:.1%}" for share in (split.whole, split.half, split.any, split.runs)]
            table.add_row(split.split, f"{split.n:,}", *shares)
        Console().print(table)
    for complaint in survey.unreadable:
        print(f"pronominal: {printable(complaint)}", file=sys.stderr)
    if survey.unreadable:
        raise typer.Exit(2)


def _asked_index(
    datasets: list[str], index: Path | None, written: Path | None = None
) -> "LeakIndex":
    """Read an index, or make that of datasets, and write it; `InputError` for neither or both."""
    from pronominal.dataset_scripts.leakcheck.index import LeakIndex
    from pronominal.dataset_scripts.reading.folders import open_dataset

    if written is not None:
        refuse_overwriting(written)
    if bool(datasets) == bool(index):
        raise InputError(
            "it must be known what to look for", cure="give either --dataset FOLDER or --index FILE"
        )
    known = LeakIndex.read(index) if index else LeakIndex.of(map(open_dataset, datasets))
    if written is not None:
        known.write(written)
    return known


def _summary(known: "LeakIndex", documents: int, size: int, leaks: int) -> str:
    sought = f"{known.sentences:,} sentences"
    if known.too_short:
        sought += f" ({known.too_short:,} rows are too short to be looked for)"
    return f"{leaks:,} found in {documents:,} documents, {size / 1e6:,.1f} MB; looked for {sought}"

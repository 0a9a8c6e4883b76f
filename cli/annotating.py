"""``pronominal annotate``: sheets for annotators, their answers, and what follows from them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from pronominal.cli.arguments import DatasetPlace, Json, TaskPlace
from pronominal.cli.printing import print_tables
from pronominal.errors import InputError

annotate = typer.Typer(
    help="Ask people: export sheets, import answers, agreement, baselines.", no_args_is_help=True
)

Export = Annotated[Path, typer.Argument(help="The folder that 'annotate export' made.")]


@annotate.command("export")
def export(
    dataset: DatasetPlace,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to make.")],
    task: Annotated[
        str, typer.Option(help="antecedent (KnowRef), reference, grammaticality, or blank (RUFF).")
    ] = "antecedent",
    config: Annotated[
        str | None,
        typer.Option("--config", "-c", help="A config; the dataset's default without it."),
    ] = None,
    split: Annotated[str, typer.Option(help="A split.")] = "test",
    annotators: Annotated[int, typer.Option(min=1, help="How many people are to answer.")] = 6,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Rows to draw.", show_default="all")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample and of every order.")] = 0,
    form: Annotated[str, typer.Option("--format", help="Of the sheet: csv or jsonl.")] = "csv",
) -> None:
    """Write a sheet for annotators with instructions, and the key that they must not see.

    The sheet holds evaluation text: its README says where it may be kept.
    """
    from pronominal.dataset_scripts.reading.loading import read_split
    from pronominal.eval.annotation import export as exporting
    from pronominal.eval.annotation.sheets import Format

    if form not in [*Format]:
        raise InputError(f"there is no format '{form}'", cure="give csv or jsonl")
    request = exporting.Request(task, annotators, sample, seed, Format(form))
    key = exporting.export(read_split(dataset, config, split), request, out)
    print(f"{len(key.items):,} items about {len(key.rows):,} rows, for {annotators} annotators")
    print(f"{out / exporting.FOR_ANNOTATORS}: give this folder away, and nothing else; its")
    print("sentences must not reach a public place or a model: see its README")


@annotate.command("import")
def import_sheets(
    folder: Export,
    sheets: Annotated[
        list[str],
        typer.Argument(metavar="SHEET...", help="FILE or NAME=FILE, one for each annotator."),
    ],
    annotators: Annotated[
        int | None,
        typer.Option(min=1, help="How many there are.", show_default="as the export says"),
    ] = None,
    alike: Annotated[
        bool, typer.Option("--alike", help="Two annotators may have answered alike in all items.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace answers that were imported before.")
    ] = False,
) -> None:
    """Check the sheets that came back and keep their answers, without text, in the folder."""
    from pronominal.eval.annotation.answers import ANSWERS, import_answers

    answers = import_answers(folder, sheets, annotators, alike=alike, replace=replace)
    names = ", ".join(answers.annotators)
    print(f"{folder / ANSWERS}: {len(answers.given):,} items, answered by {names}")


@annotate.command("agreement")
def agreement(folder: Export, as_json: Json = False) -> None:
    """Say how far annotators agree: Fleiss' kappa, percent agreement, and each with the others."""
    from pronominal.eval.annotation import agreement as agreeing
    from pronominal.eval.annotation.answers import read_answers

    found = agreeing.agreement(read_answers(folder))
    if as_json:
        print(json.dumps(found, indent=2))
        return
    table = Table("annotator", *found["answers"], "with the majority", box=None)
    for name, one in [("all", found), *found["by_annotator"].items()]:
        counts = [f"{one['answers'].get(answer, 0):,}" for answer in found["answers"]]
        table.add_row(name, *counts, _share(one, "with_majority"))
    Console().print(table)
    kappa = found["fleiss_kappa"]
    print(f"Fleiss' kappa        {'undefined' if kappa is None else f'{kappa:.3f}'}")
    print(f"percent agreement    {_share(found, 'percent_agreement')}")
    print(f"all alike            {_share(found, 'unanimous')}")
    print(f"[ ]: 95% interval over {found['questions']:,} questions.")
    print(f"No interval for Fleiss' kappa: {found['interval_missing']['fleiss_kappa']}.")


@annotate.command("keep")
def keep(
    folder: Export,
    dataset: DatasetPlace,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder in which the dataset's folder is made.")
    ],
    name: Annotated[str, typer.Option(help="Name of the new dataset.")] = "annotated",
    split: Annotated[str, typer.Option(help="Name of its split.")] = "test",
    votes: Annotated[
        int, typer.Option(min=1, help="Annotators who must choose the same candidate.")
    ] = 5,
    as_json: Json = False,
) -> None:
    """Keep the rows on whose antecedent annotators agree, five of six as for KnowRef's test set.

    Writes them as a dataset with the annotators' labels, and a report with the reason for each
    row that went.
    """
    from pronominal.eval.annotation.annotated_dataset import write_annotated_dataset
    from pronominal.eval.annotation.answers import read_answers
    from pronominal.eval.annotation.strong_agreement import choose_rows

    answers = read_answers(folder)
    rows = answers.key.asked_rows(dataset)
    kept = choose_rows(answers, rows, votes)
    written = write_annotated_dataset(rows, kept, out, name, split)
    told = kept.describe()
    if as_json:
        print(json.dumps(told, indent=2))
        return
    print(f"{told['kept']:,} of {told['asked']:,} rows kept, {told['labels_changed']:,} relabelled")
    for reason, number in told["dropped"].items():
        print(f"{number:>7,} dropped: {reason}")
    print(written)


@annotate.command("baseline")
def baseline(
    folder: Export,
    dataset: DatasetPlace,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of runs.")] = Path("runs"),
    annotator: Annotated[
        str | None, typer.Option(help="One annotator.", show_default="the majority")
    ] = None,
    label: Annotated[str, typer.Option(help="How tables call the run.")] = "human",
    beside: Annotated[
        Path | None,
        typer.Option(help="Runs of systems, to be cut to the same rows and shown beside."),
    ] = None,
    task: TaskPlace = None,
    as_json: Json = False,
) -> None:
    """Write what people answered as a run, which tables show beside those of systems."""
    from pronominal.eval.annotation.answers import read_answers
    from pronominal.eval.annotation.human_baseline import human_baseline
    from pronominal.eval.scores import as_task, task_of

    answers = read_answers(folder)
    rows = answers.key.asked_rows(dataset)
    scoring = task_of(rows.dataset_name, as_task(task))
    scores = human_baseline(
        answers, rows, out, annotator=annotator, label=label, beside=beside, task=scoring
    )
    if as_json:
        print(json.dumps({label: one.content for label, one in scores.items()}, indent=2))
        return
    print_tables(scoring.comparison_tables(scores))


def _share(block: Mapping[str, Any], name: str) -> str:
    ends = block.get("interval", {}).get(name)
    return "-" if ends is None else f"{block[name]:.1%} [{ends[0]:.1%}, {ends[1]:.1%}]"

"""Arguments and options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

DATASET_HELP = "A built dataset's folder, or its id on the Hub."
DatasetPlace = Annotated[str, typer.Option("--dataset", "-d", help=DATASET_HELP)]
Config = Annotated[
    str | None, typer.Option("--config", "-c", help="A config; the dataset's default without it.")
]
SplitName = Annotated[str, typer.Option(help="A split, or several: seed_13+seed_17+seed_19.")]
Limit = Annotated[
    int | None, typer.Option("--limit", "-m", help="No more than the first so many rows.")
]
Out = Annotated[
    Path, typer.Option("--out", "-o", help="Folder of runs, made when it does not exist.")
]
READINGS = (
    "How clusters become a decision: offsets, upstream (the authors' rule) or "
    "upstream-spanbert (their rule for SpanBERT, which repeats the previous row's answer where "
    "the pronoun is in no cluster)."
)
ReadingName = Annotated[str, typer.Option(help=READINGS)]
TaskPlace = Annotated[str | None, typer.Option(help="A task of your own, as MODULE:ATTRIBUTE.")]
TaskPlaces = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        help="A task of your own by which runs were scored, as MODULE:ATTRIBUTE; once a task.",
    ),
]
Checkpoint = Annotated[str | None, typer.Option(help="Folder or Hub id of the weights.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="KEY=VALUE, a setting of every system here that has it."),
]
SwitchAtTest = Annotated[
    bool,
    typer.Option(
        "--switch-at-test",
        help="Answer each row with its candidates switched, too, and decide by both answers.",
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Print all tables after the first one.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first row that a system cannot answer.")
]
SystemNames = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        "-s",
        help="NAME, NAME=CHECKPOINT or MODULE:ATTRIBUTE, with LABEL= before it if you like; "
        "give it once a system.",
    ),
]
SystemsFile = Annotated[
    Path | None,
    typer.Option(
        "--systems",
        help="TOML file: one table a system, with its settings; or a paper's, as ruff-paper.",
    ),
]


def _as_share(points: float | None) -> float | None:
    from pronominal.eval.runs.experiments import as_share

    return None if points is None else as_share(points)


Margin = Annotated[
    float | None,
    typer.Option(
        callback=_as_share,
        help="Ask of every two systems whether they are equivalent: closer than so many points.",
    ),
]

Until = Annotated[
    float | None,
    typer.Option(
        metavar="POINTS",
        help="Ask rows as they are drawn at random, until the accuracy over all rows is known "
        "to ± so many points.",
    ),
]

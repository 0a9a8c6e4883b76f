"""Arguments and options that several commands take."""

from pathlib import Path
from typing import Annotated

import typer

DatasetPlace = Annotated[str, typer.Option(help="A built dataset's folder, or its id on the Hub.")]
Config = Annotated[str | None, typer.Option(help="A config; the dataset's default without it.")]
SplitName = Annotated[str, typer.Option(help="A split, or several: seed_13+seed_17+seed_19.")]
Out = Annotated[Path, typer.Option(help="Folder of runs, made when it does not exist.")]
ReadingName = Annotated[
    str,
    typer.Option(
        help="How clusters become a decision: offsets, upstream (the authors' rule) or "
        "upstream-spanbert (their rule for SpanBERT, which repeats the previous row's answer where "
        "the pronoun is in no cluster)."
    ),
]
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
    list[str] | None, typer.Option("--set", help="KEY=VALUE, a setting of the system's own.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first row that a system cannot answer.")
]

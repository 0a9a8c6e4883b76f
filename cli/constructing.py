"""``pronominal construct``."""

import json
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.progress import progress_bar
from pronominal.dataset_scripts.construction import METHOD
from pronominal.errors import InputError

construct = typer.Typer(
    help="Construct a new corpus from text by a published method.", no_args_is_help=True
)


RuleChoice = StrEnum("RuleChoice", {"PAPER": "paper", "RELEASED": "released"})
Change = StrEnum("Change", {"OTHER": "other", "ANSWER": "answer", "BOTH": "both"})
LabelChoice = StrEnum("LabelChoice", {"GENDER": "gender", "NONE": "none"})
ListChoice = StrEnum("ListChoice", {"PLACES": "places", "TEXTS": "texts"})
Engine = StrEnum("Engine", {"LOCAL": "local", "RAY": "ray"})


@construct.command(METHOD)
def corpus(
    inputs: Annotated[
        list[Path],
        typer.Option(
            "--input",
            help="File or folder, given once each: text, JSONL, MediaWiki or OPUS XML, SRT; "
            "packed by gzip, bzip2, xz or Zstandard or not.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder in which the dataset's folder is made.")
    ],
    name: Annotated[str, typer.Option(help="Name of the new dataset.")] = "constructed",
    split: Annotated[str, typer.Option(help="Name of its split.")] = "train",
    licence: Annotated[
        str | None,
        typer.Option(help="Licence of the text, as the Hub names it; without it, no publishing."),
    ] = None,
    field: Annotated[str, typer.Option(help="Field of JSONL objects with the text.")] = "text",
    rules: Annotated[
        RuleChoice, typer.Option(help="The paper's rules, or the released code's.")
    ] = RuleChoice.PAPER,
    pipeline: Annotated[
        str | None,
        typer.Option(help="spaCy pipeline for noun phrases.", show_default="en_core_web_sm"),
    ] = None,
    proper_names_only: Annotated[
        bool, typer.Option("--proper-names-only", help="Find names by a list, without a model.")
    ] = False,
    names: Annotated[
        Path | None, typer.Option(help="CSV with name,gender instead of gender-guesser's list.")
    ] = None,
    guess_genders: Annotated[
        bool,
        typer.Option(
            "--guess-genders", help="Take gender-guesser's answer for names that both genders have."
        ),
    ] = False,
    labels: Annotated[
        LabelChoice, typer.Option(help="Labels by the gender giveaway, or none, for annotators.")
    ] = LabelChoice.GENDER,
    change: Annotated[
        Change | None, typer.Option(help="Which name is replaced.", show_default="by the rules")
    ] = None,
    most_clusters: Annotated[
        int | None,
        typer.Option(min=1, help="Connective clusters in a sentence, at most.", show_default="2"),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes, or tasks of Ray.")] = 1,
    engine: Annotated[Engine, typer.Option(help="This machine, or a Ray cluster.")] = Engine.LOCAL,
    report: Annotated[Path | None, typer.Option(help="Write the report as JSON.")] = None,
    list_rejected: Annotated[
        ListChoice | None,
        typer.Option(
            help="List file, document, sentence, stage and reason of each rejected sentence in "
            "OUT/NAME.rejected.jsonl; 'texts' adds the sentence itself."
        ),
    ] = None,
) -> None:
    """Construct a corpus as KnowRef was: two people, one pronoun, no gender giveaway.

    A run that was killed goes on with the same command. The report says how many sentences each
    stage kept and why the others went.
    """
    from pronominal.atomic import new_file
    from pronominal.dataset_scripts.construction import engine as local_engine
    from pronominal.dataset_scripts.construction import ray_engine
    from pronominal.dataset_scripts.construction.constructed_dataset import (
        Description,
        construct_dataset,
        list_of,
    )
    from pronominal.dataset_scripts.construction.engine import Construction
    from pronominal.dataset_scripts.construction.rules import RULES

    if pipeline and proper_names_only:
        raise InputError("--proper-names-only reads no pipeline", cure="leave one of them out")
    chosen = replace(RULES[rules.value], labels=labels.value, guess_genders=guess_genders)
    if pipeline or proper_names_only:
        chosen = replace(chosen, pipeline=pipeline)
    if change is not None:
        chosen = replace(chosen, replacement=replace(chosen.replacement, change=change.value))
    if most_clusters is not None:
        chosen = chosen.with_most_clusters(most_clusters)
    with progress_bar("shards", 0) as progress:
        told = construct_dataset(
            Construction(
                tuple(inputs),
                chosen,
                field,
                names,
                list_rejected=list_rejected.value if list_rejected else None,
            ),
            Description(name, split, licence),
            out,
            workers=workers,
            run=ray_engine.run if engine is Engine.RAY else local_engine.run,
            progress=progress,
        )
    if report is not None:
        with new_file(report) as temporary:
            temporary.write_text(
                json.dumps(told.describe(), indent=2), encoding="utf-8", newline="\n"
            )
    print("\n".join(told.lines()))
    print(out / name)
    if list_rejected is not None:
        print(list_of(out, name))


@construct.command("check")
def check(
    folder: Annotated[Path, typer.Argument(help="A constructed dataset's folder.")],
    names: Annotated[
        Path | None, typer.Option(help="The CSV of names that it was constructed with.")
    ] = None,
) -> None:
    """Check a constructed corpus; exit 1 and print one line for each violation."""
    from pronominal.dataset_scripts.construction.checks import violations
    from pronominal.dataset_scripts.construction.genders import load_names

    faults = list(violations(folder, load_names(names)))
    for violation in faults:
        print(violation)
    if faults:
        raise typer.Exit(1)
    print(f"{folder}: every check passed")

"""``pronominal switch`` and ``hydrate``."""

import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.progress import progress_bar
from pronominal.dataset_scripts import DATASETS


def switch(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="JSONL or Parquet with id, text, pronoun, candidates and label; mentions may be "
            "strings, or objects with text, start and end.",
        ),
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", help="File of the same format to write.")
    ],
    repair_case: Annotated[
        bool,
        typer.Option(
            "--repair-case",
            help="Take 'The doctor' and 'the doctor' for one name, and write each as its place "
            "in the sentence asks.",
        ),
    ] = False,
    skip_unswitchable: Annotated[
        bool,
        typer.Option(
            "--skip-unswitchable",
            help="Leave out rows whose candidates do not occur in the text, too, "
            "instead of refusing the file.",
        ),
    ] = False,
) -> None:
    """Let the two candidates of every row change places; the label flips.

    A row that is in order but cannot be switched (the same name twice, a candidate with the
    offsets -1) is left out and named on stderr. A malformed row refuses the whole file.
    """
    from pronominal.dataset_scripts.own_rows.switched_files import switch_file

    with progress_bar(f"switching {source.name}") as progress:
        switched = switch_file(
            source,
            target,
            repair_case=repair_case,
            skip_unswitchable=skip_unswitchable,
            progress=progress,
        )
    for place, reason in switched.left_out:
        print(f"pronominal: {place}: left out, {reason}", file=sys.stderr)
    print(f"{target}: {switched.rows:,} rows switched, {len(switched.left_out):,} left out")


def hydrate(
    texts: Annotated[
        Path,
        typer.Argument(
            help="JSONL with post_id, comment_id (null for the post itself) and text, body or "
            "selftext; or sentence_with_pronoun, a sentence in KnowRef's own form."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for 'build knowref --sources'.")],
    sources: Annotated[
        Path | None,
        typer.Option(help="Folder with KnowRef's released files; they are downloaded without it."),
    ] = None,
) -> None:
    """Fill in KnowRef's train and validation text from Reddit posts and comments that you hold.

    What the texts do not hold letter by letter stays missing and is listed with its reason. The
    result must not be published.
    """
    from pronominal.dataset_scripts.building.script import dataset_script
    from pronominal.dataset_scripts.building.sources import Sources

    (hydration_module,) = filter(None, (dataset_script(name).HYDRATION for name in DATASETS))
    module = import_module(hydration_module)
    with progress_bar(f"reading {texts.name}") as progress:
        hydration = module.hydrate(texts, Sources(sources), out, progress)
    filled = Counter(split for split, _ in hydration.filled)
    missing = Counter(split for split, _ in hydration.missing)
    for split in sorted({*filled, *missing}):
        print(f"{split:12} {filled[split]:>6,} rows filled in, {missing[split]:>6,} missing")
    print(f"{out / module.HYDRATED}: not to be published; missing.tsv lists the missing rows")

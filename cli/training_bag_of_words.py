"""``pronominal train bag-of-words``."""

from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.training import Dataset, SourceFolder, ValidationShare


def bag_of_words(
    data: Annotated[
        str, typer.Option(help="knowref, gap, or a JSONL or Parquet file of your own rows.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the checkpoint.")],
    dataset: Dataset = None,
    sources: SourceFolder = None,
    validation: Annotated[
        Path | None, typer.Option(help="Own rows to choose by; a share of --data without it.")
    ] = None,
    validation_share: ValidationShare = None,
) -> None:
    """Train the floor: logistic regression over the words around the mentions, names removed.

    OUT is a checkpoint for 'evaluate --system bag-of-words=OUT'.
    """
    from pronominal.eval.training.asked_rows import asked_rows
    from pronominal.eval.training.bag_of_words import train_bag_of_words

    rows = asked_rows(
        data,
        dataset=dataset,
        sources=sources,
        validation=validation,
        validation_share=validation_share,
    )
    facts = {"name": rows.name, **rows.digests}
    found = train_bag_of_words(rows.train, rows.validation, out, facts)
    counts, chosen = found["counts"], found["chosen"]
    print(
        f"{counts['train']:,} rows, {counts['words']:,} words, C = {chosen['strength']:g}, class "
        f"weight {chosen['class_weight'] or 'none'}: {100 * chosen['balanced_accuracy']:.1f} % "
        f"balanced accuracy on {counts['validation']:,} validation rows"
    )
    left_out = counts["train_left_out"] + counts["validation_left_out"]
    if left_out:
        print(f"{left_out:,} rows left out ({out / 'left-out.jsonl'})")
    print(out)

"""``pronominal train``."""

import json
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable

from pronominal.cli.loud_warnings import loud_warnings
from pronominal.cli.progress import progress_bar
from pronominal.cli.running import Json
from pronominal.errors import InputError

train = typer.Typer(
    help="Train a system, once for each seed; a training that was killed goes on.",
    no_args_is_help=True,
)


Dataset = Annotated[str | None, typer.Option(help="Folder of the built knowref or gap.")]
SourceFolder = Annotated[
    Path | None, typer.Option(help="Folder of upstream's files of knowref or gap.")
]
ValidationShare = Annotated[
    float | None,
    typer.Option(min=0.0, max=0.9, help="Share of your own data held out. [default: 0.1]"),
]
Test = Annotated[Path | None, typer.Option(help="Own rows to test on.")]
Switching = Annotated[
    bool, typer.Option("--switching", help="Learn every row with its candidates switched, too.")
]
Seeds = Annotated[int, typer.Option(min=1, help="Number of trainings.")]
FirstSeed = Annotated[int, typer.Option(min=0, max=2**31, help="Seed of the first one.")]


@train.command("bert")
def bert(
    encoder: Annotated[str, typer.Option(help="Folder or Hub id of a pretrained encoder.")],
    data: Annotated[
        str, typer.Option(help="knowref, gap, or a JSONL or Parquet file of your own rows.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the trained classifiers.")],
    dataset: Dataset = None,
    sources: SourceFolder = None,
    validation: Annotated[
        Path | None, typer.Option(help="Own rows to stop by; a share of --data without it.")
    ] = None,
    validation_share: ValidationShare = None,
    test: Test = None,
    switching: Switching = False,
    pair_batches: Annotated[
        bool, typer.Option("--pair-batches", help="Keep a row and its switched one in one batch.")
    ] = False,
    seeds: Seeds = 1,
    first_seed: FirstSeed = 1,
    scorer: Annotated[
        str,
        typer.Option(
            help="cls: one copy of the text for each candidate (KnowRef's); span: the mentions' "
            "own states, which costs half and learns sooner."
        ),
    ] = "cls",
    pooling: Annotated[str, typer.Option(help="With cls: cls, mean or substituted.")] = "cls",
    max_length: Annotated[int, typer.Option(min=8, help="Most subwords of a text.")] = 512,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Passes over the rows, switched ones included. [default: 3]"),
    ] = None,
    updates: Annotated[
        int | None, typer.Option(min=1, help="Steps of the optimiser instead of epochs.")
    ] = None,
    learning_rate: Annotated[
        float, typer.Option(min=0.0, help="The highest; small encoders learn better at 1e-4.")
    ] = 2e-5,
    warmup: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the updates in which it rises.")
    ] = 0.1,
    weight_decay: Annotated[float, typer.Option(min=0.0, help="Of AdamW.")] = 0.01,
    batch_size: Annotated[int, typer.Option(min=1, help="Instances in a batch.")] = 16,
    freeze_embeddings: Annotated[
        bool, typer.Option("--freeze-embeddings", help="Leave the encoder's embeddings alone.")
    ] = False,
    balanced_loss: Annotated[
        bool,
        typer.Option(
            "--balanced-loss", help="Weigh rows by how rare it is which mention is right."
        ),
    ] = False,
    consistency_penalty: Annotated[
        float, typer.Option(min=0.0, help="Weight of disagreement in a pair (--pair-batches).")
    ] = 0.0,
    placeholder_names: Annotated[
        bool, typer.Option("--placeholder-names", help="Read fixed names instead of the real ones.")
    ] = False,
    prior_correction: Annotated[
        bool,
        typer.Option(
            "--prior-correction", help="Take how often the first mention was right out of answers."
        ),
    ] = False,
    validate_every: Annotated[
        int | None, typer.Option(min=1, help="Updates between validations; an epoch without it.")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="Stop after so many validations without a gain.")
    ] = None,
    keep: Annotated[
        str, typer.Option(help="Weights to keep: best (by validation) or last.")
    ] = "best",
    save_every: Annotated[int, typer.Option(min=1, help="Updates between saved states.")] = 200,
    precision: Annotated[
        str, typer.Option(help="no (float32), bf16, fp16 (GPU) or auto.")
    ] = "auto",
) -> None:
    """Train a classifier of antecedents (KnowRef, section 3.3) and test it.

    --switching doubles the rows by antecedent switching. OUT/seed-N is a checkpoint for
    'run --system bert'; OUT/summary.json has mean and spread over the seeds.
    """
    require_training_packages()
    from pronominal.adapters.bert.settings import Classifier
    from pronominal.adapters.bert.training import Recipe
    from pronominal.eval.training.asked_rows import asked_rows
    from pronominal.eval.training.bert import train_bert
    from pronominal.eval.training.bert_settings import BertTraining

    asked = BertTraining(
        encoder=encoder,
        classifier=Classifier(
            scorer=scorer,  # type: ignore[arg-type]
            pooling=pooling,  # type: ignore[arg-type]
            max_length=max_length,
            placeholder_names=placeholder_names,
            prior_correction=prior_correction,
        ),
        recipe=Recipe(
            learning_rate=learning_rate,
            warmup=warmup,
            weight_decay=weight_decay,
            batch_size=batch_size,
            freeze_embeddings=freeze_embeddings,
            balanced_loss=balanced_loss,
            consistency_penalty=consistency_penalty,
        ),
        switching=switching,
        pair_batches=pair_batches,
        epochs=asked_epochs(epochs, updates, 3),
        updates=updates,
        validate_every=validate_every,
        patience=patience,
        keep=keep,  # type: ignore[arg-type]
        save_every=save_every,
        precision=precision,
    )
    rows = asked_rows(
        data,
        dataset=dataset,
        sources=sources,
        validation=validation,
        validation_share=validation_share,
        test=test,
    )
    with loud_warnings():
        summary = train_bert(rows, asked, range(first_seed, first_seed + seeds), out, progress_bar)
    if summary:
        _print(summary, out)


@train.command("compare")
def compare(
    first: Annotated[Path, typer.Argument(help="The --out folder of a training.")],
    second: Annotated[Path, typer.Argument(help="That of another one.")],
    dataset: Annotated[
        str | None, typer.Option(help="Folder of the built knowref or gap of their tests.")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Own rows that they were tested on.")] = None,
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
) -> None:
    """Say how much two trainings differ, seeds and test rows both taken as chance."""
    from pronominal.eval.training.asked_rows import asked_tests
    from pronominal.eval.training.comparison import compare_trainings, comparison_table

    compared = compare_trainings(*asked_tests(dataset, test), first, second)
    if as_json:
        print(json.dumps({measure: asdict(one) for measure, one in compared.items()}, indent=2))
        return
    table = comparison_table(compared, (first.name, second.name))
    if markdown:
        print(table.to_markdown())
    else:
        Console().print(table.to_rich())


def require_training_packages(*others: str) -> None:
    """Refuse to begin what could not be finished: curves, for one, are drawn at the end.

    Args:
        others: packages that the system needs beside those of every training.

    Raises:
        InputError: a package of the extra ``train`` is missing.
    """
    for name in ("torch", "transformers", "safetensors", "accelerate", "matplotlib", *others):
        if find_spec(name) is None:
            raise InputError(
                f"training needs the package {name}", cure='pip install "pronominal[train]"'
            )


def asked_epochs(epochs: int | None, updates: int | None, default: int) -> int:
    """Return how many passes a training makes where no number of updates is given.

    Raises:
        InputError: both are given.
    """
    if epochs is not None and updates is not None:
        raise InputError(
            f"--epochs {epochs} and --updates {updates} both say how long a training lasts",
            cure="give one of them",
        )
    return default if epochs is None else epochs


def _print(summary: dict[str, Any], out: Path) -> None:
    from pronominal.eval.tables.table import percent

    counts = summary["counts"]
    print(
        f"{counts['train_instances']:,} instances from {counts['train_rows']:,} rows, stopped by "
        f"{counts['validation_instances']:,} of {counts['validation_rows']:,} rows; "
        f"{counts['left_out']:,} left out ({out / 'left-out.jsonl'})"
    )
    table = RichTable("rows", "figure", "mean", "sd", box=None)
    blocks = {"validation": summary["validation"], **summary["scores"].get("as_given", {})}
    for part, block in blocks.items():
        count = block.get("n", block.get("pairs"))
        name = f"{part} ({count['mean']:,.0f})" if count else part
        for figure, spread in block.items():
            if figure not in ("n", "pairs"):
                mean, sd = percent(spread["mean"]), percent(spread["sd"])
                table.add_row(name, figure.replace("_", " "), mean, sd)
    Console().print(table)

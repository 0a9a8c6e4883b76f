"""``pronominal train e2e`` and ``pronominal train c2f``."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table as RichTable

from pronominal.cli.loud_warnings import loud_warnings
from pronominal.cli.progress import progress_bar
from pronominal.cli.training import (
    Dataset,
    FirstSeed,
    Seeds,
    SourceFolder,
    Switching,
    Test,
    ValidationShare,
    asked_epochs,
    require_training_packages,
)
from pronominal.errors import InputError

if TYPE_CHECKING:
    from pronominal.eval.training.coreference_settings import CoreferenceTraining

PACKAGES = ("spacy", "scipy", "tokenizers", "crc32c", "h5py")
"""What they need beside the packages of every training."""

Data = Annotated[
    list[str],
    typer.Option(
        help="knowref, gap, or a JSONL or Parquet file of your own rows; conll:PATH or "
        "jsonlines:PATH for documents with gold clusters. Several are one shuffled set."
    ),
]
Out = Annotated[Path, typer.Option(help="Folder for the trained systems.")]
ValidationData = Annotated[
    list[str] | None, typer.Option(help="Own rows, conll:PATH or jsonlines:PATH to stop by.")
]
Checkpoint = Annotated[str | None, typer.Option(help="A system to train on.")]
SizeName = Annotated[
    str | None,
    typer.Option(
        help="published: upstream's sizes; small: for short texts and one CPU. [default: published]"
    ),
]
BatchSize = Annotated[int, typer.Option(min=1, help="Documents in a batch; upstream has one.")]
Epochs = Annotated[
    int | None,
    typer.Option(min=1, help="Passes over the data, switched rows included. [default: 20]"),
]
Updates = Annotated[int | None, typer.Option(min=1, help="Steps instead of epochs.")]
ValidateEvery = Annotated[
    int | None, typer.Option(min=1, help="Updates between validations; an epoch without it.")
]
Patience = Annotated[
    int | None, typer.Option(min=1, help="Stop after so many validations without a gain.")
]
Keep = Annotated[str, typer.Option(help="Weights to keep: best (by validation) or last.")]
SaveEvery = Annotated[int, typer.Option(min=1, help="Updates between saved states.")]


def e2e(
    data: Data,
    out: Out,
    dataset: Dataset = None,
    sources: SourceFolder = None,
    validation: ValidationData = None,
    validation_share: ValidationShare = None,
    test: Test = None,
    checkpoint: Checkpoint = None,
    size: SizeName = None,
    context_embeddings: Annotated[
        str | None, typer.Option(help="Text file of the embeddings that the LSTM reads.")
    ] = None,
    head_embeddings: Annotated[
        str | None, typer.Option(help="Text file of those that heads average; the same without.")
    ] = None,
    embeddings_of: Annotated[
        str | None,
        typer.Option(help="Instead of files: an encoder whose word pieces' vectors are reduced."),
    ] = None,
    embedding_size: Annotated[
        int | None,
        typer.Option(min=1, help="Numbers of a vector, with --embeddings-of. [default: 50]"),
    ] = None,
    elmo_weights: Annotated[
        str | None, typer.Option(help="ELMo's published weights; without, there is no ELMo.")
    ] = None,
    switching: Switching = False,
    seeds: Seeds = 1,
    first_seed: FirstSeed = 1,
    batch_size: BatchSize = 1,
    epochs: Epochs = None,
    updates: Updates = None,
    learning_rate: Annotated[float, typer.Option(min=0.0, help="Adam's, at first.")] = 1e-3,
    decay: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="What every 100 updates multiply it by.")
    ] = 0.999,
    validate_every: ValidateEvery = None,
    patience: Patience = None,
    keep: Keep = "best",
    save_every: SaveEvery = 200,
) -> None:
    """Train E2E (Lee et al., 2018) as KnowRef's section 4 does, and test it.

    --data knowref --data conll:PATH learns both; --switching doubles the rows by antecedent
    switching. OUT/seed-N is a checkpoint for 'run --system e2e'; OUT/summary.json has mean and
    spread over the seeds.
    """
    require_training_packages(*PACKAGES)
    from pronominal.adapters.c2f.learning.optimisers import E2ERates
    from pronominal.eval.training.coreference_settings import CoreferenceTraining, Embeddings

    asked = CoreferenceTraining(
        system="e2e",
        size=size or "published",  # type: ignore[arg-type]
        checkpoint=checkpoint,
        embeddings=Embeddings(
            context_embeddings, head_embeddings, embeddings_of, embedding_size or 50
        ),
        elmo_weights=elmo_weights,
        e2e_rates=E2ERates(learning_rate=learning_rate, decay=decay),
        switching=switching,
        batch_size=batch_size,
        epochs=asked_epochs(epochs, updates, 20),
        updates=updates,
        validate_every=validate_every,
        patience=patience,
        keep=keep,  # type: ignore[arg-type]
        save_every=save_every,
    )
    if embedding_size:
        _refuse_unless(embeddings_of, "--embedding-size", "--embeddings-of")
    if size:
        _refuse_unless(not checkpoint, "--size", "a training from the beginning")
    given = (data, dataset, sources, validation, validation_share, test)
    _train(asked, given, range(first_seed, first_seed + seeds), out)


def c2f(
    data: Data,
    out: Out,
    dataset: Dataset = None,
    sources: SourceFolder = None,
    validation: ValidationData = None,
    validation_share: ValidationShare = None,
    test: Test = None,
    checkpoint: Checkpoint = None,
    size: SizeName = None,
    encoder: Annotated[
        str | None, typer.Option(help="Folder or Hub id of a pretrained BERT or SpanBERT.")
    ] = None,
    recipe: Annotated[
        str, typer.Option(help="Whose optimisers: coref-hoi or tensorflow (mandarjoshi90).")
    ] = "coref-hoi",
    switching: Switching = False,
    seeds: Seeds = 1,
    first_seed: FirstSeed = 1,
    batch_size: BatchSize = 1,
    epochs: Epochs = None,
    updates: Updates = None,
    encoder_learning_rate: Annotated[
        float, typer.Option(min=0.0, help="The encoder's highest; SpanBERT large has 1e-5.")
    ] = 2e-5,
    task_learning_rate: Annotated[
        float, typer.Option(min=0.0, help="The head's highest; SpanBERT large has 3e-4.")
    ] = 1e-4,
    validate_every: ValidateEvery = None,
    patience: Patience = None,
    keep: Keep = "best",
    save_every: SaveEvery = 200,
) -> None:
    """Train BERT or SpanBERT with the coarse-to-fine head, and test it.

    --data knowref --data conll:PATH learns both; --switching doubles the rows by antecedent
    switching. OUT/seed-N is a checkpoint for 'run --system spanbert'; OUT/summary.json has mean
    and spread over the seeds.
    """
    require_training_packages(*PACKAGES)
    from pronominal.adapters.c2f.learning.optimisers import TransformerRates
    from pronominal.eval.training.coreference_settings import CoreferenceTraining

    asked = CoreferenceTraining(
        system="c2f",
        size=size or "published",  # type: ignore[arg-type]
        checkpoint=checkpoint,
        encoder=encoder,
        recipe=recipe,  # type: ignore[arg-type]
        transformer_rates=TransformerRates(encoder_learning_rate, task_learning_rate),
        switching=switching,
        batch_size=batch_size,
        epochs=asked_epochs(epochs, updates, 20),
        updates=updates,
        validate_every=validate_every,
        patience=patience,
        keep=keep,  # type: ignore[arg-type]
        save_every=save_every,
    )
    if size:
        _refuse_unless(not checkpoint, "--size", "a training from the beginning")
    given = (data, dataset, sources, validation, validation_share, test)
    _train(asked, given, range(first_seed, first_seed + seeds), out)


def _refuse_unless(there: object, option: str, what: str) -> None:
    """Refuse an option that was given without what it has an effect on."""
    if not there:
        raise InputError(f"{option} has no effect without {what}", cure="leave it out")


def _train(asked: "CoreferenceTraining", given: tuple[Any, ...], seeds: range, out: Path) -> None:
    from pronominal.eval.training.coreference import train_coreference
    from pronominal.eval.training.coreference_data import coreference_data

    names, dataset, sources, validation, share, test = given
    data = coreference_data(
        names,
        dataset=dataset,
        sources=sources,
        validation=validation or (),
        validation_share=share,
        test=test,
    )
    if asked.switching:
        _refuse_unless(data.rows, "--switching", "rows to switch")
    with loud_warnings():
        summary = train_coreference(data, asked, seeds, out, progress_bar)
    counts = summary["counts"]
    print(
        f"{counts['train_documents']:,} documents, {counts['left_out']:,} rows or versions left "
        f"out ({out / 'left-out.jsonl'})"
    )
    table = RichTable("measured on", "figure", "mean", "sd", box=None)
    blocks = {f"validation {name}": block for name, block in summary["validation"].items()}
    blocks |= {f"test {k}": block for k, block in summary["scores"].get("as_given", {}).items()}
    for name, block in blocks.items():
        for figure, spread in block.items():
            _add(table, name, figure.replace("_", " "), spread)
    Console().print(table)


def _add(table: RichTable, name: str, figure: str, spread: Mapping[str, Any]) -> None:
    from pronominal.eval.tables.table import percent

    if "mean" not in spread:  # recall, precision and F1 of one score
        figure, spread = f"{figure} F1", spread["f1"]
    if figure not in ("n", "pairs"):
        table.add_row(name, figure, percent(spread["mean"]), percent(spread["sd"]))

"""``pronominal train``."""

import inspect
import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.table import Table as RichTable

from pronominal.adapters.catalogue.trainable import FORMER_NAMES, TRAINABLE, training_settings
from pronominal.cli.arguments import Json, Markdown
from pronominal.cli.declared_options import settings_options, taking
from pronominal.cli.printing import print_tables
from pronominal.cli.progress import loud_warnings, progress_bar
from pronominal.errors import InputError
from pronominal.eval.training.data.request import DataRequest
from pronominal.settings import filled

if TYPE_CHECKING:
    from pronominal.eval.training.data.rows import TrainingData

R = TypeVar("R")

train = typer.Typer(
    help="Train a system, once for each seed; a training that was killed goes on.",
    no_args_is_help=True,
)

PACKAGES = ("torch", "transformers", "safetensors", "accelerate", "matplotlib")
"""What every training imports, at its end at the latest."""

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for what is trained.")]
Seeds = Annotated[int, typer.Option(min=1, help="Number of trainings.")]
FirstSeed = Annotated[int, typer.Option(min=0, max=2**31, help="Seed of the first one.")]


def add_command(
    group: typer.Typer,
    name: str,
    request: type[R],
    read: Callable[[R, Path], "TrainingData"],
    *,
    about: str = "",
    hidden: bool = False,
) -> None:
    """Add the command that trains a system, with its settings' docstring and options.

    `request` has the options that say what is learnt, and `read` reads that. `about` stands in the
    place of the docstring's first paragraph.
    """
    kind = training_settings(FORMER_NAMES.get(name, name))
    first, _, rest = (inspect.getdoc(kind) or "").partition("\n\n")

    @group.command(name, help=f"{about or first}\n\n{rest}", hidden=hidden)
    @taking(settings_options(request, kind))
    def command(out: Out, seeds: Seeds = 1, first_seed: FirstSeed = 1, **given: Any) -> None:
        require_packages(*PACKAGES, *kind.packages)
        from pronominal.eval.training.training import train_seeds

        asked = filled(kind, given)
        with loud_warnings():
            data = read(filled(request, given), out)
            numbers = range(first_seed, first_seed + seeds)
            summary = train_seeds(data, asked, numbers, out, progress_bar)
        if summary:
            _print(summary, out)


@train.command("bag-of-words")
@taking(one for one in settings_options(DataRequest) if one.name != "test")
def bag_of_words(out: Out, **given: Any) -> None:
    """Train the floor: logistic regression over the words around the mentions, names removed.

    OUT is a checkpoint for 'evaluate --system bag-of-words=OUT'.
    """
    from pronominal.eval.training.bag_of_words import train_bag_of_words
    from pronominal.eval.training.data.reading import read_data

    data = read_data(filled(DataRequest, given))
    data.refuse_documents()
    facts = {"name": data.name, **data.digests}
    trained = train_bag_of_words(data.rows, data.validation_rows, out, facts)
    counts, chosen = trained["counts"], trained["chosen"]
    print(
        f"{counts['train']:,} rows, {counts['words']:,} words, C = {chosen['strength']:g}, class "
        f"weight {chosen['class_weight'] or 'none'}: {100 * chosen['balanced_accuracy']:.1f} % "
        f"balanced accuracy on {counts['validation']:,} validation rows"
    )
    left_out = counts["train_left_out"] + counts["validation_left_out"]
    if left_out:
        print(f"{left_out:,} rows left out ({out / 'left-out.jsonl'})")
    print(out)


def _read(asked: DataRequest, out: Path) -> "TrainingData":
    from pronominal.eval.training.data.reading import read_data

    return read_data(asked)


for system in TRAINABLE:
    add_command(train, system, DataRequest, _read)
for former in FORMER_NAMES:
    add_command(train, former, DataRequest, _read, hidden=True)


@train.command("compare")
def compare(
    first: Annotated[Path, typer.Argument(help="The --out folder of a training.")],
    second: Annotated[Path, typer.Argument(help="That of another one.")],
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", help="Folder of the built knowref or gap of their tests."),
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Own rows that they were tested on.")] = None,
    as_json: Json = False,
    markdown: Markdown = False,
) -> None:
    """Say how much two trainings differ, seeds and test rows both taken as chance."""
    from pronominal.eval.training.data.reading import asked_tests
    from pronominal.eval.training.measures.comparison import compare_trainings, comparison_table

    compared = compare_trainings(*asked_tests(dataset, test), first, second)
    if as_json:
        print(json.dumps({name: one.to_json() for name, one in compared.items()}, indent=2))
        return
    print_tables([comparison_table(compared, (first.name, second.name))], markdown=markdown)


def require_packages(*names: str) -> None:
    """Refuse to begin what could not be finished: curves, for one, are drawn at the end.

    Raises:
        InputError: a package of the extra ``train`` is missing.
    """
    for name in names:
        if find_spec(name) is None:
            raise InputError(
                f"training needs the package {name}", cure='pip install "pronominal[train]"'
            )


def _print(summary: dict[str, Any], out: Path) -> None:
    from pronominal.eval.training.summary import counted, summary_notes, summary_rows

    print(f"{counted(summary['counts'])} ({out / 'left-out.jsonl'})")
    table = RichTable("measured on", "figure", "mean", "sd", box=None)
    rows = [*summary_rows(summary)]
    for row in rows:
        table.add_row(*row)
    Console().print(table)
    print("\n".join(summary_notes(rows)))

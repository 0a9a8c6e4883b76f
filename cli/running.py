"""``pronominal run``, ``merge``, ``reread``, ``score`` and ``evaluate``."""

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pronominal.cli.progress import loud_warnings, progress_bar
from pronominal.errors import InputError

if TYPE_CHECKING:
    from pronominal.eval.tables.table import Table

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
Checkpoint = Annotated[str | None, typer.Option(help="Folder or Hub id of the weights.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="KEY=VALUE, a setting of the system's own.")
]
SystemNames = Annotated[
    list[str] | None,
    typer.Option(
        "--system",
        help="NAME or NAME=CHECKPOINT, your own is MODULE:ATTRIBUTE or LABEL=MODULE:ATTRIBUTE; "
        "give it once a system.",
    ),
]
SystemsFile = Annotated[
    Path | None,
    typer.Option("--systems", help="TOML file: one table a system, with its settings."),
]


def _share(points: float | None) -> float | None:
    """Return a margin in percentage points as a share."""
    if points is not None and not 0 < points < 100:
        raise InputError(f"--margin {points:g} is no margin", cure="give points between 0 and 100")
    return None if points is None else points / 100


Margin = Annotated[
    float | None,
    typer.Option(
        callback=_share,
        help="Ask of every two systems whether they are equivalent: closer than so many points.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first row that a system cannot answer.")
]


def print_tables(tables: Iterable["Table"], *, markdown: bool = False, latex: bool = False) -> None:
    """Print tables as Markdown, for LaTeX, or as a terminal shows them."""
    for table in tables:
        if markdown or latex:
            print(table.to_markdown() if markdown else table.to_latex())
        else:
            Console().print(table.to_rich())


def run(
    dataset: DatasetPlace,
    system: Annotated[
        str, typer.Option(help="A system: see 'pronominal systems'; yours is MODULE:ATTRIBUTE.")
    ],
    config: Config = None,
    split: SplitName = "test",
    checkpoint: Checkpoint = None,
    settings: Settings = None,
    url: Annotated[str | None, typer.Option(help="Address of a local model server.")] = None,
    i_accept_contamination: Annotated[
        bool,
        typer.Option(help="Send evaluation text to a hosted API, whose owner may train on it."),
    ] = False,
    out: Out = Path("runs"),
    reading: ReadingName = "offsets",
    shard: Annotated[str, typer.Option(help="The part of the rows to predict, as 2/4.")] = "1/1",
    include_text: Annotated[
        bool, typer.Option(help="Keep prompts and generations: evaluation text on disk.")
    ] = False,
    strict: Strict = False,
) -> None:
    """Predict every row of a split; the same command goes on with a run that was stopped."""
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval.runs import asked_systems, runner
    from pronominal.eval.runs.shards import Shard

    part, given = Shard.parse(shard), asked_systems.parse_settings(settings or [])
    given |= {"url": url} if url is not None else {}
    given |= {"i_accept_contamination": True} if i_accept_contamination else {}
    (named,) = asked_systems.parse_systems([system])
    asked = replace(named, checkpoint=checkpoint or named.checkpoint, settings=given)
    asked_systems.refuse_unknown([asked])
    rows = load_split(dataset, config, split)
    with loud_warnings():
        loaded = asked.load()
        mine = len(part.rows(rows.num_rows, getattr(loaded, "chunk", runner.CHUNK)))
        with progress_bar(f"{system} on {rows.dataset_name}", mine) as progress:
            folder = runner.run(
                rows,
                loaded,
                asked,
                out,
                reading=reading,
                shard=part,
                include_text=include_text,
                strict=strict,
                progress=progress,
            )
    print(folder.path)
    _exit_with_failures({asked.label: len(folder.failures)})


def merge(
    shards: Annotated[list[Path], typer.Argument(help="The folders of all shards of a run.")],
    out: Annotated[Path | None, typer.Option(help="The folder to make; beside them else.")] = None,
) -> None:
    """Put the shards of a run together, to what the run in one piece would have written."""
    from pronominal.eval.runs import shards as parts

    print(parts.merge(shards, out))


def reread(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    out: Annotated[Path, typer.Argument(help="Predictions file to write.")],
    dataset: DatasetPlace,
    reading: ReadingName,
    config: Config = None,
    split: SplitName = "test",
) -> None:
    """Read a run's clusters in another way; 'pronominal score' scores the file."""
    from pronominal.dataset_scripts.reading.loading import read_split
    from pronominal.eval.runs import answers

    answers.reread(read_split(dataset, config, split), run, reading, out)
    print(out)


def score(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The dataset whose scores are wanted.")],
    dataset: DatasetPlace,
    predictions: Annotated[Path, typer.Option(help="A predictions file, or the folder of a run.")],
    config: Config = None,
    split: Annotated[
        str | None,
        typer.Option(help="A split; without it the run's own, or what the file answers."),
    ] = None,
    reading: Annotated[
        str | None,
        typer.Option(help="Read the predictions' clusters anew: see 'pronominal run --reading'."),
    ] = None,
    task: TaskPlace = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, an option of your own task.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Score predictions with the dataset's own metrics."""
    from pronominal.eval.evaluation import rows_to_score, score_predictions, task_options
    from pronominal.eval.runs.asked_systems import parse_settings
    from pronominal.eval.scores import task_of
    from pronominal.eval.tables.comparison import failed_rows
    from pronominal.eval.task import load_task

    # refuses a dataset without scores before anything is read
    scoring = task_of(name, None if task is None else load_task(task))
    rows = rows_to_score(scoring, dataset, config, split, predictions)
    if rows.dataset_name != name:
        cure = f"pronominal score {rows.dataset_name}"
        raise InputError(f"the folder holds {rows.dataset_name}", cure=cure, file=dataset)
    given = context.obj | parse_settings(settings or [])
    options, companions = task_options(scoring, rows, dataset, given, reading)
    scores = score_predictions(
        rows, predictions, options, reading, companions=companions, task=scoring
    )
    if as_json:
        print(json.dumps(scores.content, indent=2))
    else:
        print_tables(scoring.comparison_tables({_label(predictions): scores}))
    _exit_with_failures({_label(predictions): sum(failed_rows(scores).values())})


def evaluate(
    dataset: DatasetPlace,
    system: SystemNames = None,
    systems_file: SystemsFile = None,
    config: Config = None,
    split: SplitName = "test",
    out: Out = Path("runs"),
    reading: ReadingName = "offsets",
    task: TaskPlace = None,
    as_json: Json = False,
    markdown: Markdown = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
    strict: Strict = False,
    margin: Margin = None,
    plan_file: Annotated[
        Path | None,
        typer.Option("--plan", help="What was planned with 'pronominal plan': reported first."),
    ] = None,
) -> None:
    """Run and score several systems on one split and print the comparison.

    They also run over companion splits, whose answers some scores use: rows with switched
    candidates, for the consistency, or rows without context, for the reasons of errors.
    """
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval import evaluation
    from pronominal.eval.plan import read_plan
    from pronominal.eval.runs import asked_systems
    from pronominal.eval.scores import task_of
    from pronominal.eval.tables.comparison import failed_rows
    from pronominal.eval.task import load_task

    asked = asked_systems.parse_systems(system or [])
    if systems_file is not None:
        asked += asked_systems.read_systems(systems_file)
    plan = None if plan_file is None else read_plan(plan_file)
    if plan is not None:
        asked = plan.beside(asked)
        config, split = config or plan.dataset.config, plan.dataset.split
        reading = plan.reading if reading == "offsets" else reading
    if not asked:
        raise InputError("no system is given", cure="add --system NAME or --systems FILE")
    asked_systems.refuse_unknown(asked)
    own = None if task is None else load_task(task)
    rows = load_split(dataset, config, split)
    scoring = task_of(rows.dataset_name, own)
    with loud_warnings():
        scores = evaluation.evaluate_all(
            *(rows, asked, out, reading, progress_bar),
            task=scoring,
            strict=strict,
            plan=plan,
            margin=margin,
        )
    if as_json:
        print(json.dumps({label: one.content for label, one in scores.items()}, indent=2))
    else:
        print_tables(scoring.comparison_tables(scores), markdown=markdown, latex=latex)
    _exit_with_failures({label: sum(failed_rows(one).values()) for label, one in scores.items()})


def _exit_with_failures(failed: Mapping[str, int]) -> None:
    """Say which systems failed at rows, and exit with 1 if there are any."""
    for label, count in failed.items():
        if count:
            print(
                f"pronominal: {label} failed at {count:,} rows, which count as rows without an "
                "answer; failures.jsonl beside the predictions has ids and causes, and the same "
                "run asks for them again",
                file=sys.stderr,
            )
    if any(failed.values()):
        raise typer.Exit(1)


def _label(predictions: Path) -> str:
    """Call the predictions of a run after its folder, and any other file by its name."""
    if not predictions.is_dir() and predictions.name != "predictions.jsonl":
        return predictions.stem
    run = predictions if predictions.is_dir() else predictions.parent
    return run.resolve().name

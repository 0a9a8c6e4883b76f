"""``pronominal run``, ``merge``, ``score`` and ``evaluate``."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from pronominal.cli.loud_warnings import loud_warnings
from pronominal.cli.progress import progress_bar
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
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Stop at the first row that a system cannot answer.")
]


def run(
    dataset: DatasetPlace,
    system: Annotated[
        str, typer.Option(help="A system: see 'pronominal systems'; yours is MODULE:ATTRIBUTE.")
    ],
    config: Config = None,
    split: SplitName = "test",
    checkpoint: Annotated[str | None, typer.Option(help="Folder or Hub id of the weights.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, a setting of the system's own.")
    ] = None,
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


def score(
    name: Annotated[str, typer.Argument(help="The dataset whose scores are wanted.")],
    dataset: DatasetPlace,
    predictions: Annotated[Path, typer.Option(help="A predictions file, or the folder of a run.")],
    config: Config = None,
    split: Annotated[
        str | None, typer.Option(help="A split; 'test' without it, for ruff what the file answers.")
    ] = None,
    switched: Annotated[
        Path | None, typer.Option(help="Predictions of the same rows in the config 'switched'.")
    ] = None,
    context_free: Annotated[
        Path | None,
        typer.Option(help="RUFF: the same system's predictions of the config 'no_context'."),
    ] = None,
    generic: Annotated[
        Path | None,
        typer.Option(help="WinoNB: the same system's predictions of the config 'generic'."),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(help="Winogender's upstream files, to correlate with occupation statistics."),
    ] = None,
    upstream_groups: Annotated[
        bool, typer.Option(help="Count groups of one sentence too, as the upstream scorer does.")
    ] = False,
    reading: Annotated[
        str | None,
        typer.Option(help="Read the predictions' clusters anew: see 'pronominal run --reading'."),
    ] = None,
    allow_missing: Annotated[
        bool,
        typer.Option(help="GAP: score rows without a prediction as the official scorer does."),
    ] = False,
    resamples: Annotated[int | None, typer.Option(min=1, help="Bootstrap resamples.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the bootstrap.")] = None,
    as_json: Json = False,
) -> None:
    """Score predictions with the dataset's own metrics."""
    from pronominal.dataset_scripts.reading.loading import read_split
    from pronominal.eval import scorer
    from pronominal.eval.evaluation import rows_to_score, score_predictions
    from pronominal.eval.runs.failures import comparison_tables, failed_rows
    from pronominal.eval.runs.rereading import answers

    scorer(name)  # refuses a dataset without scores before anything is read
    rows = rows_to_score(name, dataset, config, split, predictions)
    if rows.dataset_name != name:
        cure = f"pronominal score {rows.dataset_name}"
        raise InputError(f"the folder holds {rows.dataset_name}", cure=cure, file=dataset)
    options: dict[str, object] = {"resamples": resamples, "seed": seed}
    options["upstream_groups"] = upstream_groups or None
    options["allow_missing"] = allow_missing or None
    if switched is not None:
        other = read_split(dataset, "switched", rows.name)
        options["switched"] = (other.table, answers(switched, other, reading))
    if context_free is not None:
        tasks = read_split(dataset, "no_context")
        options["context_free"] = (tasks.table, answers(context_free, tasks, reading))
    if generic is not None:
        someone = read_split(dataset, "generic", rows.name)
        options["generic"] = (someone.table, answers(generic, someone, reading))
    if sources is not None:
        from pronominal.dataset_scripts.building.sources import Sources
        from pronominal.eval.scores.winopron.occupations import read_occupations

        options["occupations"] = read_occupations(Sources(sources))
    scores = score_predictions(rows, predictions, options, reading)
    if as_json:
        print(json.dumps(scores, indent=2))
    else:
        _print(comparison_tables(name, {_label(predictions): scores}))
    _exit_with_failures({_label(predictions): sum(failed_rows(scores).values())})


def evaluate(
    dataset: DatasetPlace,
    system: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME or NAME=CHECKPOINT, your own is MODULE:ATTRIBUTE or LABEL=MODULE:ATTRIBUTE; "
            "give it once a system."
        ),
    ] = None,
    systems_file: Annotated[
        Path | None,
        typer.Option("--systems", help="TOML file: one table a system, with its settings."),
    ] = None,
    config: Config = None,
    split: SplitName = "test",
    out: Out = Path("runs"),
    reading: ReadingName = "offsets",
    as_json: Json = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False,
    strict: Strict = False,
) -> None:
    """Run and score several systems on one split and print the comparison.

    On KnowRef's config 'original' they also run over the switched rows, for their consistency; on
    RUFF's with distractors also over 'no_context', for the reasons of their errors; on WinoNB's
    'personal' also over 'generic', to compare names with someone.
    """
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval import evaluation
    from pronominal.eval.runs import asked_systems
    from pronominal.eval.runs.failures import comparison_tables, failed_rows

    asked = asked_systems.parse_systems(system or [])
    if systems_file is not None:
        asked += asked_systems.read_systems(systems_file)
    if not asked:
        raise InputError("no system is given", cure="add --system NAME or --systems FILE")
    asked_systems.refuse_unknown(asked)
    rows = load_split(dataset, config, split)
    with loud_warnings():
        scores = evaluation.evaluate_all(rows, asked, out, reading, progress_bar, strict=strict)
    if as_json:
        print(json.dumps(scores, indent=2))
    else:
        _print(comparison_tables(rows.dataset_name, scores), markdown=markdown, latex=latex)
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
    if predictions.is_dir():
        return predictions.resolve().name
    if predictions.name != "predictions.jsonl":
        return predictions.stem
    return predictions.resolve().parent.name


def _print(comparison: Sequence["Table"], *, markdown: bool = False, latex: bool = False) -> None:
    for table in comparison:
        if markdown or latex:
            print(table.to_markdown() if markdown else table.to_latex())
        else:
            Console().print(table.to_rich())

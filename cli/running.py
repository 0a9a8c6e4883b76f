"""``pronominal run``, ``merge`` and ``reread``: a system's answers to a split."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from pronominal.cli.arguments import (
    Checkpoint,
    Config,
    DatasetPlace,
    Limit,
    Out,
    ReadingName,
    Settings,
    SplitName,
    Strict,
    SwitchAtTest,
    Until,
)
from pronominal.cli.printing import exit_with_failures
from pronominal.cli.progress import loud_warnings, progress_bar

SystemPlace = Annotated[
    str,
    typer.Option(
        "--system", "-s", help="A system: see 'pronominal systems'; yours is MODULE:ATTRIBUTE."
    ),
]
Url = Annotated[str | None, typer.Option(help="Address of a local model server.")]
Contamination = Annotated[
    bool,
    typer.Option(
        "--i-accept-contamination",
        help="Send evaluation text to a hosted API, whose owner may train on it.",
    ),
]
ShardOf = Annotated[str, typer.Option(help="The part of the rows to predict, as 2/4.")]
IncludeText = Annotated[
    bool,
    typer.Option("--include-text", help="Keep prompts and generations: evaluation text on disk."),
]


def run(
    dataset: DatasetPlace,
    system: SystemPlace,
    config: Config = None,
    limit: Limit = None,
    split: SplitName = "test",
    checkpoint: Checkpoint = None,
    settings: Settings = None,
    url: Url = None,
    i_accept_contamination: Contamination = False,
    out: Out = Path("runs"),
    reading: ReadingName = "offsets",
    shard: ShardOf = "1/1",
    until: Until = None,
    include_text: IncludeText = False,
    switch_at_test: SwitchAtTest = False,
    strict: Strict = False,
) -> None:
    """Predict every row of a split; the same command goes on with a run that was stopped."""
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.errors import InputError
    from pronominal.eval.runs import asked_systems, runner
    from pronominal.eval.runs.shards import WHOLE, Shard
    from pronominal.eval.runs.until import Precision, run_until

    part, given = Shard.parse(shard), asked_systems.parse_settings(settings or [])
    given |= {"url": url} if url is not None else {}
    given |= {"i_accept_contamination": True} if i_accept_contamination else {}
    (named,) = asked_systems.parse_systems([system])
    asked = replace(
        named,
        checkpoint=checkpoint or named.checkpoint,
        settings=given,
        switch_at_test=switch_at_test,
    )
    asked_systems.refuse_unknown([asked])
    rows = load_split(dataset, config, split).limited(limit)
    precision = None if until is None else Precision.of(until, rows, reading)
    if precision is not None and part != WHOLE:
        raise InputError("a shard is of all rows", cure="leave out --until, or --shard")
    runner.refuse_undeclared(asked, rows)
    with loud_warnings():
        loaded = asked.load()
        chunk = getattr(loaded, "chunk", runner.CHUNK)
        mine = len(part.rows(rows.num_rows, chunk)) if precision is None else None
        with progress_bar(f"{system} on {rows.dataset_name}", mine) as progress:
            told: dict[str, Any] = {"reading": reading, "include_text": include_text}
            told |= {"strict": strict, "progress": progress}
            if precision is None:
                folder = runner.run(rows, loaded, asked, out, shard=part, **told)
            else:
                folder = run_until(precision, loaded, asked, out, **told)
    print(folder.path)
    exit_with_failures({asked.label: len(folder.failures)})


def merge(
    shards: Annotated[list[Path], typer.Argument(help="The folders of all shards of a run.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The folder to make; beside them else.")
    ] = None,
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

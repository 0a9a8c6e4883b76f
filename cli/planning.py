"""``pronominal plan``."""

from pathlib import Path
from typing import Annotated

import typer

from pronominal.cli.arguments import (
    Config,
    DatasetPlace,
    Margin,
    ReadingName,
    SplitName,
    SystemNames,
    SystemsFile,
    TaskPlace,
)
from pronominal.cli.printing import print_tables
from pronominal.errors import InputError


def plan(
    dataset: DatasetPlace,
    system: SystemNames = None,
    systems_file: SystemsFile = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(help="What to compare; once a measure. Without it the headline or the first."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Compare every other system with this one only, and not every two."),
    ] = None,
    margin: Margin = None,
    config: Config = None,
    split: SplitName = "test",
    reading: ReadingName = "offsets",
    task: TaskPlace = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path(
        "plan.json"
    ),
) -> None:
    """Write what will be compared, before there are numbers, and a digest of it.

    Systems, measures, pairs, correction and margin of equivalence are fixed; rows, task and the
    weights that lie in folders by their digests. 'pronominal evaluate --plan FILE' reports exactly
    that first, and marks everything else as exploratory. The table that is printed says what
    differences the plan can show.
    """
    from pronominal.dataset_scripts.reading.loading import load_split
    from pronominal.eval.evaluation import companion_splits, comparable_units
    from pronominal.eval.planning.plan import PlannedTask, make_plan
    from pronominal.eval.runs import asked_systems
    from pronominal.eval.scores import task_of
    from pronominal.eval.task import load_task

    asked = asked_systems.parse_systems(system or [])
    if systems_file is not None:
        asked += asked_systems.read_systems(systems_file)
    rows = load_split(dataset, config, split)
    scoring = task_of(rows.dataset_name, None if task is None else load_task(task))
    units = comparable_units(scoring, rows)
    if not units:
        cause = f"the task {scoring.name} says nothing of units to compare on these rows"
        raise InputError(cause, cure="give the task paired_units, or take another split")
    usual = scoring.headline if scoring.headline in units else next(iter(units))
    made = make_plan(
        rows,
        asked,
        units,
        measure or [usual],
        task=PlannedTask.of(scoring, companion_splits(scoring, rows)),
        reference=reference,
        margin=margin,
        reading=reading,
    )
    made.write(out)
    print_tables([made.to_table()])
    print(f"{out}: digest {made.digest}")
